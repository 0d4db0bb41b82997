"""What the tests of associations have in common: a question of several fields, and its crowd."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.associate import Derived, Independence, Joint, Pair
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.candidates import every_code
from deniable.mechanisms.records import join_records
from deniable.protocol import Question
from deniable.protocol.domain import Absent
from deniable.results import Association, Epochs
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


def made_up(labels: tuple[tuple[str, ...], tuple[str, ...]]) -> Association:
    """Return an association that was not estimated, to be shown."""
    shape = (len(labels[0]), len(labels[1]))
    value = np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape)
    joint = table(value / value.sum(), labels, ("one", "two"))
    share = joint.probability / joint.probability.sum(axis=1, keepdims=True)
    error = np.full(shape, 0.02)
    given = Derived(("one", "two"), labels, share, error, share - 0.04, share + 0.04)
    odds = np.full(shape, 1.0)
    odds[0, 0] = 3.0
    ratio = Derived(("one", "two"), labels, odds, error, odds / 1.5, odds * 1.5)
    test = Independence("moments", 20.5, 4, 0.0004, 10_000)
    return Association(
        question="asked",
        version=1,
        description="What <b>\x07</b>?",
        fields=("one", "two"),
        mechanisms={"one": "krr", "two": "rappor"},
        n=10_000,
        epsilon_once=4.5,
        epochs=Epochs(EPOCH, EPOCH, 1),
        joint=joint,
        conditionals=(given,),
        pairs=(Pair(("one", "two"), test, 0.0004, 0.0004),),
        odds=ratio,
        notes=("note \x1b <i>",),
    )


def hostile() -> Association:
    """Return an association whose labels are strings that try to break out."""
    return made_up((HOSTILE, HOSTILE[::-1]))
