"""google/rappor's own clients and files, for tests that read what they make."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from deniable.interop.google_csv import write_rows
from deniable.interop.google_files import write_counts, write_params
from deniable.interop.google_rappor import GoogleParams, GoogleRappor
from deniable.interop.google_reports import GoogleReport

REPORTS_HEADER = ("client", "cohort", "bloom", "prr", "irr")


def permanent_response(secret: bytes, bloom: int, bits: int, f: float) -> int:
    """Return the permanent response of the Python client to a Bloom filter, as an integer.

    Model: byte i of HMAC-SHA-256(secret, Bloom filter as 4 bytes, big-endian) belongs to bit i:
    if its upper seven bits are below 128 f the bit becomes noise, the byte's lowest bit;
    otherwise it stays.
    """
    mac = hmac.digest(secret, bloom.to_bytes(4, "big"), "sha256")
    response = 0
    for i in range(bits):
        noise = mac[i] & 1 if mac[i] >> 1 < 128 * f else bloom >> i & 1
        response |= noise << i
    return response


def write_reports(path: Path, params: GoogleParams, reports: Iterable[GoogleReport]) -> None:
    """Write a reports.csv, row by row."""
    rows: list[list[object]] = [list(REPORTS_HEADER)]
    for report in reports:
        bits = (report.bloom, report.prr, report.irr)
        texts = ("" if value is None else f"{value:0{params.k}b}" for value in bits)
        rows.append([report.client, report.cohort, *texts])
    write_rows(path, rows)


def write_triple(folder: Path, google: GoogleRappor, prefix: str = "") -> None:
    """Write params.csv, counts.csv and map.csv; the bits of the map are those of `google`."""
    write_params(folder / f"{prefix}params.csv", google.params)
    write_counts(folder / f"{prefix}counts.csv", google.counts)
    first = np.arange(google.params.m)[:, None] * google.params.k + 1
    rows = zip(google.candidates, google.positions, strict=True)
    write_rows(
        folder / f"{prefix}map.csv",
        ([word, *(bits + first).ravel().tolist()] for word, bits in rows),
    )
