"""Web pages for a real browser: a server of pages, and a stage between them and a collector.

The stage writes down every request, and can answer in the collector's place.
"""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from deniable.authoring import read_authored

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL = "No Chromium was found. Install it with: sudo apt-get install --yes chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
TYPES = {".js": "text/javascript", ".json": "application/json", ".html": "text/html"}
MANY = 300


def survey_bytes(folder: Path) -> bytes:
    """Return a published survey of many small questions and one of RAPPOR with 128 bits."""
    blocks = [
        f'[[questions]]\nid = "q{i:03}"\ndescription = "?"\nexpires = 2099-12-31\n'
        'domain = "boolean"\nmechanism = "krr"\nrepeat = "epoch"\nparameters = { epsilon = 1.0 }\n'
        for i in range(MANY)
    ]
    blocks.append(
        '[[questions]]\nid = "page"\ndescription = "?"\nexpires = 2099-12-31\n'
        'domain = "strings"\nmechanism = "rappor"\n'
        "parameters = { k = 128, h = 2, m = 16, f = 0.5, p = 0.5, q = 0.75 }\n"
    )
    (folder / "survey.toml").write_text('name = "t"\nowner = "t"\n' + "".join(blocks))
    survey = read_authored(folder / "survey.toml").survey
    assert survey is not None
    return survey.published()


def executable() -> str:
    """Return the path of a real browser."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail(INSTALL)
    return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a real browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        yield browser
        browser.close()


class Quiet(BaseHTTPRequestHandler):
    """A handler without a log."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on loopback; return the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Stage:
    """What happens between pages and collector.

    Attributes:
        mode: "pass" lets requests through, "down" hangs up, "401" and "503" answer so, "take"
            answers for the collector that it accepted everything.
        seen: headers and body of every request for reports of the present scene.
        scene: a number in the path of its requests: a page that an earlier test left may still
            send, and is none of the next test's business.
    """

    collector: str = ""
    mode: str = "pass"
    seen: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    scene: int = 0

    def begin(self) -> None:
        """Begin another scene: requests pass, and none has been seen."""
        self.mode, self.scene = "pass", self.scene + 1
        self.seen.clear()

    def handler(self) -> type[BaseHTTPRequestHandler]:
        stage = self

        class Between(Quiet):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                heads = {name.lower(): value for name, value in self.headers.items()}
                if stage.mode == "take":
                    taken = {"accepted": len(json.loads(body)["reports"]), "duplicates": 0}
                    heads = {"content-type": "application/json", "access-control-allow-origin": "*"}
                    self.answer(200, heads, json.dumps({**taken, "problems": []}).encode())
                    return
                if not self.path.startswith(f"/{stage.scene}/"):
                    self.answer(*stage.passed_on(heads, body))
                    return
                stage.seen.append((heads, body))
                if stage.mode == "down":
                    self.close_connection = True
                    return
                open_to_all = {"access-control-allow-origin": "*"}
                if stage.mode != "pass":
                    retry = {"retry-after": "3600", "access-control-expose-headers": "retry-after"}
                    self.answer(int(stage.mode), {**open_to_all, **retry}, b"<p>no</p>")
                    return
                self.answer(*stage.passed_on(heads, body))

        return Between

    def passed_on(self, heads: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        host = self.collector.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=20)
        try:
            connection.request("POST", "/v1/reports", body, {**heads, "host": host})
            answer = connection.getresponse()
            kept = ("content-type", "access-control-allow-origin", "retry-after")
            told = {n.lower(): v for n, v in answer.getheaders() if n.lower() in kept}
            return answer.status, told, answer.read()
        finally:
            connection.close()


@dataclass
class Site:
    """A web site: its address and the Content-Security-Policy of its pages."""

    survey: bytes
    policy: str = "default-src 'self'"
    pages: dict[str, str] = field(
        default_factory=lambda: {"/page": "<!doctype html><title>t</title>"}
    )

    def handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Pages(Quiet):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                if path in site.pages:
                    heads = {"content-type": "text/html", "content-security-policy": site.policy}
                    self.answer(200, heads, site.pages[path].encode())
                elif path == "/survey.json":
                    heads = {"content-type": "application/json", "etag": '"person-7"'}
                    self.answer(200, heads, site.survey)
                elif (ROOT / path[1:]).is_file() and ".." not in path:
                    kind = TYPES.get(Path(path).suffix, "text/plain")
                    self.answer(200, {"content-type": kind}, (ROOT / path[1:]).read_bytes())
                else:
                    self.answer(404, {}, b"")

        return Pages


@contextmanager
def collecting(
    folder: Path, survey: bytes, origins: list[str], more: Sequence[str] = ()
) -> Iterator[str]:
    """Run `deniable serve` in a process of its own; return its address."""
    (folder / "survey.json").write_bytes(survey)
    command = [sys.executable, "-m", "deniable", "serve", "--port", "0", "--json"]
    command += ["--survey", str(folder / "survey.json"), "--data", str(folder / "data")]
    command += [word for origin in origins for word in ("--origin", origin)]
    command += more
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["address"]
        finally:
            process.terminate()
            process.wait(timeout=20)
