"""Programs that only try the files in deploy/: unpacked by scripts/test, or of the system."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_TOOLS = Path(__file__).parents[2] / ".tools/usr"


def tool(name: str) -> str:
    """Return the path of a program."""
    places = [_TOOLS / "bin", _TOOLS / "sbin", "/usr/sbin", os.environ.get("PATH", os.defpath)]
    found = shutil.which(name, path=os.pathsep.join(map(str, places)))
    assert found, f"{name} is missing: run ./scripts/test once"
    return found
