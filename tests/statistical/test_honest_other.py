"""Joint tables with "(other)" cover, whatever mechanism stands beside it.

Four answers of 70% of the people are told apart; the rest is spread over many. A yes/no field
depends on all of them. The unlisted answers are others in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from deniable.associate import Variable, estimate_joint
from deniable.associate.profile_columns import independent_bits
from deniable.mechanisms import (
    HCMS,
    KRR,
    OLH,
    ORR,
    OUE,
    PGR,
    Hadamard,
    Mechanism,
    NGrams,
    Prefixes,
    Rappor,
    Subset,
)
from deniable.protocol import MECHANISMS, ProfileParameters
from deniable.testing.statistics import accept, proportion, reject

ALPHA = 1e-9
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHARES = np.array([0.3, 0.2, 0.15, 0.05, 0.3])
YES = np.array([0.2, 0.5, 0.7, 0.4, 0.35])
TRUTH = np.stack([SHARES * (1 - YES), SHARES * YES], axis=1)
PEOPLE, UNLISTED, CLOSED = 30_000, 200, 24
OPEN: dict[str, Callable[[], Mechanism]] = {
    "rappor": lambda: Rappor(bits=64, cohorts=16, f=0.0, p=0.25, q=0.75),
    "orr": lambda: ORR(epsilon=4.0),
    "olh": lambda: OLH(epsilon=4.0),
    "olh with a pool": lambda: OLH(epsilon=4.0, seeds=65_536),
    "hcms": lambda: HCMS(epsilon=4.0),
    "pgr": lambda: PGR(epsilon=4.0),
    "ngrams": lambda: NGrams(alphabet=LETTERS, length=8, epsilon=6.0),
    "prefixes": lambda: Prefixes(epsilon=4.0, alphabet=LETTERS, length=8, people=PEOPLE),
}
LISTED: dict[str, Callable[[], Mechanism]] = {
    "krr": lambda: KRR(CLOSED, epsilon=4.0),
    "oue": lambda: OUE(CLOSED, epsilon=3.0),
    "subset": lambda: Subset(CLOSED, epsilon=3.0),
    "hadamard": lambda: Hadamard(CLOSED, epsilon=3.0),
    "pgr closed": lambda: PGR(CLOSED, epsilon=3.0),
    "rappor basic": lambda: Rappor.basic(CLOSED, f=0.0, p=0.25, q=0.75),
    "orr closed": lambda: ORR(CLOSED, epsilon=4.0),
    "hcms closed": lambda: HCMS(CLOSED, epsilon=4.0),
}


def crowd(unlisted: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return everybody's answer, 0 to 3 or an unlisted one, and the yes/no that goes with it."""
    answers = rng.choice(5, size=PEOPLE, p=SHARES)
    yes = rng.random(PEOPLE) < YES[answers]
    codes = np.where(answers < 4, answers, 4 + rng.integers(0, unlisted, PEOPLE))
    return codes, yes.astype(np.int64)


def check_covers(cells: list[np.ndarray], narrow: list[np.ndarray]) -> None:
    """Accept a coverage of 90% or more; reject intervals a third as wide, which cover half."""
    for covered, verdict in ((cells, accept), (narrow, reject)):
        found = proportion(int(np.sum(covered)), np.size(covered), 0.95, tolerance=0.05)
        verdict(found, ALPHA, **({"miss": 1e-9} if verdict is reject else {}))


def run(variables: list[Variable], cells: list[np.ndarray], narrow: list[np.ndarray]) -> None:
    joint = estimate_joint(variables)
    cells.append((joint.low <= TRUTH) & (joint.high >= TRUTH))
    narrow.append(np.abs(joint.unbounded - TRUTH) <= 1.96 / 3 * joint.std_error)


@pytest.mark.parametrize(
    ("name", "beginning"),
    [*((name, "") for name in OPEN), ("ngrams", "www"), ("prefixes", "www")],
)
def test_strings(name: str, beginning: str, rng: np.random.Generator) -> None:
    """Also where all strings begin alike, so that unlisted ones share parts with the listed."""
    mechanism, dark = OPEN[name](), KRR(2, epsilon=2.0)
    cells: list[np.ndarray] = []
    narrow: list[np.ndarray] = []
    for _ in range(25):
        ends = rng.choice(list(LETTERS), size=(4 + UNLISTED, 8 - len(beginning)))
        names = [beginning + "".join(end) for end in ends]
        codes, yes = crowd(UNLISTED, rng)
        site = Variable("site", mechanism, mechanism.simulate(codes, rng, names), tuple(names[:4]))
        run([site, Variable("dark", dark, dark.simulate(yes, rng))], cells, narrow)
    check_covers(cells, narrow)


def test_bits_of_one_string_are_not_independent(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At epsilon 8 half of the reports have no one: independent bits said three fifths."""
    mechanism, dark = Rappor(bits=32, cohorts=32, epsilon=8.0), KRR(2, epsilon=2.0)
    cells: dict[str, list[np.ndarray]] = {"sets": [], "independent": []}
    for _ in range(8):
        names = ["".join(end) for end in rng.choice(list(LETTERS), size=(4 + UNLISTED, 8))]
        codes, yes = crowd(UNLISTED, rng)
        site = Variable("site", mechanism, mechanism.simulate(codes, rng, names), tuple(names[:4]))
        both = [site, Variable("dark", dark, dark.simulate(yes, rng))]
        run(both, cells["sets"], [])
        with monkeypatch.context() as old:
            old.setattr("deniable.associate.other.bits_column", independent)
            # A field of its own: what was learned of the other one is kept with it.
            run([replace(site), both[1]], cells["independent"], [])
    for name, verdict in (("sets", accept), ("independent", reject)):
        found = proportion(int(np.sum(cells[name])), np.size(cells[name]), 0.95, tolerance=0.08)
        verdict(found, ALPHA, **({"miss": 1e-9} if verdict is reject else {}))


def independent(mechanism: Rappor) -> Callable[[np.ndarray], object]:
    """What was done before: every bit by itself."""
    return lambda profile: independent_bits(profile, mechanism.parameters.cohorts)


@pytest.mark.parametrize("name", LISTED)
def test_closed_domains(name: str, rng: np.random.Generator) -> None:
    mechanism, dark = LISTED[name](), KRR(2, epsilon=2.0)
    cells: list[np.ndarray] = []
    narrow: list[np.ndarray] = []
    for _ in range(20):
        codes, yes = crowd(CLOSED - 4, rng)
        kind = Variable("kind", mechanism, mechanism.simulate(codes, rng), ("0", "1", "2", "3"))
        run([kind, Variable("dark", dark, dark.simulate(yes, rng))], cells, narrow)
    check_covers(cells, narrow)


def test_every_mechanism_of_single_answers_is_here() -> None:
    single = {n for n, kind in MECHANISMS.items() if not issubclass(kind, ProfileParameters)}
    assert {name.split()[0] for name in (*OPEN, *LISTED)} == single
