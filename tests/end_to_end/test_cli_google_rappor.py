"""Reports as google/rappor's Python client writes them, decoded by our command line."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

K, H, M, P, Q, F = 32, 2, 8, 0.5, 0.75, 0.5
SHARES = {"apple": 0.5, "banana": 0.3, "cherry": 0.2}
ABSENT = [f"fruit{i}" for i in range(12)]
PEOPLE = 40_000


def run(*arguments: object, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "deniable", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def report(word: str, cohort: int, rng: random.Random) -> str:
    """Return an instantaneous response, most significant bit first."""
    digest = hashlib.md5(struct.pack(">L", cohort) + word.encode()).digest()  # noqa: S324
    held = {digest[i] % K for i in range(H)}
    bits = []
    for bit in range(K):
        permanent = rng.random() < 0.5 if rng.random() < F else bit in held
        bits.append("1" if rng.random() < (Q if permanent else P) else "0")
    return "".join(reversed(bits))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, rng = tmp_path_factory.mktemp("google"), random.Random(11)
    (path / "params.csv").write_text(f"k,h,m,p,q,f\n{K},{H},{M},{P},{Q},{F}\n")
    with (path / "reports.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["client", "cohort", "bloom", "prr", "irr"])
        for client in range(PEOPLE):
            (word,) = rng.choices(list(SHARES), weights=list(SHARES.values()))
            cohort = client % M
            writer.writerow([client, cohort, "", "", report(word, cohort, rng)])
    (path / "words.txt").write_text("\n".join([*SHARES, *ABSENT]))
    return path


def test_reports_become_counts_and_a_map_and_then_a_table(folder: Path) -> None:
    told = json.loads(run("import", folder, "--candidates", folder / "words.txt", "--json"))
    assert told == {"reports": PEOPLE, "cohorts": M, "candidates": 15}
    result = json.loads(run("estimate", "--google-rappor", folder, "--json"))
    assert result["n"] == PEOPLE
    assert (result["epsilon_once"], result["epsilon_forever"]) == (1.074286, 4.39445)
    rows = {row["value"]: row for row in result["rows"]}
    for word, share in SHARES.items():  # 7 standard errors: below 1e-11 under a fresh seed
        assert abs(rows[word]["frequency"] - share) < 7 * rows[word]["std_error"] + 0.02
        assert rows[word]["holm"]
        assert rows[word]["storey"]
    for word in ABSENT:
        assert abs(rows[word]["frequency"]) < 7 * rows[word]["std_error"]
    assert "apple" in run("estimate", "--google-rappor", folder)


def test_a_question_and_a_folder_exclude_each_other(folder: Path) -> None:
    both = run("estimate", "browser", "--google-rappor", folder, code=2)
    assert "either a question or a folder" in both


def test_a_damaged_file_is_named_with_its_line(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "params.csv").write_text((folder / "params.csv").read_text())
    (tmp_path / "reports.csv").write_text("client,cohort,bloom,prr,irr\n1,99,,,01\n")
    message = run("import", tmp_path, code=1)
    assert "reports.csv" in message
    assert "line 2" in message
