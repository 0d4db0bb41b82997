"""The operator's handbook: each of its commands runs, in its order, in a folder of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deniable.collector.settings import ENV_PREFIX
from material.cluster import Cluster, programs
from material.handbook import PAGE, ROOT, blocks
from material.proxies import free_port
from material.tools import tool

CHAPTERS = (
    "First hour",
    "TLS",
    "Keys and rotation",
    "Several surveys",
    "Several collectors",
    "PostgreSQL",
    "Monitoring",
    "Backup and restore",
    "Upgrade",
    "Retention and deletion",
    "Sizing",
    "A disk is full",
    "A key leaks",
    "A clock jumps",
)
_SECONDS = 120


@dataclass
class Operator:
    """Somebody who types what the handbook says."""

    folder: Path
    changes: dict[str, str]
    environment: dict[str, str]
    serving: subprocess.Popen[bytes] | None = None
    said: list[str] = field(default_factory=list)

    def types(self, block: str) -> None:
        """Type a block: servers run on beside the lines that follow, all other lines must work."""
        for old, new in self.changes.items():
            block = block.replace(old, new)
        for part in re.split(r"(?m)^((?:deniable serve|kill -HUP PID).*\n)", block):
            if part.startswith("deniable serve"):
                self._serve(part.partition("#")[0].strip())
            elif part.startswith("kill -HUP PID"):
                assert self.serving is not None
                self.serving.send_signal(signal.SIGHUP)
            elif part.strip():
                self._run(part)
        assert self.serving is None or self.serving.poll() is None, self._log()

    def _run(self, script: str) -> None:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}\n{self._log()}"
        self.said.append(done.stdout)

    def _serve(self, command: str) -> None:
        self.rest()
        with (self.folder / "log").open("wb") as log:
            self.serving = subprocess.Popen(
                ["bash", "-c", f"exec {command}"],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self.serving.stdout is not None
        assert self.serving.stdout.readline().startswith(b"Collecting"), command + self._log()

    def _log(self) -> str:
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""

    def rest(self) -> None:
        """End the server, if there is one."""
        if self.serving is not None:
            self.serving.terminate()
            self.serving.communicate(timeout=30)
            self.serving = None


@pytest.fixture
def operator(tmp_path: Path, cluster: Cluster) -> Iterator[Operator]:
    port, second = free_port(), free_port()
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    path = [Path(sys.executable).parent, Path(tool("promtool")).parent, programs()]
    own = {k: v for k, v in os.environ.items() if not k.startswith((ENV_PREFIX, "PG"))}
    made = Operator(
        tmp_path,
        {
            "127.0.0.1:8000": f"127.0.0.1:{port}",
            "9464": str(second),
            "db.example.org": f"127.0.0.1:{cluster.port}",
            "?sslmode=verify-full": "",
        },
        {
            **own,
            "PATH": os.pathsep.join([*map(str, path), own["PATH"]]),
            "DENIABLE_PORT": str(port),
            "PGHOST": "127.0.0.1",
            "PGPORT": str(cluster.port),
            "PGUSER": "deniable",
        },
    )
    yield made
    made.rest()
    made._run("dropdb --if-exists telemetry; dropuser --if-exists collector")


def test_every_command_of_the_handbook_runs_postgres_included(operator: Operator) -> None:
    chapter = ""
    for name, block in blocks("sh"):
        if name != chapter:
            operator.rest()
            chapter = name
        operator.types(block)
    said = "".join(operator.said)
    for sign in (
        '"accepted": 1',
        '"question":"dark-mode","reason":"accepted","count":1',
        "SUCCESS",
    ):
        assert sign.replace(": ", ":") in said.replace(": ", ":"), sign
    assert "deniable_ready" in said


def test_the_handbook_has_its_chapters_and_every_command_stands_in_a_block() -> None:
    for chapter in CHAPTERS:
        assert re.search(rf"(?m)^## {chapter}$", PAGE), chapter
    assert not re.search(r"(?m)^    deniable ", PAGE)  # an indented block would not be run
    assert len(blocks("sh")) >= 15
    for link in re.findall(r"\]\(#([a-z-]+)\)", PAGE):
        heads = [re.sub("[^a-z -]", "", h.lower()).replace(" ", "-") for h in HEADINGS]
        assert link in heads, link


HEADINGS = re.findall(r"(?m)^##+ (.*)$", PAGE)
