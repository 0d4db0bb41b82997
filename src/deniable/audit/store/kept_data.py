"""The audit of a collector's store, from outside: its tables, files and bytes.

Three looks. The first reads a data directory as it is. The second is a probe: recognisable senders
(address, user agent, cookie) send to a real collector, and every byte it keeps is searched for
them. The third feeds a known sequence to a scratch store, and tests that the order of arrival
cannot be read from it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from deniable.audit.attack.detection import advice_finding, advise, field_records
from deniable.audit.findings import ALPHA, Audit, Finding
from deniable.audit.hypotheses import Check
from deniable.audit.sample.findings import judged
from deniable.audit.store.arrival_order import group_check, order_checks
from deniable.audit.store.files import files_findings
from deniable.audit.store.known_senders import probe_finding
from deniable.protocol import Question, Report, Survey
from deniable.store import Store, open_store
from deniable.store.place import is_database

REPORTS, GROUP = 2_000, 100
MOST_LOOKED = 200_000
"""The largest number of an epoch's reports that are tested for crafted ones."""
_SIZE = 16
_EPOCH = 7


def audit_store(
    data: str | Path | None = None, *, survey: Survey | None = None, alpha: float = ALPHA
) -> Audit:
    """Search a data directory for senders, and test on scratch stores that order is forgotten.

    Guarantees: the data directory is read only. A correct store fails a statistical finding with
    probability at most `alpha`.

    Args:
        data: the directory or the database of a collector; None looks at scratch stores alone.
        survey: with it, reports in the directory are tested for crafted ones, as advice.
        alpha: the false-alarm probability of each statistical finding.

    Raises:
        StoreError: if there is no store in the directory, or it cannot be read.
    """
    findings = [] if data is None else list(_kept(data))
    if data is not None and survey is not None:
        findings += _advice(data, survey, alpha)
    with TemporaryDirectory(prefix="deniable-audit-") as folder:
        findings.append(probe_finding(Path(folder) / "probe"))
        findings += _order_findings(Path(folder) / "order", alpha)
    return Audit("store", tuple(findings), NOTES)


def _kept(data: str | Path) -> Iterator[Finding]:
    """Yield the findings about what a collector keeps, wherever that is."""
    if is_database(data):
        from deniable.audit.store.database import database_findings

        return database_findings(str(data))
    return files_findings(Path(data))


def _advice(data: str | Path, survey: Survey, alpha: float) -> Iterator[Finding]:
    """Test the reports of each question's newest epoch, each from another device."""
    with open_store(data, create=False) as store:
        for question in survey.known:
            epochs = [
                tally.batch.epoch
                for tally in store.tallies()
                if (tally.batch.question, tally.batch.digest) == (question.id, question.digest)
            ]
            if not epochs:
                continue
            records = _some_records(store, question, max(epochs))
            for field, reports in zip(
                question.fields, field_records(question, records), strict=True
            ):
                about = question.title if question.plain else f"{question.title}.{field.name}"
                looks = advise(field.parameters, reports)
                yield advice_finding(about, looks, len(reports), alpha)


def _some_records(store: Store, question: Question, epoch: int) -> bytes:
    parts, room = [], MOST_LOOKED * question.record_size
    for chunk in store.read(question.id, question.version, epoch, epoch):
        if chunk.batch.digest == question.digest and room > 0:
            parts.append(chunk.records[:room])
            room -= len(parts[-1])
    return b"".join(parts)


def _order_findings(directory: Path, alpha: float) -> Iterator[Finding]:
    reports = [_report() for _ in range(REPORTS)]
    arrivals = {report.record: arrival for arrival, report in enumerate(reports)}
    with open_store(directory) as store:
        for start in range(0, REPORTS, GROUP):
            store.append(reports[start : start + GROUP])
        chunks = [[arrivals[record] for record in chunk] for chunk in _read(store)]
        yield judged("an open epoch", "order within a group", order_checks(chunks), alpha)
        store.close_epochs(_EPOCH + 10, {("order", 1): 1}, running_seconds=0)
        read = [arrivals[record] for chunk in _read(store) for record in chunk]
    yield _complete(read)
    checks = [*order_checks([read]), group_check(read, GROUP)]
    yield judged("a closed epoch", "order of records", checks, alpha)
    content = b"".join(path.read_bytes() for path in sorted(directory.iterdir()))
    yield judged("a closed epoch", "order of bytes", _byte_checks(content, reports), alpha)
    yield _overwritten(content, reports)


def _report() -> Report:
    """Return a report that its random bytes make recognisable."""
    token = os.urandom(2 * _SIZE)
    return Report("order", 1, bytes(32), _EPOCH, token[_SIZE:], token[:_SIZE])


def _read(store: Store) -> Iterator[list[bytes]]:
    for chunk in store.read("order"):
        records = chunk.records
        yield [records[i : i + _SIZE] for i in range(0, len(records), _SIZE)]


def _complete(read: list[int]) -> Finding:
    holds = sorted(read) == list(range(REPORTS))
    words = f"{len(read):,} of {REPORTS:,} records are there after closing"
    return Finding("a closed epoch", "nothing lost", holds, words)


def _byte_checks(content: bytes, reports: list[Report]) -> list[Check]:
    """Test the order of the records' places in the file; records cut by a page are not found."""
    places = {content.find(report.record): arrival for arrival, report in enumerate(reports)}
    places.pop(-1, None)
    sequence = [places[place] for place in sorted(places)]
    return order_checks([sequence])


def _overwritten(content: bytes, reports: list[Report]) -> Finding:
    """Search for traces that closing must have removed: ids, and earlier copies of records."""
    ids = sum(report.id in content for report in reports)
    copies = sum(content.count(report.record) > 1 for report in reports)
    words = f"{ids} ids and {copies} earlier copies of records are left in the file"
    return Finding("a closed epoch", "ids and old places overwritten", not ids + copies, words)


NOTES = (
    f"The scratch store gets {REPORTS:,} reports in groups of {GROUP}, by the writer that "
    "collectors use.",
    "In an open epoch the places of pages show in which order groups were written, and the ids are "
    "kept to find duplicates: ARCHITECTURE.md says so. Closing an epoch ends both.",
    "The file's own time says when it was last written.",
)
