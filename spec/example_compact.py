"""Compact batches, written byte by byte, and what is wrong with those of bad/.

Standard library only, and nothing of the package: see reference.py.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

Groups = list[dict[str, Any]]
MAGIC = "646e6201"
DIGEST = hashlib.sha256(b"vectors/compact").hexdigest()


def _number(value: int, count: int) -> str:
    """Return an integer as little-endian bytes, in hexadecimal."""
    return "".join(f"{value >> 8 * place & 255:02x}" for place in range(count))


def compact(groups: Groups, numbering: str = "00000000") -> str:
    """Return the body of a batch, in hexadecimal: heads of all groups, all ids, all records."""
    text = MAGIC + DIGEST + numbering + _number(len(groups), 2)
    for group in groups:
        text += _number(group["epoch"], 4) + _number(group["combination"], 1)
        text += _number(len(group["reports"]), 2)
    for part in ("id", "record"):
        for group in groups:
            for report in group["reports"]:
                text += report[part]
    return text


def _group(epoch: int, combination: int, *records: str) -> dict[str, Any]:
    """Return a group of reports with ids that look random."""
    label = f"vectors/{epoch} {combination} "
    reports = [
        {"id": hashlib.sha256(f"{label}{i}".encode()).hexdigest()[:32], "record": record}
        for i, record in enumerate(records)
    ]
    return {"epoch": epoch, "combination": combination, "reports": reports}


def compact_vectors() -> list[dict[str, Any]]:
    """Groups and the bytes of the batch that carries them."""
    hundred = [f"{i:02x}000000" for i in range(100)]
    batches = {
        "one report": [_group(20772, 255, "01000000")],
        "an empty record": [_group(0, 255, "")],
        "two epochs, the later first": [
            _group(20773, 255, "0102", "0304"),
            _group(20772, 255, "0506"),
        ],
        "the last epoch": [_group(2**31 - 1, 255, "ab" * 18)],
        "a hundred reports": [_group(20772, 255, *hundred)],
        "a hundred epochs": [_group(i, 255, each) for i, each in enumerate(hundred)],
    }
    plain = [
        {"name": name, "digest": DIGEST, "groups": groups, "body": compact(groups)}
        for name, groups in batches.items()
    ]
    groups = [_group(20772, 2, "ff"), _group(20773, 2, "00"), _group(20772, 0, "01", "02")]
    return [*plain, _with_segments(groups)]


def _with_segments(groups: Groups) -> dict[str, Any]:
    """Return a batch whose question has a segment of two declared values."""
    segments = [["platform", ["linux", "mac"]]]
    text = json.dumps(segments, separators=(",", ":"))
    numbering = hashlib.sha256(b"deniable/v1/segments\n" + text.encode()).hexdigest()[:8]
    return {
        "name": "segments",
        "digest": DIGEST,
        "segments": segments,
        "combinations": [f'{{"platform":"{value}"}}' for value in ("linux", "mac", "(other)")],
        "groups": groups,
        "body": compact(groups, numbering),
    }


def bad_bodies() -> dict[str, tuple[str, str]]:
    """Return what is wrong and the body, by name."""
    good = compact([_group(20772, 255, "01000000", "00000000")])
    head, group, rest = good[:80], _number(20772, 4) + "ff" + "0200", good[98:]
    one, two = _number(1, 2), _number(2, 2)
    return {
        "compact-empty": ("no bytes at all", ""),
        "compact-json": ("JSON under this type", b'{"reports":[]}'.hex()),
        "compact-other-version": ("the version is not 1", good.replace(MAGIC, "646e6202")),
        "compact-head-alone": ("it ends before the groups", good[:80]),
        "compact-no-groups": ("no group", head + _number(0, 2)),
        "compact-group-missing": ("a second group is announced", head + two + group),
        "compact-group-empty": (
            "a group without a report",
            head + two + group + _number(20773, 4) + "ff0000" + rest,
        ),
        "compact-group-twice": (
            "one epoch in two groups",
            head + two + (_number(20772, 4) + "ff0100") * 2 + rest,
        ),
        "compact-epoch-too-large": ("2^31", head + one + "00000080" + "ff0200" + rest),
        "compact-byte-missing": ("the last byte is missing", good[:-2]),
        "compact-byte-over": ("a byte follows", good + "00"),
        "compact-ids-missing": ("half of the second id", head + one + group + rest[:48]),
        "compact-too-few-reports": (
            "three are announced, two are there",
            head + one + _number(20772, 4) + "ff0300" + rest,
        ),
        "compact-many-reports": (
            "65,535 are announced",
            head + one + _number(20772, 4) + "ffffff" + rest,
        ),
    }
