"""The cost of a collector: processor per report, memory, bytes of open and of closed epochs.

    python benchmarks/sizing.py [--singles 20000] [--batches 300]

A real collector with SQLite gets single reports, each on a connection of its own as devices send
them, then batches of 1,000 in the compact form; its own processor time is read, so that the sender
on the same machine does not count. Then its epoch is closed and backed up. The second table is
arithmetic with these figures: docs/operate.md shows both.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

OPEN_DAYS = 32
"""Days for which an epoch of a day is open: itself, 30 for late reports, one of running."""
PEAK = 10
"""The busiest minute of a day, as a multiple of its mean."""
SENDERS = 16


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int, what: str) -> float:
    """Return a line of a process's status in MiB."""
    (line,) = [
        line
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith(f"{what}:")
    ]
    return int(line.split()[1]) / 1_024


def measure(singles: int, batches: int) -> dict[str, float]:
    """Run the collector, and return what it took."""
    from deniable.protocol.compact import MEDIA_TYPE, compact_bytes
    from deniable.store import open_store
    from deniable.store.copying import back_up
    from material.collector_process import QUESTION, Running, batch, report

    found: dict[str, float] = {"record": QUESTION.record_size}
    with tempfile.TemporaryDirectory() as folder:
        with Running(Path(folder) / "c") as collector:
            pid = collector.process.pid
            collector.post(batch([0]))
            found["idle MiB"] = memory(pid, "VmRSS")
            began = processor_seconds(pid)
            with ThreadPoolExecutor(SENDERS) as pool:
                list(pool.map(lambda n: collector.post(batch([n])), range(1, singles)))
            found["us per single report"] = (processor_seconds(pid) - began) / singles * 1e6
            began = processor_seconds(pid)
            for first in range(singles, singles + 1_000 * batches, 1_000):
                reports = [report(each) for each in range(first, first + 1_000)]
                body = compact_bytes(reports, QUESTION) or b""
                status, told = collector.post(body, {"content-type": MEDIA_TYPE})
                if status != 200 or told["accepted"] != 1_000:
                    raise SystemExit(f"The collector answered {status}: {told}")
            found["us per report of a batch"] = (processor_seconds(pid) - began) / batches * 1e3
            found["most MiB"] = memory(pid, "VmHWM")
        number = singles + 1_000 * batches
        with open_store(collector.data) as store:
            found["bytes per open report"] = store.size() / number
            cpu, began = time.process_time(), time.perf_counter()
            store.close_question("words")
            found["us to close a report"] = (time.process_time() - cpu) / number * 1e6
            found["seconds to close"] = time.perf_counter() - began
        with open_store(collector.data) as store:
            found["bytes per closed report"] = store.size() / number
        began = time.perf_counter()
        back_up(collector.data, Path(folder) / "copy")
        found["seconds to back up"] = time.perf_counter() - began
        found["reports"] = number
    return found


def main() -> None:
    """Print the figures, and their consequences for some numbers of reports per day."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--singles", type=int, default=20_000)
    parser.add_argument("--batches", type=int, default=300)
    chosen = parser.parse_args()
    found = measure(chosen.singles, chosen.batches)
    for name, value in found.items():
        print(f"{name:28}{value:12,.1f}")
    print(f"\n{'reports a day':>14}{'cores':>8}{'disk, open':>14}{'disk, a year':>14}")
    for daily in (10**5, 10**6, 10**7, 10**8):
        cores = daily / 86_400 * PEAK * found["us per single report"] / 1e6
        opened = daily * OPEN_DAYS * found["bytes per open report"] / 1e9
        closed = daily * 365 * found["bytes per closed report"] / 1e9
        print(f"{daily:14,}{cores:8.2f}{opened:11,.1f} GB{opened + closed:11,.1f} GB")


if __name__ == "__main__":
    main()
