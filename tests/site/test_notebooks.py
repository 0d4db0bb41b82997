"""The notebooks run from their first cell to their last, and print what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts/notebooks"
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


def test_there_are_four() -> None:
    titles = [nbformat.read(path, 4).cells[0].source.splitlines()[0] for path in NOTEBOOKS]
    assert titles == [
        "# RAPPOR in ten minutes",
        "# What goes together",
        "# Strings nobody listed",
        "# Many attributes",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_says(path: Path) -> None:
    """In a process of its own, which ends the kernel with it."""
    command = [sys.executable, SCRIPT, "--check", path.stem]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds_neither_a_path_of_ours_nor_an_error(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not re.search(r"/(?:tmp|home|root)/|Traceback", text)
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code":
            assert cell.execution_count
            assert not any("stderr" in str(output.get("name")) for output in cell.outputs)


def test_a_notebook_that_prints_something_else_is_noticed() -> None:
    loader = SourceFileLoader("notebooks", str(SCRIPT))
    spec = spec_from_loader("notebooks", loader)
    assert spec is not None
    script = module_from_spec(spec)
    loader.exec_module(script)
    one, other = nbformat.read(NOTEBOOKS[0], 4), nbformat.read(NOTEBOOKS[0], 4)
    assert script.printed(one) == script.printed(other)
    cell = next(cell for cell in other.cells if cell.cell_type == "code" and cell.outputs)
    cell.outputs[0].text += "!"
    assert script.printed(one) != script.printed(other)
