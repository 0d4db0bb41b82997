"""The JavaScript client in node: its own tests, and vectors that nobody has seen before."""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from material.node import JS, node

SPEC = JS.parent / "spec"
VECTORS = SPEC / "vectors" / "v1"


def passed(printed: bytes) -> tuple[int, int]:
    """Return the numbers of tests that passed and failed, of what `node --test` printed."""
    text = printed.decode()
    found = [re.search(rf"^# {name} (\d+)$", text, re.MULTILINE) for name in ("pass", "fail")]
    good, bad = (int(match[1]) if match else -1 for match in found)
    return good, bad


def test_every_vector_and_every_test_of_the_client() -> None:
    done = node("--test", "--test-reporter=tap", ".")
    good, bad = passed(done.stdout)
    assert done.returncode == 0, done.stdout.decode()[-3000:]
    assert bad == 0
    assert good > len(list(VECTORS.rglob("*.json")))


def fresh_vectors(folder: Path) -> int:
    """Write vectors from a seed that nobody chose, and return it."""
    seed = secrets.randbelow(2**32)
    command = [sys.executable, SPEC / "make_vectors.py", "--seed", str(seed), folder]
    subprocess.run(command, check=True, capture_output=True)
    return seed


def run_vectors(folder: Path) -> subprocess.CompletedProcess[bytes]:
    variables = {"DENIABLE_VECTORS": str(folder)}
    return node("--test", "--test-reporter=tap", "tests/vectors.test.js", environment=variables)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    print("seed", fresh_vectors(folder))
    return folder


def test_vectors_that_are_made_fresh(fresh: Path) -> None:
    usual = json.loads((VECTORS / "krr.json").read_bytes())
    assert json.loads((fresh / "krr.json").read_bytes())[0]["secret"] != usual[0]["secret"]
    done = run_vectors(fresh)
    assert done.returncode == 0, done.stdout.decode()[-3000:]
    assert passed(done.stdout)[0] > 300


@pytest.mark.parametrize("name", ["krr", "views", "prf"])
def test_a_wrong_vector_is_noticed(fresh: Path, tmp_path: Path, name: str) -> None:
    for path in fresh.rglob("*.json"):
        copy = tmp_path / path.relative_to(fresh)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
    cases = json.loads((tmp_path / f"{name}.json").read_bytes())
    case, member = (cases["draws"][0], "next_word") if name == "prf" else (cases[0], "record")
    case[member] = case[member][:-1] + ("1" if case[member][-1] == "0" else "0")
    (tmp_path / f"{name}.json").write_text(json.dumps(cases))
    done = run_vectors(tmp_path)
    assert done.returncode != 0
    assert passed(done.stdout)[1] == 1
