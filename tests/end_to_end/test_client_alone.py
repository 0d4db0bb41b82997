"""The client in an environment where nothing but the standard library exists."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

import deniable
from deniable.authoring import resolve
from deniable.protocol import Boolean, Strings, Survey
from deniable.protocol.question import Field, Question

PACKAGE = Path(deniable.__file__).parent
CLIENT_PARTS = (
    *("__init__.py", "errors.py", "_validate.py", "_version.py", "py.typed"),
    *("protocol", "client"),
)

SCRIPT = r"""
import importlib.util, json, sys, sysconfig, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

bodies = []

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Type"] != "application/json":
            self.send_error(415)
            return
        bodies.append(json.loads(body))
        if len(bodies) == 1:
            self.send_error(503)
            return
        count = len(bodies[-1]["reports"])
        answer = json.dumps({"accepted": count, "duplicates": 0, "problems": []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()

from deniable import Client
from deniable.client import Consent

endpoint = f"http://127.0.0.1:{server.server_port}"
with Client(sys.argv[1], sys.argv[2], endpoint, consent=Consent.GRANTED) as client:
    client.record("flag", True)
    client.record("page", "https://example.org/")
    client.record("page", 7)
    for _ in range(5):
        if client.flush():
            break
    left = len(client.pending())
    disclosed = client.disclosed().epsilon
    counters = {f"{question}/{reason}": n for (question, reason), n in client.counters().items()}
server.shutdown()

standard = Path(sysconfig.get_path("stdlib")).resolve()
site = Path(sysconfig.get_path("purelib")).resolve()
foreign = []
for name, module in sorted(sys.modules.items()):
    top = name.partition(".")[0]
    file = getattr(module, "__file__", None)
    where = Path(file).resolve() if file else None
    if top == "deniable":
        inside = where is not None and where.is_relative_to(site)
    elif where is None:  # built in or frozen
        inside = top in sys.stdlib_module_names or top == "__main__"
    else:
        inside = name == "__main__" or (
            where.is_relative_to(standard) and "site-packages" not in where.parts
        )
    if not inside:
        foreign.append((name, str(where)))

print(json.dumps({
    "foreign": foreign,
    "deniable": sorted({n.split(".")[1] for n in sys.modules if n.startswith("deniable.")}),
    "importable": [name for name in ("numpy", "scipy", "pytest", "msgspec", "starlette")
                   if importlib.util.find_spec(name)],
    "sent": sorted({report["question"] for body in bodies[1:] for report in body["reports"]}),
    "left": left, "disclosed": disclosed, "counters": counters,
}))
"""


def survey() -> Survey:
    page = resolve("rappor", {"epsilon": 1.0, "epsilon_forever": 3.0}, Strings(), False)
    flag = resolve("krr", {"epsilon": 1.0}, Boolean(), False)
    return Survey(
        "alone",
        "owner",
        tuple(
            Question(name, 1, "", "owner", date(2099, 12, 31), 1, repeat, "recorded", (field,))
            for name, repeat, field in (
                ("flag", "once", Field("value", Boolean(), flag)),
                ("page", "epoch", Field("value", Strings(), page)),
            )
        ),
    )


def copy_parts(site: Path) -> None:
    (site / "deniable").mkdir()
    for name in CLIENT_PARTS:
        source = PACKAGE / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, site / "deniable" / name, ignore=ignore)
        else:
            shutil.copy(source, site / "deniable" / name)


def copy_all(site: Path) -> None:
    shutil.copytree(PACKAGE, site / "deniable", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.mark.parametrize("copy", [copy_parts, copy_all])
def test_the_client_needs_nothing_but_the_standard_library(tmp_path: Path, copy) -> None:
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python = next(home.glob("bin/python")) if sys.platform != "win32" else home / "Scripts/python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([python, "-I", "-c", ask], capture_output=True, text=True, check=True)
    site = Path(found.stdout.strip())
    assert site.is_relative_to(home)
    copy(site)
    (tmp_path / "survey.json").write_bytes(survey().published())
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [python, "-I", "script.py", "survey.json", "state"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["foreign"] == []
    assert said["importable"] == []
    assert set(said["deniable"]) == {"_validate", "_version", "client", "errors", "protocol"}
    assert said["sent"] == ["flag", "page"]
    assert said["left"] == 0
    assert 0 < said["disclosed"] <= 4.0
    assert said["counters"]["page/type"] == 1
    assert said["counters"]["flag/uploaded"] == said["counters"]["page/uploaded"] == 1
