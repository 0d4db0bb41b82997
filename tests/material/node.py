"""Node, which runs the JavaScript client without a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

JS = Path(__file__).parents[2] / "js"
INSTALL = "Install node and npm with: sudo apt-get install --yes nodejs npm"


def program(name: str) -> str:
    """Return the path of node or npm."""
    found = shutil.which(name)
    assert found is not None, f"{name} was not found. {INSTALL}"
    return found


def node(
    *arguments: str,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    seconds: float = 300,
) -> subprocess.CompletedProcess[bytes]:
    """Run node in the folder of the client, and return what it printed."""
    return subprocess.run(
        [program("node"), *arguments],
        input=given,
        capture_output=True,
        cwd=JS,
        env={**os.environ, **(environment or {})},
        timeout=seconds,
        check=False,
    )
