"""The scripts: what `--quick` runs is there and documented, and lines of code are counted right."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def counter() -> ModuleType:
    loader = SourceFileLoader("code_lines", str(ROOT / "scripts/code_lines"))
    spec = spec_from_loader("code_lines", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("", 0),
        ("\n\n# only a comment\n", 0),
        ('"""A docstring\nof two lines."""\n', 0),
        ("import sys\nfrom os import (\n    path,\n)\n", 0),
        ("x = 1\n'''What x is,\nin two lines.'''\n", 1),
        ("x = [\n    1,\n\n    # why\n    2,\n]\n", 4),
        ("x = '''text\nof two lines'''\n", 2),
        ("def f():\n    '''Say.'''\n    import os\n    return os\n", 2),
        ("def f():\n    return 'a string that is used'\n", 2),
        ("f('''a call\nof text''')\n", 2),
    ],
)
def test_a_line_of_code_holds_a_statement_that_does_something(
    counter: ModuleType, source: str, lines: int
) -> None:
    assert counter.code_lines(source) == lines


def test_the_sum_is_that_of_the_folders(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one/a.py").write_text("x = 1\ny = 2\n")
    (tmp_path / "b.py").write_text("z = 3\n")
    command = [sys.executable, ROOT / "scripts/code_lines", tmp_path]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.split() == ["2", "one", "1", ".", "3", str(tmp_path)]


def test_a_missing_folder_is_said() -> None:
    command = [sys.executable, ROOT / "scripts/code_lines", "nowhere"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "There is no folder nowhere" in done.stderr


def test_every_folder_of_the_quick_tests_is_there() -> None:
    script = (ROOT / "scripts/test").read_text()
    (listed,) = re.findall(r"quick_tests=\((.*?)\)", script, re.DOTALL)
    folders = listed.split()
    assert len(folders) > 5
    for folder in folders:
        assert list((ROOT / folder).glob("test_*.py")), folder
    assert "--quick" in (ROOT / "CONTRIBUTING.md").read_text()
