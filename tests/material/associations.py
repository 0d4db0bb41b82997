"""What the tests of associations have in common: a question of several fields, and its crowd."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.ask.associate.table import Associated, association_table
from deniable.associate import Independence, Joint, Pair
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.candidates import every_code
from deniable.mechanisms.records import join_records
from deniable.protocol import Question
from deniable.protocol.domain import Absent
from deniable.results.table import About, Epochs, Table
from deniable.store import Batch, SqliteStore
from material.results import EPOCH, HOSTILE, question

BROWSERS = ("fox", "owl", "elk", "ant", "bee", "cat")
FIELDS = """
[[questions.fields]]
name = "dark"
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 3.0 }
[[questions.fields]]
name = "browser"
domain = { type = "strings", candidates = "browsers.txt" }
mechanism = "rappor"
parameters = { epsilon = 4.0, k = 64, h = 2, m = 8 }
[[questions.fields]]
name = "size"
domain = { type = "categories", values = ["small", "middle", "large"] }
mechanism = "olh"
parameters = { epsilon = 3.0 }
"""


def several(folder: Path, head: str = "") -> Question:
    """Publish a question of three fields, with the candidate file beside it."""
    (folder / "browsers.txt").write_text("\n".join(BROWSERS) + "\n", encoding="utf-8")
    return question(folder, head + FIELDS)


def dependent(people: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    """Return true answers: who has dark mode on uses 'fox' far more often; size is unrelated."""
    dark = (rng.random(people) < 0.4).astype(np.int64)
    shares = np.array([[0.2, 0.4, 0.2, 0.1, 0.05, 0.05], [0.7, 0.1, 0.1, 0.05, 0.03, 0.02]])
    edges = shares.cumsum(axis=1)[dark]
    browser = (rng.random((people, 1)) > edges).sum(axis=1).clip(max=5).astype(np.int64)
    return {"dark": dark, "browser": browser, "size": rng.integers(0, 3, people)}


def report(
    store: SqliteStore,
    asked: Question,
    codes: dict[str, NDArray[np.int64]],
    rng: np.random.Generator,
    epoch: int = EPOCH,
    strings: Sequence[str | Absent] = BROWSERS,
) -> None:
    """Write the simulated reports of people whose answers have these codes."""
    reports = {}
    for field in asked.fields:
        mechanism = mechanism_of(field, asked.absent)
        listed = None if field.domain.size is None or not mechanism.hashed else field.domain.size
        names = list(strings) if field.domain.size is None else None
        candidates = names if listed is None else every_code(listed, asked.absent)
        reports[field.name] = mechanism.simulate(codes[field.name], rng, candidates)
    batch = Batch(asked.id, asked.version, asked.digest, epoch)
    store.append_records(batch, join_records(asked, reports), asked.record_size)


def table(
    value: NDArray[np.float64], labels: tuple[tuple[str, ...], ...], names: tuple[str, ...]
) -> Joint:
    """Return a joint table that was not estimated, to be shown."""
    error = np.full(value.shape, 0.01)
    return Joint(
        names=names,
        labels=labels,
        probability=value,
        std_error=error,
        low=value - 0.0196,
        high=value + 0.0196,
        covariance=np.eye(value.size) * 1e-4,
        n=10_000,
        gap=1e-7,
        rounds=7,
        solver="sqp",
        patterns=64,
        informative=True,
        unbounded=value,
        unbounded_covariance=np.eye(value.size) * 1e-4,
    )


def associated(joint: Joint, p_value: float = 0.0004, corrected: float | None = None) -> Table:
    """Return a table of fields that were not estimated, to be shown."""
    test = Independence("moments", 20.5, 4, p_value, 10_000)
    holm = p_value if corrected is None else corrected
    pairs = tuple(Pair(two, test, holm, holm) for two in combinations(joint.names, 2))
    about = About(
        "association",
        question="asked",
        description="What <b>\x07</b>?",
        field=", ".join(joint.names),
        mechanism="krr",
        n=10_000,
        epsilon_once=4.5,
        epochs=Epochs(EPOCH, EPOCH, 1),
        more={"fields": list(joint.names), "mechanisms": dict.fromkeys(joint.names, "krr")},
    )
    return association_table(about, Associated(joint, pairs), ("note \x1b <i>",))


def made_up(labels: tuple[tuple[str, ...], tuple[str, ...]], **test: Any) -> Table:
    """Return an association that was not estimated, to be shown."""
    shape = (len(labels[0]), len(labels[1]))
    value = np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape)
    value[0, 0] *= 4
    return associated(table(value / value.sum(), labels, ("one", "two")), **test)


def hostile() -> Table:
    """Return an association whose labels are strings that try to break out."""
    return made_up((HOSTILE, HOSTILE[::-1]))
