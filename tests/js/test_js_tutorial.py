"""docs/web.md, "telemetry for a web page in ten minutes", followed as it stands.

Files and commands are read from the page and taken as they are; only the two ports are others, as
somebody may be using those.
"""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page

from material.web_pages import ROOT, chromium

GUIDE = (ROOT / "docs" / "web.md").read_text(encoding="utf-8")
PORTS = ("8000", "8080")
SECONDS = 60.0


def free_ports() -> list[str]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in PORTS]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [str(one.getsockname()[1]) for one in sockets]


class Reader:
    """Somebody who follows the steps, in a folder, and knows nothing else."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.ports = free_ports()
        steps = GUIDE.partition("in ten minutes\n")[2].partition("\n## ")[0]
        for port, own in zip(PORTS, self.ports, strict=True):
            steps = steps.replace(f":{port}", f":{own}").replace(f" {port} ", f" {own} ")
        self.steps = re.split(r"^\*\*\d\. ", steps, flags=re.MULTILINE)[1:]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.variables = {**os.environ, "PATH": path}

    def write_files(self, step: str) -> None:
        """Write each block to the file that was named last before it."""
        for before, kind, text in blocks(step):
            if kind in ("toml", "html", "js"):
                name = re.findall(r"`([\w/]+\.(?:toml|html|js))`", before)[-1]
                (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, step: str) -> str:
        """Run the commands of a step one after the other; return what they printed."""
        printed = ""
        for line in commands(step):
            done = subprocess.run(
                shlex.split(line),
                cwd=self.folder,
                env=self.variables,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            assert done.returncode == 0, (line, done.stderr)
            printed += done.stdout
        return printed

    def start(self, step: str) -> None:
        """Start each command in a terminal of its own, and wait until it listens."""
        for line, port in zip(commands(step), self.ports, strict=True):
            process = self.stack.enter_context(
                subprocess.Popen(
                    shlex.split(line),
                    cwd=self.folder,
                    env=self.variables,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            self.stack.callback(process.terminate)
            wait_for(int(port))


def blocks(step: str) -> Iterator[tuple[str, str, str]]:
    """Yield the text before each block, its language and what is in it."""
    parts = re.split(r"^```(\w*)\n(.*?)^```$", step, flags=re.MULTILINE | re.DOTALL)
    yield from zip(parts[::3], parts[1::3], parts[2::3], strict=False)


def commands(step: str) -> list[str]:
    return [line for _, kind, text in blocks(step) if kind == "sh" for line in text.splitlines()]


def wait_for(port: int) -> None:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail(f"Nothing listens on port {port}.")


def use(page: Page, address: str) -> None:
    """Step 5: say yes, and choose a theme; look at what the banner does meanwhile."""
    page.goto(address)
    page.wait_for_selector("#banner:visible")
    assert page.locator("#withdraw").is_hidden()
    page.click("text='Yes'")
    page.wait_for_selector("#withdraw:visible")
    assert page.locator("#banner").is_hidden()
    with page.expect_response("**/v1/reports", timeout=1_000 * SECONDS) as sent:
        page.click("text='Dark'")
    assert sent.value.json() == {"accepted": 1, "duplicates": 0, "problems": []}


def test_the_ten_minutes(tmp_path: Path) -> None:
    with ExitStack() as stack:
        reader = Reader(tmp_path, stack)
        ask, make, write, start, visit, estimate = reader.steps
        reader.write_files(ask)
        reader.run(make)
        reader.write_files(write)
        reader.start(start)
        (address,) = re.findall(r"<(http://\S+)>", visit)
        said: list[str] = []
        context = stack.enter_context(stack.enter_context(chromium()).new_context())
        page = context.new_page()
        page.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
        use(page, address)
        assert not [text for text in said if "favicon" not in text and "404" not in text]
        told = reader.run(estimate)
        assert re.search(r"\bdark\b", told)
        assert re.search(r"\b1 report\b", told)
        (dashboard,) = re.findall(r"<(http://\S+)>", estimate)
        page.goto(dashboard)
        assert "theme" in page.inner_text(".rows")
        page.goto(address)
        page.click("text='Stop, and forget'")
        page.wait_for_selector("#withdraw", state="hidden")
        page.reload()
        page.wait_for_load_state("networkidle")
        assert page.locator("#banner").is_hidden(), "nobody asks again after a no"
