"""Node, which runs the JavaScript client without a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

JS = Path(__file__).parents[2] / "js"
INSTALL = "node was not found. Install it with: sudo apt-get install --yes nodejs"


def node(
    *arguments: str,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    seconds: float = 300,
) -> subprocess.CompletedProcess[bytes]:
    """Run node in the folder of the client, and return what it printed."""
    program = shutil.which("node")
    assert program is not None, INSTALL
    return subprocess.run(
        [program, *arguments],
        input=given,
        capture_output=True,
        cwd=JS,
        env={**os.environ, **(environment or {})},
        timeout=seconds,
        check=False,
    )
