"""Joint tables beside unlisted strings that few cohorts do not average out, and popular ones.

Three strings are listed, most people hold others, and a yes/no field depends on all of them. On
which bits, symbols or n-grams' bits the others fall is new in every run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deniable.associate import Joint, Variable, conditional, estimate_joint
from deniable.mechanisms import HCMS, KRR, ORR, Mechanism, NGrams, Rappor
from deniable.testing.statistics import Check, accept, proportion, reject

ALPHA = 1e-9
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LISTED = np.array([0.4, 0.3, 0.3])
YES = np.array([0.2, 0.5, 0.7, 0.35])
PEOPLE = 20_000
HARD: dict[str, tuple[Callable[[], Mechanism], float, int]] = {
    "rappor": (lambda: Rappor(bits=32, cohorts=8, epsilon=8.0), 0.8, 20),
    "orr": (lambda: ORR(epsilon=3.0), 0.8, 1),
    "ngrams": (
        lambda: NGrams(alphabet=LETTERS, length=6, epsilon=8.0, bits=32, cohorts=8),
        0.8,
        3,
    ),
    "hcms": (lambda: HCMS(epsilon=8.0, rows=4, width=32), 0.8, 3),
}
"""A mechanism, the share of people whose string is not listed, and how many such strings are."""


def fields_of(
    mechanism: Mechanism, unlisted: float, strings: int, rng: np.random.Generator
) -> list[Variable]:
    names = ["".join(row) for row in rng.choice(list(LETTERS), size=(3 + strings, 6))]
    answers = rng.choice(4, size=PEOPLE, p=np.append((1 - unlisted) * LISTED, unlisted))
    codes = np.where(answers < 3, answers, rng.integers(3, 3 + strings, PEOPLE))
    dark, says = KRR(2, epsilon=4.0), (rng.random(PEOPLE) < YES[answers]).astype(np.int64)
    return [
        Variable("site", mechanism, mechanism.simulate(codes, rng, names), tuple(names[:3])),
        Variable("dark", dark, dark.simulate(says, rng)),
    ]


def without_placement(joint: Joint) -> np.ndarray:
    """What errors were before: those of people and their noise."""
    assert joint.placement is not None
    return np.sqrt(np.diag(joint.unbounded_covariance - joint.placement.unbounded))


@pytest.mark.parametrize("name", HARD)
def test_where_strings_fall_is_part_of_the_errors(name: str, rng: np.random.Generator) -> None:
    make, unlisted, strings = HARD[name]
    mechanism, shares = make(), np.append((1 - unlisted) * LISTED, unlisted)
    truth = np.stack([shares * (1 - YES), shares * YES], axis=1)
    cells, before, given = [], [], []
    for _ in range(24):
        joint = estimate_joint(fields_of(mechanism, unlisted, strings, rng))
        cells.append((joint.low <= truth) & (truth <= joint.high))
        off = np.abs(joint.unbounded - truth).reshape(-1)
        before.append(off <= 1.96 * without_placement(joint))
        found, yes = conditional(joint, "dark", "site"), np.stack([1 - YES, YES], axis=1)
        given.append((found.low <= yes) & (yes <= found.high))
    for covered in (cells, given):
        accept(_share(covered), ALPHA)
    reject(_share(before), ALPHA, miss=1e-9)


def _share(covered: list[np.ndarray]) -> Check:
    return proportion(int(np.sum(covered)), np.size(covered), 0.95, tolerance=0.08)


@pytest.mark.parametrize("epsilon", [3.0, 8.0])
def test_a_popular_string_that_nobody_listed(epsilon: float, rng: np.random.Generator) -> None:
    """A fifth of the people hold it; the control are errors a third as wide."""
    mechanism = Rappor(bits=128, hashes=2, cohorts=16, epsilon=epsilon)
    shares = np.append(0.8 * LISTED, 0.2)
    truth = np.stack([shares * (1 - YES), shares * YES], axis=1)
    cells, narrow = [], []
    for _ in range(30):
        joint = estimate_joint(fields_of(mechanism, 0.2, 1, rng))
        cells.append((joint.low <= truth) & (truth <= joint.high))
        narrow.append(np.abs(joint.unbounded - truth) <= 1.96 / 3 * joint.std_error)
    accept(_share(cells), ALPHA)
    reject(_share(narrow), ALPHA, miss=1e-9)


def test_popular_strings_that_share_bits_with_listed_ones(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 64 bits of eight strings some six are a listed string's, and stand out less there."""
    mechanism = Rappor(bits=32, cohorts=8, epsilon=8.0)
    shares = np.append(0.4 * LISTED, 0.6)
    truth = np.stack([shares * (1 - YES), shares * YES], axis=1)
    cells, narrow, before = [], [], []
    for _ in range(60):
        fields = fields_of(mechanism, 0.6, 8, rng)
        joint = estimate_joint(fields)
        cells.append((joint.low <= truth) & (truth <= joint.high))
        narrow.append(np.abs(joint.unbounded - truth) <= 1.96 / 3 * joint.std_error)
        with monkeypatch.context() as old:
            old.setattr("deniable.associate.other.as_peaks", lambda off, noise, sure: 1.0 * sure)
            fields[0].learned.clear()
            joint = estimate_joint(fields)
        before.append((joint.low <= truth) & (truth <= joint.high))
    accept(proportion(int(np.sum(cells)), np.size(cells), 0.95, tolerance=0.12), ALPHA)
    reject(proportion(int(np.sum(narrow)), np.size(narrow), 0.95, tolerance=0.12), ALPHA, miss=1e-9)
    # 67% of cells of the same tables, 89% now: six standard errors of 60 runs.
    assert np.mean(before) < np.mean(cells)
