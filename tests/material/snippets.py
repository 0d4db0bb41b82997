"""Somebody who follows a page: files are written, commands run, code executed, as they stand.

A block's first line says what it is: a language, and perhaps a name.

    ```toml survey.toml             a file; below examples/, an excerpt of the file there
    ```sh                           commands; a line that ends in & stays in the background
    ```python                       code; all code of a page shares its names
    ```text                         what the block before it prints; … stands for anything
    ```text shown                   something that this reader does not see
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 600.0
_BLOCK = re.compile(r"^```([^\s{]\S*)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PORTS = ("8000", "8080")
HIDDEN = ("DO_NOT_TRACK", "DENIABLE_CONSENT", "DENIABLE_DEBUG", "DENIABLE_DATA")


class Block(NamedTuple):
    """A block of a page."""

    language: str
    name: str
    text: str


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [Block(*found.groups(default="")) for found in _BLOCK.finditer(page)]


class Reader:
    """Follows a page in a folder, with ports of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.printed = folder, ""
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.ports = dict(zip(_PORTS, _free_ports(), strict=True))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if name not in HIDDEN}
        self.variables = {**kept, "PATH": path, "COLUMNS": "100"}
        self._sessions: list[subprocess.Popen[bytes]] = []

    def follow(self, page: str) -> int:
        """Do everything that a page says; return the number of its blocks."""
        found = blocks(page)
        for block in found:
            self.take(block)
        return len(found)

    def take(self, block: Block) -> None:
        """Write, run, or compare one block."""
        text = block.text
        for port, own in self.ports.items():
            text = re.sub(rf"(?<=[: ]){port}\b", own, text)
        if block.language == "text":
            if block.name != "shown":
                compare(text, self.printed)
        elif block.name.startswith("examples/"):
            whole = (ROOT / block.name).read_text("utf-8")
            assert textwrap.dedent(text) in textwrap.dedent(whole) or text in whole, text
        elif block.name:
            (self.folder / block.name).write_text(text, "utf-8")
        elif block.language == "sh":
            self._shell(text)
        elif block.language == "python":
            self._python(text)
        elif block.language not in ("none", "json"):
            raise AssertionError(f"A block of {block.language} that nobody follows: {text[:60]!r}")

    def close(self) -> None:
        """End what stayed in the background."""
        for session in self._sessions:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(session.pid, signal.SIGTERM)
        for session in self._sessions:
            session.wait(SECONDS)

    def _shell(self, text: str) -> None:
        for line in re.findall(r"^export (\w+)=(\S+)$", text, re.MULTILINE):
            self.variables[line[0]] = line[1]
        waits = text.rstrip().endswith("&")
        with (self.folder / ".printed").open("w+b") as output:
            session = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", text + ("\nwait" if waits else "")],
                cwd=self.folder,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            if waits:
                self._sessions.append(session)
                _wait_for(int(self.ports["8000"]), session)
                return
            code = session.wait(SECONDS)
            output.seek(0)
            self.printed = output.read().decode()
        assert code == 0, f"{text}\n{self.printed}"

    def _python(self, text: str) -> None:
        told = io.StringIO()
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(told):
                exec(compile(text, "page", "exec"), self.names)  # noqa: S102 - our own pages
        finally:
            os.chdir(before)
        self.printed = told.getvalue()


def compare(expected: str, printed: str) -> None:
    """Check that the lines of a block were printed, in their order; … stands for anything."""
    lines = [re.escape(" ".join(line.split())) for line in expected.strip().splitlines()]
    words = [line.replace(r"\ ", r"\s+").replace("…", ".*") for line in lines]
    pattern = r"[\s\S]*".join(words)
    assert re.search(pattern, printed), f"not printed:\n{expected}\nbut:\n{printed}"


def _free_ports() -> list[str]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in _PORTS]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [str(one.getsockname()[1]) for one in sockets]


def _wait_for(port: int, session: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        assert session.poll() is None, "it has ended"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError("nobody listens")
