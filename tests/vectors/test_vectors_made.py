"""The committed vectors are what the reference writes, and the reference stands alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from material.vectors import FOLDER, SPEC

PROGRAMS = sorted(SPEC.glob("*.py"))


def _check(spec: Path) -> subprocess.CompletedProcess[str]:
    # -S: without site-packages nothing but the standard library can be imported.
    command = [sys.executable, "-S", "-B", str(spec / "make_vectors.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_files_are_what_the_reference_writes() -> None:
    done = _check(SPEC)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["v1/prf", "v2/surveys"])
@pytest.mark.parametrize("defect", ["changed", "missing", "surplus"])
def test_the_check_sees_a_difference(tmp_path: Path, defect: str, name: str) -> None:
    for path in [*PROGRAMS, *FOLDER.parent.rglob("*.json")]:
        copy = tmp_path / path.relative_to(SPEC)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    file = tmp_path / "vectors" / f"{name}.json"
    if defect == "changed":
        file.write_text(file.read_text().replace("0", "1", 1))
    elif defect == "missing":
        file.unlink()
    else:
        file.with_name(f"{file.stem}2.json").write_text("{}")
    done = _check(tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("\n") == 1
    assert name in done.stdout


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_reference_imports_nothing_of_the_package(program: Path) -> None:
    own = {path.stem for path in PROGRAMS}
    for node in ast.walk(ast.parse(program.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for name in names:
            top = name.partition(".")[0]
            assert top in own or top in sys.stdlib_module_names, name
