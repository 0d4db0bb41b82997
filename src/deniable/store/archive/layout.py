"""The places of an archive's parts, and the head that each of them has.

A part is a Parquet file with one column `record` of fixed-size binary, and a second one `segments`
where the question has segments: the text of a combination, "(small)" ones included. Noise does not
compress, so that nothing is compressed. Its metadata hold a head in JSON: batch, number of reports,
contract and sum. Rows were shuffled, and names are random: no order means anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from deniable.errors import MissingExtra, StoreError
from deniable.store.base import Batch

FORMAT = 1
HEAD = b"deniable"
SIMULATED_FOLDER = "simulated"

_PART = re.compile(
    r"(?:^|/)(?P<simulated>simulated/)?question=(?P<question>[^/]+)/version=(?P<version>\d+)"
    r"/digest=(?P<digest>[0-9a-f]{64})/epoch=(?P<epoch>\d+)/part-[0-9a-f]{16}\.parquet$"
)


@dataclass(frozen=True)
class Head:
    """The description that a part has of itself.

    Attributes:
        batch: what all its reports share; its segments are in the file.
        reports: their number.
        size: the bytes of a record.
        sum: eight bytes of BLAKE2b over the records in the order of the file, in hexadecimal.
        contract: the question as it was published, in canonical JSON.
        epoch_reports: the number of reports of the whole epoch, in all its parts; None in parts
            that do not say.
    """

    batch: Batch
    reports: int
    size: int
    sum: str
    contract: str
    epoch_reports: int | None = None

    def written(self) -> bytes:
        """Return the head as it stands in a file."""
        told = {
            "format": FORMAT,
            "question": self.batch.question,
            "version": self.batch.version,
            "digest": self.batch.digest.hex(),
            "epoch": self.batch.epoch,
            "simulated": self.batch.simulated,
            "reports": self.reports,
            "size": self.size,
            "sum": self.sum,
            "contract": self.contract,
        }
        if self.epoch_reports is not None:
            told["epoch_reports"] = self.epoch_reports
        return json.dumps(told, sort_keys=True, separators=(",", ":")).encode()


def folder_of(batch: Batch) -> str:
    """Return the folder of a batch's parts, below the archive's own."""
    above = f"{SIMULATED_FOLDER}/" if batch.simulated else ""
    return (
        f"{above}question={batch.question}/version={batch.version}"
        f"/digest={batch.digest.hex()}/epoch={batch.epoch}"
    )


def batch_of(path: str) -> Batch | None:
    """Return the batch that a path names; None if it is no part of an archive."""
    found = _PART.search(path)
    if found is None:
        return None
    return Batch(
        found["question"],
        int(found["version"]),
        bytes.fromhex(found["digest"]),
        int(found["epoch"]),
        found["simulated"] is not None,
    )


def read_head(path: str, metadata: Any) -> Head:
    """Return the head of a part.

    Raises:
        StoreError: if it has none, it is of a newer format, or does not fit the part's place.
    """
    try:
        told = json.loads(metadata.metadata[HEAD])
        number = told["format"]
        if number != FORMAT:
            raise StoreError(
                f"The archive's part {path} has format {number!r:.20}. This version reads format "
                f"{FORMAT}: install a newer one."
            )
        digest = bytes.fromhex(told["digest"])
        batch = Batch(
            told["question"], told["version"], digest, told["epoch"], told["simulated"] is True
        )
        whole = told.get("epoch_reports")
        head = Head(batch, told["reports"], told["size"], told["sum"], told["contract"], whole)
        numbers = (head.reports, head.size - 1, 0 if whole is None else whole)
        sound = all(type(n) is int and n >= 0 for n in numbers)
    except (KeyError, TypeError, ValueError):
        raise StoreError(f"The archive's part {path} has no head that can be read.") from None
    if not sound or batch != batch_of(path) or metadata.num_rows != head.reports:
        raise StoreError(
            f"The archive's part {path} is damaged: its head fits neither its place nor its rows."
        )
    return head


def records_sum(*records: bytes) -> str:
    """Return the sum of records, which tells accidents, not forgery."""
    made = blake2b(digest_size=8)
    for part in records:
        made.update(part)
    return made.hexdigest()


def pyarrow() -> tuple[Any, Any, Any]:
    """Return pyarrow, pyarrow.parquet and pyarrow.fs.

    Raises:
        MissingExtra: if it is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.fs
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("analysis", "An archive") from None
    return pa, pq, pa.fs


def incomplete(batch: Batch, heads: Sequence[Head]) -> str:
    """Return what is wrong with the parts of an epoch together; nothing of parts that are right."""
    held, told = sum(head.reports for head in heads), {head.epoch_reports for head in heads}
    if told in ({None}, {held}):
        return ""
    wanted = " or ".join(f"{number:,}" for number in sorted(told - {None}, key=str))
    return (
        f"{folder_of(batch)} holds {held:,} reports, and was written with {wanted}: a part is "
        "missing, or there twice."
    )
