"""A Spark cluster of our own: a master and two workers, each a process on loopback."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyspark

PATIENCE = 300.0
HOME = Path(pyspark.__file__).parent
_TESTS = Path(__file__).resolve().parents[1]
_SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
"""Programs that live for a minute gain nothing from the second compiler."""
_DEFAULTS = f"""
spark.driver.extraJavaOptions {_SMALL}
spark.executor.extraJavaOptions {_SMALL}
spark.driver.memory 512m
spark.executor.memory 512m
spark.executor.cores 1
spark.executorEnv.PYTHONPATH {_TESTS}
spark.executorEnv.SPARK_LOCAL_IP 127.0.0.1
spark.sql.shuffle.partitions 2
spark.log.level ERROR
"""


def java() -> str:
    """Return the path of Java.

    Raises:
        AssertionError: if there is none; ./scripts/test installs it.
    """
    found = shutil.which("java")
    assert found, "The tests need Java. On Debian: sudo apt-get install openjdk-17-jre-headless"
    return found


class SparkCluster:
    """One master and its workers; their files are in a folder.

    Args:
        folder: for settings, logs and what Spark writes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        conf = folder / "conf"
        conf.mkdir(parents=True)
        (conf / "spark-defaults.conf").write_text(_DEFAULTS)
        # Every address is set before anything starts: by default Spark listens to everybody.
        self.environment = {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_MASTER_HOST": "127.0.0.1",
            "SPARK_CONF_DIR": str(conf),
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_WORKER_DIR": str(folder / "work"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": _SMALL,
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        }
        java()
        self.master = self._start("master", "Master", "--host", "127.0.0.1", "--port", "0")
        self.address = self._said("master", r"Starting Spark master at (spark://\S+)")

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start another worker, and wait until the master knows it."""
        name = f"worker-{len(self.workers)}"
        options = ("--host", "127.0.0.1", "--cores", "1", "--memory", "1g")
        worker = self._start(name, "Worker", *options, self.address)
        self.workers.append(worker)
        self._said(name, r"(Successfully registered) with master")
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kill a worker with everything that it has started, as a machine that goes."""
        for pid in [worker.pid, *descendants(worker.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        worker.wait(PATIENCE)

    def stop(self) -> None:
        """Stop everything."""
        for process in (*self.workers, self.master):
            if process.poll() is None:
                self.kill(process)

    @property
    def pids(self) -> list[int]:
        """The processes of the cluster."""
        alive = [p.pid for p in (self.master, *self.workers) if p.poll() is None]
        return [*alive, *(child for pid in alive for child in descendants(pid))]

    def _start(self, name: str, kind: str, *options: str) -> subprocess.Popen[bytes]:
        command = [
            str(HOME / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{kind.lower()}.{kind}",
        ]
        environment = {**os.environ, **self.environment}
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [*command, "--webui-port", "0", *options],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,
            )

    def _said(self, name: str, pattern: str) -> str:
        log, end = self.folder / f"{name}.log", time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.search(pattern, log.read_text(errors="replace"))
            if found:
                return found[1]
            time.sleep(0.1)
        raise AssertionError(f"{name} does not start:\n{log.read_text(errors='replace')[-3_000:]}")


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    children = [int(word) for word in found.stdout.split()]
    return [*children, *(one for child in children for one in descendants(child))]


def listening(pids: list[int]) -> set[str]:
    """Return the addresses, in hexadecimal, on which processes listen for TCP."""
    sockets: set[str] = set()
    for pid in pids:
        with suppress(OSError):
            for link in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    sockets |= set(re.findall(r"socket:\[(\d+)\]", str(link.readlink())))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            cut = line.split()
            if cut[3] == "0A" and cut[9] in sockets:
                found.add(cut[1].rpartition(":")[0])
    return found
