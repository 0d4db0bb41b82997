"""How fast reports are accepted, written and read, as ratios against plain files.

    python benchmarks/collector.py [--seconds 2] [--rounds 3]

A ratio compares two measurements of one run on one machine. The peer of writing is a file to which
the same bytes are appended and synced after every batch, by as many threads as send; the peer of
reading is reading a file of the same bytes. The sending threads share the machine with the
collector, so the first ratio counts them too.

Then single reports, as devices send them, by wrk from the other core (Debian's packages wrk and
nginx): 256 connections that are kept, then a new one for each request. The peers are uvicorn with
an empty application and nginx's bare 204. On a machine that does other work, compare the processor
time per request: `of cpu` is the peer's divided by ours, as `of rate` is our rate by the peer's.

Last, the processor time per report of a batch of 1,000, in JSON and in the compact form.
"""

from __future__ import annotations

import argparse
import http.client
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import _wrk
from deniable.authoring import resolve
from deniable.collector import Settings, create_app, serve
from deniable.collector.admission import Admission
from deniable.collector.reading import split_batch
from deniable.protocol import Field, Question, RapporParameters, Report, Strings, Survey
from deniable.protocol.compact import compact_bytes
from deniable.protocol.epochs import day_number
from deniable.protocol.report import batch_bytes
from deniable.store import Batch, SqliteStore

SENDERS, BATCH, SIMULATED = 3, 100, 500_000
BITS = {"k": 128, "h": 2, "m": 64, "f": 0.5, "p": 0.5, "q": 0.75}
FIELD = Field("value", Strings(), resolve(RapporParameters, BITS, Strings(), False))
EXPIRES = date.today() + timedelta(days=400)
QUESTION = Question("words", 1, "?", "team", EXPIRES, 1, "once", "recorded", (FIELD,))
SIZE = QUESTION.record_size
HEADERS = {"content-type": "application/json"}


def reports(count: int) -> list[Report]:
    """Return reports with random ids and records."""
    return [
        Report(
            QUESTION.id,
            1,
            QUESTION.digest,
            day_number(),
            os.urandom(16),
            b"\0\0" + os.urandom(SIZE - 2),
        )
        for _ in range(count)
    ]


def fresh_body(template: bytes) -> bytes:
    """Return the body with new ids, at little cost to the sender.

    The ids of a batch differ in their last half already; a new first half makes all of them new.
    """
    pieces = template.split(b'"id":"')
    first = os.urandom(8).hex().encode()
    return b'"id":"'.join([pieces[0], *(first + piece[16:] for piece in pieces[1:])])


def in_threads(seconds: float, work: Callable[[float], int]) -> float:
    """Run `work` until the time is over, in every thread, and return reports per second."""
    done = [0] * SENDERS
    end = time.perf_counter() + seconds

    def run(part: int) -> None:
        done[part] = work(end)

    threads = [threading.Thread(target=run, args=(part,)) for part in range(SENDERS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - start)


def over_http(port: int) -> Callable[[float], int]:
    """Return the work of a sender: new batches over one connection, one after the other."""
    template = batch_bytes(reports(BATCH))

    def work(end: float) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        accepted = 0
        while time.perf_counter() < end:
            connection.request("POST", "/v1/reports", fresh_body(template), HEADERS)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"The collector answered {answer.status}.")
            accepted += BATCH
        connection.close()
        return accepted

    return work


def to_file(path: Path) -> Callable[[float], int]:
    """Return the peer's work: the same bytes, appended and synced batch by batch."""

    def work(end: float) -> int:
        written = 0
        with path.open("ab", buffering=0) as file:
            while time.perf_counter() < end:
                file.write(os.urandom(BATCH * (SIZE + 16)))
                os.fsync(file.fileno())
                written += BATCH
        return written

    return work


def rate(count: int, work: Callable[[], object]) -> float:
    """Return how many per second one call of `work` does."""
    start = time.perf_counter()
    work()
    return count / (time.perf_counter() - start)


def synced_file(path: Path, data: bytes) -> None:
    """Write bytes to a file and sync them."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def measure(folder: Path, seconds: float) -> Iterator[tuple[str, float, str, float]]:
    """Yield what was measured, its rate, its peer and the peer's rate, in reports per second."""
    (folder / "survey.json").write_bytes(Survey("b", "b", (QUESTION,)).published())
    command = [sys.executable, __file__, "--serve", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int((process.stdout.readline() if process.stdout else "").rpartition(":")[2])
            accepted = in_threads(seconds, over_http(port))
        finally:
            process.terminate()
    synced = in_threads(seconds, to_file(folder / "peer"))
    yield "accepted over HTTP, batches of 100", accepted, "synced appends of the same bytes", synced

    with SqliteStore(folder / "groups") as store:
        group = reports(10_000)
        appended = rate(len(group), lambda: store.append(group))
    yield "store.append, one group of 10,000", appended, "synced appends of the same bytes", synced

    records = os.urandom(SIMULATED * SIZE)
    batch = Batch(QUESTION.id, 1, QUESTION.digest, day_number())
    with SqliteStore(folder / "simulated") as store:
        many = rate(SIMULATED, lambda: store.append_records(batch, records, SIZE))
        file = rate(SIMULATED, lambda: synced_file(folder / "file", records))
        yield "store.append_records, 500,000 at once", many, "one synced file", file
        read = rate(SIMULATED, lambda: sum(chunk.count for chunk in store.read(QUESTION.id)))
        plain = rate(SIMULATED, lambda: (folder / "file").read_bytes())
        yield "store.read", read, "reading the file", plain
        closing = rate(
            SIMULATED, lambda: store.close_epochs(10**6, {(QUESTION.id, 1): 1}, running_seconds=0)
        )
        yield "store.close_epochs", closing, "one synced file", file


def single_reports(folder: Path, seconds: float, rounds: int) -> None:
    """Print how single reports are served, beside the limits."""
    if lacking := _wrk.missing():
        print(f"\nSingle reports were not measured: {', '.join(lacking)} missing here.")
        return

    def ours() -> tuple[list[str], int]:
        port = _wrk.free_port()
        command = [sys.executable, __file__, "--serve", str(folder), "--port", str(port)]
        return _wrk.pinned(*command), port

    template = batch_bytes(reports(1))
    found = list(_wrk.contest(folder, ours, template, seconds, rounds))
    for kept in (True, False):
        mine = next(s for name, keep, s in found if name == _wrk.OURS and keep is kept)
        print(f"\nsingle reports, {'256 connections' if kept else 'a new connection for each'}")
        print(
            f"{'':34} {'per s':>8} {'p50 ms':>7} {'p99 ms':>7} {'cpu us':>7} {'of rate':>8} of cpu"
        )
        for name, keep, peer in found:
            if keep is kept:
                rates, times = mine.per_second / peer.per_second, peer.micros / mine.micros
                print(
                    f"{name:34} {peer.per_second:8,.0f} {peer.p50:7.1f} {peer.p99:7.1f} "
                    f"{peer.micros:7.1f} {rates:8.2f} {times:6.2f}"
                )


def batches_of_a_thousand(folder: Path, rounds: int = 30) -> None:
    """Print the processor time per report of admission and append, by form."""
    rules = Admission(Survey("b", "b", (QUESTION,)), 31, 2)
    print(f"\n{'batches of 1,000, cpu us per report':40} {'admission':>9} {'append':>9} {'sum':>6}")
    for form in ("JSON", "compact"):
        spent = [0.0, 0.0]
        with SqliteStore(folder / form) as store:
            for _ in range(rounds):
                sent = reports(1_000)
                body = batch_bytes(sent) if form == "JSON" else compact_bytes(sent)
                start = time.process_time()
                if body is None:
                    raise SystemExit("These reports have a compact form.")
                items = (
                    split_batch(body, 1_000) if form == "JSON" else rules.split_packed(body, 1_000)
                )
                admitted = rules.admit(items, day_number())
                middle = time.process_time()
                store.append(admitted.reports)
                spent[0] += middle - start
                spent[1] += time.process_time() - middle
        admission, append = (each * 1e6 / (1_000 * rounds) for each in spent)
        print(f"{form:40} {admission:9.2f} {append:9.2f} {admission + append:6.2f}")


def run_collector(folder: Path, port: int) -> None:
    """Be the collector of `measure`, in a process of its own."""
    settings = Settings(folder / "data", folder / "survey.json", port=port)
    with SqliteStore(settings.store_path) as store:
        app = create_app(settings, store, settings.survey_path.read_bytes())
        serve(settings, app, on_listening=lambda address: print(address, flush=True))


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of single reports; the best counts")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        run_collector(chosen.serve, chosen.port)
        return
    print(f"{'what':40} {'reports/s':>12} {'ratio':>8}  peer")
    with tempfile.TemporaryDirectory() as folder:
        for name, ours, peer, theirs in measure(Path(folder), chosen.seconds):
            print(f"{name:40} {ours:12,.0f} {ours / theirs:8.3f}  {peer} ({theirs:,.0f}/s)")
        single_reports(Path(folder), chosen.seconds, chosen.rounds)
        batches_of_a_thousand(Path(folder))


if __name__ == "__main__":
    main()
