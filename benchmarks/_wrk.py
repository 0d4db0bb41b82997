"""Single reports over HTTP, driven by wrk from the other core: our collector and its limits.

Limits, each asked the same requests in the same run: nginx with `return 204`, and uvicorn with an
empty application, which looks at nothing and answers 200 with two bytes, or 204 with none.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SERVER_CORE, LOAD_CORE = "0", "1"
CONNECTIONS = 256
OURS = "collector, durable"
START_SECONDS, STOP_SECONDS = 60.0, 20.0

_SCRIPT = """
local head, tail = %s, %s
local headers = { ["Content-Type"] = "application/json"%s }
math.randomseed(os.time() + %d)
local random, format = math.random, string.format
function request()
  local id = format("%%08x%%08x%%08x%%08x", random(0, 4294967295), random(0, 4294967295),
    random(0, 4294967295), random(0, 4294967295))
  return wrk.format("POST", "/v1/reports", headers, head .. id .. tail)
end
function done(summary, latency, requests)
  io.write(format("answers %%d micros %%d p50 %%d p99 %%d bad %%d\\n", summary.requests,
    summary.duration, latency:percentile(50), latency:percentile(99),
    summary.errors.status + summary.errors.connect + summary.errors.read
      + summary.errors.write + summary.errors.timeout))
end
"""
_NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr crit;
events {{ worker_connections 2048; }}
http {{
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=1024; location / {{ return 204; }} }}
}}
"""
_EMPTY = """
import sys, uvicorn
START = {{"type": "http.response.start", "status": {status}, "headers": {headers}}}
BODY = {{"type": "http.response.body", "body": {body}}}
async def app(scope, receive, send):
    await send(START)
    await send(BODY)
uvicorn.run(app, port=int(sys.argv[1]), http="httptools", loop="uvloop", lifespan="off",
            ws="none", log_level="error", access_log=False)
"""


@dataclass(frozen=True)
class Served:
    """How a server did: answers per second, their times in milliseconds, and its processor time.

    `bad` counts connections that failed and answers of an error.
    """

    per_second: float
    p50: float
    p99: float
    micros: float
    bad: int


def missing() -> list[str]:
    """Return the programs that are not installed here."""
    return [name for name in ("wrk", "nginx", "taskset") if shutil.which(name) is None]


def pinned(*command: str, core: str = SERVER_CORE) -> list[str]:
    """Return a command that runs on one core only."""
    return ["taskset", "-c", core, *command]


def nginx(folder: Path) -> tuple[list[str], int]:
    """Return the command of a bare nginx, and its port."""
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(_NGINX.format(folder=folder, port=port))
    return pinned("nginx", "-c", str(config), "-p", str(folder)), port


def empty_uvicorn(folder: Path, *, body: bytes) -> tuple[list[str], int]:
    """Return the command of uvicorn with an application that does nothing, and its port."""
    port = free_port()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    answer = {"status": 200, "headers": headers} if body else {"status": 204, "headers": []}
    (folder / "empty.py").write_text(_EMPTY.format(**answer, body=body))
    return pinned(sys.executable, str(folder / "empty.py"), str(port)), port


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def running(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the end of the block; it is ended by its id."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            _wait_for(port, process)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"A server ended with {process.returncode} before it answered.")
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("A server does not answer.")


def load(
    folder: Path, process_id: int, port: int, template: bytes, seconds: float, *, keep: bool
) -> Served:
    """Send single reports with fresh ids for some seconds, and measure.

    Args:
        folder: for wrk's script.
        process_id: the server's, whose processor time is read.
        port: of the server on 127.0.0.1.
        template: a body with one report.
        seconds: of load, after a short time to warm up.
        keep: whether connections are kept; otherwise each request has one of its own.
    """
    head, _, rest = template.partition(b'"id":"')
    close = "" if keep else ', ["Connection"] = "close"'
    script = folder / "load.lua"
    seed = int.from_bytes(os.urandom(3))
    script.write_text(
        _SCRIPT % (_lua(head + b'"id":"'), _lua(rest[32:]), close, seed), encoding="ascii"
    )
    _wrk(script, port, 0.5 if seconds < 2 else 1.0)
    before = processor_seconds(process_id)
    answers, micros, p50, p99, bad = _wrk(script, port, seconds)
    spent = processor_seconds(process_id) - before
    return Served(
        answers * 1e6 / max(micros, 1),
        p50 / 1_000,
        p99 / 1_000,
        spent * 1e6 / max(answers, 1),
        bad,
    )


def _lua(text: bytes) -> str:
    return '"' + text.decode("ascii").replace("\\", "\\\\").replace('"', '\\"') + '"'


def _wrk(script: Path, port: int, seconds: float) -> tuple[int, int, int, int, int]:
    command = pinned(
        *("wrk", "-t1", f"-c{CONNECTIONS}", f"-d{max(1, round(seconds))}s", "--timeout", "10s"),
        *("-s", str(script), f"http://127.0.0.1:{port}/v1/reports"),
        core=LOAD_CORE,
    )
    done = subprocess.run(command, check=True, capture_output=True, timeout=seconds + 60)
    found = re.search(rb"answers (\d+) micros (\d+) p50 (\d+) p99 (\d+) bad (\d+)", done.stdout)
    if found is None:
        raise SystemExit(f"wrk said something else: {done.stdout!r:.400}")
    answers, micros, p50, p99, bad = map(int, found.groups())
    return answers, micros, p50, p99, bad


def processor_seconds(process_id: int) -> float:
    """Return the processor time of a process so far, all its threads."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def contest(
    folder: Path,
    ours: Callable[[], tuple[list[str], int]],
    template: bytes,
    seconds: float,
    rounds: int,
) -> Iterator[tuple[str, bool, Served]]:
    """Yield how each server did, connections kept or not: the best of some rounds in turn.

    Args:
        folder: for files of the contestants.
        ours: returns the collector's command and port.
        template: a body with one report.
        seconds: of load for each measurement.
        rounds: of all contestants, so that whatever else the machine does hits each of them.
    """
    servers: dict[str, Callable[[], tuple[list[str], int]]] = {
        "nginx, bare 204": lambda: nginx(folder),
        "uvicorn, empty application, 204": lambda: empty_uvicorn(folder, body=b""),
        "uvicorn, empty application, 200": lambda: empty_uvicorn(folder, body=b"{}"),
        OURS: ours,
    }
    best: dict[tuple[str, bool], Served] = {}
    for _ in range(rounds):
        for name, make in servers.items():
            command, port = make()
            with running(command, port) as process:
                for keep in (True, False):
                    found = load(folder, process.pid, port, template, seconds, keep=keep)
                    if found.bad:
                        raise SystemExit(f"{name}: {found.bad} answers were errors, or none came.")
                    known = best.get((name, keep), found)
                    best[name, keep] = max(known, found, key=lambda served: served.per_second)
    for (name, keep), served in sorted(best.items(), key=lambda each: not each[0][1]):
        yield name, keep, served
