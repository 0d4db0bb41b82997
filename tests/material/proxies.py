"""Proxies as `deploy/` configures them, on loopback, with a backend that writes everything down."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from material.served import Answer
from material.tools import tool

DEPLOY = Path(__file__).parents[2] / "deploy"
SENDER = "127.0.0.2"
"""The address of a sender: this machine too, but not the one that proxies have."""
NAME = "telemetry.example.org"
_TRIES = 5


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def changed(path: Path, changes: Mapping[str, str]) -> str:
    """Return a configuration with some of its lines changed, each of which must be there."""
    text = path.read_text()
    for old, new in changes.items():
        assert old in text, f"{path.name} has no {old!r}"
        text = text.replace(old, new)
    return text


@contextmanager
def running(folder: Path, words: list[str], port: int) -> Iterator[Path]:
    """Run a proxy until the block ends; yield the file of all that it says."""
    said = folder / "said"
    with said.open("ab") as output:
        process = subprocess.Popen(
            words, cwd=folder, stdout=output, stderr=output, env=_home(folder)
        )
    try:
        for _ in range(600):
            if process.poll() is not None:
                raise ChildProcessError(said.read_text())
            try:
                socket.create_connection(("127.0.0.1", port), 5).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        yield said
    finally:
        process.terminate()
        process.wait(30)


def _home(folder: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}


@contextmanager
def nginx(folder: Path, name: str, changes: Mapping[str, str]) -> Iterator[tuple[int, Path]]:
    """Run nginx with a file of deploy/; `PORT` in a change is where it listens."""
    folder.mkdir()
    (folder / "modules").symlink_to(Path(tool("nginx")).parents[1] / "lib/nginx/modules")
    root = "user root; " if os.geteuid() == 0 else ""
    for left in reversed(range(_TRIES)):
        port = free_port()
        text = changed(DEPLOY / name, {**changes, "/run/nginx.pid": f"{folder}/pid"})
        text = text.replace("PORT", str(port)).replace("FOLDER", str(folder))
        (folder / "nginx.conf").write_text(f"{root}daemon off; master_process off;\n{text}")
        words = [tool("nginx"), "-e", "stderr", "-p", str(folder), "-c", f"{folder}/nginx.conf"]
        try:
            with running(folder, words, port) as said:
                yield port, said
            return
        except ChildProcessError:
            if not left:
                raise


def front(backend: int, certificate: Path) -> dict[str, str]:
    """Return the changes that put nginx before a backend on this machine."""
    paths = "".join(f"{part}_temp_path FOLDER/{part}; " for part in _TEMPORARY)
    live = f"/etc/letsencrypt/live/{NAME}"
    return {
        "listen 443 ssl;": "listen 127.0.0.1:PORT ssl;",
        "        listen [::]:443 ssl;\n": "",
        "server 127.0.0.1:8000;": f"server 127.0.0.1:{backend};",
        f"{live}/fullchain.pem": str(certificate),
        f"{live}/privkey.pem": str(certificate),
        "    access_log off;\n": f"    access_log off;\n    {paths}\n",
    }


_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def relayed(collector: int) -> dict[str, str]:
    """Return the changes that put the relay before a collector on this machine."""
    return {
        "listen 443;": "listen 127.0.0.1:PORT;",
        "        listen [::]:443;\n": "",
        "collector.example.net:443": f"127.0.0.1:{collector}",
    }


def make_certificate(folder: Path) -> Path:
    """Write a certificate of the collector's name, with its key, that signs itself."""
    path = folder / "certificate.pem"
    names = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    files = ["-nodes", "-days", "2", "-keyout", str(path), "-out", f"{path}.crt"]
    subprocess.run([*words, *names, *files], check=True, capture_output=True, timeout=60)
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


class _Tls(http.client.HTTPSConnection):
    """A connection to a port of this machine that must show the collector's certificate."""

    def __init__(self, port: int, certificate: Path) -> None:
        self._trust = ssl.create_default_context(cafile=f"{certificate}.crt")
        super().__init__("127.0.0.1", port, timeout=30, source_address=(SENDER, 0))

    def connect(self) -> None:
        raw = socket.create_connection(("127.0.0.1", self.port), 30, (SENDER, 0))
        self.sock = self._trust.wrap_socket(raw, server_hostname=NAME)


def send(
    port: int,
    certificate: Path | None,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send one request from the sender's address, over TLS if there is a certificate."""
    connection: http.client.HTTPConnection
    if certificate is None:
        connection = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=30, source_address=(SENDER, 0)
        )
    else:
        connection = _Tls(port, certificate)
    try:
        connection.request(method, path, body, {"Host": NAME, **(headers or {})})
        answer = connection.getresponse()
        return Answer(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()


class Recorder:
    """A backend that keeps every byte, and the address that it came from."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}") -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.heard: list[tuple[str, bytes]] = []
        self._connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            try:
                connection, (address, _) = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._hear, args=(connection, address), daemon=True).start()

    def _hear(self, connection: socket.socket, address: str) -> None:
        with connection, suppress(OSError):
            connection.settimeout(30)
            said = b""
            while part := connection.recv(65_536):
                said += part
                if _whole(said):
                    self.heard.append((address, said))
                    said = b""
                    connection.sendall(self._answer)

    def close(self) -> None:
        """Hear nothing more; connections end, too."""
        for each in (self._listener, *self._connections):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)


def _whole(said: bytes) -> bool:
    """Tell whether a request has arrived, with its body."""
    head, end, rest = said.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return bool(end) and len(rest) >= int(line.partition(b":")[2])
    return bool(end)
