"""The ledger, and the check at the end of a run that it is not exceeded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deniable.errors import InvalidParameter
from deniable.testing.ledger import LIMIT, Ledger

CONFTEST = Path(__file__).parents[2] / "conftest.py"


def test_entries_belong_to_the_test_that_began() -> None:
    ledger = Ledger()
    ledger.begin("one")
    ledger.add(1e-8)
    ledger.add(2e-8)
    ledger.begin("two")
    ledger.add(5e-8)
    assert ledger.risks == pytest.approx({"one": 3e-8, "two": 5e-8})
    assert ledger.total == pytest.approx(8e-8)


def test_the_limit_itself_is_allowed() -> None:
    ledger = Ledger()
    for _ in range(10):
        ledger.add(LIMIT / 10)
    assert not ledger.exceeded()
    ledger.add(1e-9)
    assert ledger.exceeded()


@pytest.mark.parametrize("risk", [-1e-9, 1.5, float("nan")])
def test_what_is_no_probability_is_refused(risk: float) -> None:
    with pytest.raises(InvalidParameter, match=r"in 0\.\.1"):
        Ledger().add(risk)


def run_pytest(folder: Path, alpha: float, *more: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(CONFTEST, folder / "conftest.py")
    for name in ("one", "two") if more else ("one",):
        (folder / f"test_{name}.py").write_text(
            "from deniable.testing.statistics import accept, mean\n"
            f"def test_risky():\n    accept(mean(0.0, 0.0, 1.0), {alpha})\n"
        )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder), *more]
    # A run of its own: nothing of the one that it is started from.
    ours = ("PYTEST", "DENIABLE_TEST")
    alone = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    alone["PYTHONPATH"] = str(CONFTEST.parent)  # for the material that the conftest imports
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env=alone
    )


def test_a_run_whose_alphas_are_too_large_fails(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, 1.1e-6)
    assert done.returncode == 1
    assert "1 passed" in done.stdout
    assert "FAILED: the sum of alphas is above the limit" in done.stdout
    assert "test_one.py::test_risky" in done.stdout


def test_a_run_within_the_limit_passes(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, 1e-7)
    assert done.returncode == 0
    assert "probability 1e-07" in done.stdout


@pytest.mark.parametrize(("alpha", "code"), [(4e-7, 0), (6e-7, 1)])
def test_several_processes_have_one_sum(alpha: float, code: int, tmp_path: Path) -> None:
    done = run_pytest(tmp_path, alpha, "-n", "2", "--dist", "loadfile")
    assert "2 passed" in done.stdout
    assert f"2 tests would fail by bad luck with probability {2 * alpha:.3g}" in done.stdout
    assert done.returncode == code
