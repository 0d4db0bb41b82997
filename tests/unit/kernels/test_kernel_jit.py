"""The door to Numba: cached where it can be, working where it cannot."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import deniable
from deniable.errors import MissingExtra
from deniable.kernels import _jit

PACKAGE = Path(deniable.__file__).parent

PLAIN_NUMBA_REFUSES = """
import numba
from deniable.kernels import mixing
try:
    numba.njit(cache=True)(mixing.mix.py_func)
except RuntimeError:
    print("no place for a cache")
"""

COUNT = """
import numpy as np
from deniable.kernels.bit_counts import count_bits
records = np.frombuffer(bytes([0, 0, 3, 0, 0, 1]), dtype=[("cohort", "<u2"), ("bits", "u1", (1,))])
print(*(part.tolist() for part in count_bits(records, 1, 2)))
"""


def unwritable_copy(folder: Path) -> dict[str, str]:
    """Copy what the kernels need, and return an environment without any place for a cache.

    Permissions alone do not stop a superuser, so a file stands where the cache folder would be.
    """
    copy = folder / "deniable"
    for part in ("kernels", "protocol"):
        shutil.copytree(PACKAGE / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / part / "__pycache__").write_text("")
    for name in ("errors.py", "_validate.py"):
        shutil.copy(PACKAGE / name, copy / name)
    (copy / "__init__.py").write_text("")
    for place in (copy / "kernels", copy / "protocol", copy):
        place.chmod(0o555)
    nowhere = str(copy / "__init__.py" / "cache")
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA")}
    homes = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "LOCALAPPDATA": nowhere}
    return kept | homes | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def run(code: str, environment: dict[str, str], folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.strip()


def test_kernels_work_where_no_cache_can_be_written(tmp_path: Path) -> None:
    environment = unwritable_copy(tmp_path)
    assert run(PLAIN_NUMBA_REFUSES, environment, tmp_path) == "no place for a cache"
    assert run(COUNT, environment, tmp_path) == "[2] [[2, 1]]"


def test_a_kernel_is_cached_where_it_can_be(tmp_path: Path) -> None:
    environment = dict(os.environ) | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run(COUNT, environment, tmp_path)
    assert list((tmp_path / "cache").rglob("bit_counts._count*.nbc"))


def test_every_kernel_releases_the_lock_of_the_interpreter() -> None:
    compiled = [
        function
        for name in ("bit_counts", "generator", "hash_candidates", "local_hash", "mixing", "walsh")
        for function in vars(importlib.import_module(f"deniable.kernels.{name}")).values()
        if hasattr(function, "py_func")
    ]
    assert len(compiled) > 10
    assert all(function.targetoptions["nogil"] for function in compiled)


def test_without_numba_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtra, match=r"deniable\[analysis\]"):
        _jit.njit(len)
