"""A PostgreSQL server of our own: Debian's program, on loopback, with its data in memory."""

from __future__ import annotations

import contextlib
import os
import pwd
import random
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

PATIENCE = 120.0
_USER = "postgres"
_ROOM = 2 * 2**30
_SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
max_connections = 100
shared_buffers = 32MB
dynamic_shared_memory_type = mmap
fsync = on
wal_level = replica
max_wal_size = 256MB
log_min_messages = warning
"""
_ACCESS = """
host all guarded 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
"""


def programs() -> Path:
    """Return the folder of PostgreSQL's newest programs.

    Raises:
        AssertionError: if there are none; ./scripts/test installs them.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[4]))
    assert found, "The tests need PostgreSQL. On Debian: sudo apt-get install postgresql"
    return found[-1].parent


class Cluster:
    """One server. Its files are in a folder of its own, in memory if there is room.

    Args:
        folder: where it is, or will be.
        settings: lines for postgresql.conf.
        durable: whether its files must be on a disk.
    """

    def __init__(self, folder: Path, settings: str = "") -> None:
        self.folder = folder
        self._settings = settings

    @classmethod
    def made(cls, settings: str = "", *, parent: str | None = None) -> Cluster:
        """Make and start a server in a new folder."""
        cluster = cls(
            Path(tempfile.mkdtemp(prefix="deniable-pg-", dir=parent or in_memory())), settings
        )
        cluster.create()
        cluster.start()
        return cluster

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return int((self.folder / "port").read_text())

    def place(self, schema: str = "deniable", user: str = "deniable") -> str:
        """Return the address of a store in a schema."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/postgres?schema={schema}"

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        """Return a superuser's connection in autocommit mode."""
        address = f"postgresql://deniable@127.0.0.1:{self.port}/postgres"
        return psycopg.connect(address, autocommit=True)

    def create(self) -> None:
        """Make the files of an empty server."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.getuid() == 0:
            owner = pwd.getpwnam(_USER)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        command = ["initdb", "-D", "data", "-U", "deniable", "-A", "trust", "-E", "UTF8"]
        self._run([*command, "--no-locale", "--no-sync", "--no-instructions"])
        port = _free_port()
        (self.folder / "port").write_text(str(port))
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.write(_SETTINGS.format(port=port) + self._settings)
        (self.folder / "data" / "pg_hba.conf").write_text(_ACCESS)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = ["-D", "data", "-l", "log", "-w", "-t", str(int(PATIENCE))]
        try:
            self._run(["pg_ctl", *options, "start"])
        except AssertionError as error:
            error.add_note((self.folder / "log").read_text(errors="replace")[-2_000:])
            raise
        self.connect().close()

    def kill(self) -> None:
        """Kill the server and all its processes with SIGKILL, as a power cut would."""
        pid = self.pid
        os.kill(pid, signal.SIGSTOP)  # so that it does not start new ones meanwhile
        _wait(lambda: _state(pid) in "TZ", "The server does not stand still.")
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True
        )
        everyone = [*map(int, found.stdout.split()), pid]
        for process in everyone:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        # A process that is not gone yet holds the shared memory, and the next start is refused.
        _wait(lambda: all(_state(one) == "Z" for one in everyone), "The server does not die.")
        # Its number may be taken for a running server's as long as nobody has waited for it.
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def wait_until_alone(self) -> None:
        """Wait until the server serves nobody but this connection."""
        others = (
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        with self.connect() as connection:
            _wait(
                lambda: connection.execute(others).fetchone() == (0,),
                "Somebody is still connected to the server.",
            )

    def stop(self) -> None:
        """Stop the server, and wait for it."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self._run(["pg_ctl", "-D", "data", "-m", "fast", "-w", "stop"])

    def end_with(self, pid: int) -> None:
        """Stop the server and delete its files when a process is gone, however that ended."""
        stop = self._as_owner(["pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop"])
        files = [str(self.folder), f"{self.folder}.lock"]
        end = f"{shlex.join(stop)}; {shlex.join(['rm', '-rf', *files])}"
        script = f"while kill -0 {pid}; do sleep 2; done; {end}"
        watch = ["sh", "-c", f"({script}) >/dev/null 2>&1 &"]
        subprocess.run(watch, cwd="/", check=True, start_new_session=True)

    def remove(self) -> None:
        """Stop the server and delete its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        """The number of the server's first process."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(
            self._as_owner(command),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr[-2_000:]

    def _as_owner(self, command: list[str]) -> list[str]:
        """Return a command as PostgreSQL's user, since its programs refuse root."""
        whole = [str(programs() / command[0]), *command[1:]]
        if os.getuid() != 0:
            return whole
        return ["setpriv", "--reuid", _USER, "--regid", _USER, "--clear-groups", *whole]


def _free_port() -> int:
    """Return a free port that no outgoing connection is given while the server is down.

    A port that the system hands out by itself may become the other end of somebody's connection
    between a kill and the next start, even of one to this very port.
    """
    given = Path("/proc/sys/net/ipv4/ip_local_port_range")
    first = int(given.read_text().split()[0]) if given.exists() else 32_768
    for port in random.SystemRandom().sample(range(first // 2, first), 100):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"No free port between {first // 2} and {first}.")


def _state(pid: int) -> str:
    """Return the letter of a process's state; one that is gone is as one nobody waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def _wait(holds: Callable[[], bool], words: str) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, words
        time.sleep(0.01)


def in_memory() -> str:
    """Return a folder in memory if there is room, so that tests do not wait for a disk."""
    memory = Path("/dev/shm")  # noqa: S108 - the tests' own folder in it has a random name
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM:
        return str(memory)
    return tempfile.gettempdir()
