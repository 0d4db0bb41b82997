"""Shares of single answers: coverage, family-wise error, false share; exact where binomial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from _honesty.grid import Cell, Measured, closed_shares, over_runs, share, shares_of
from deniable._distributions import binomial_pmf
from deniable.authoring import resolve
from deniable.decode import decode
from deniable.decode.binomial import Form
from deniable.decode.reading import Reading, read
from deniable.errors import InvalidParameter
from deniable.mechanisms import (
    HCMS,
    KRR,
    OLH,
    ORR,
    OUE,
    PGR,
    Counts,
    Estimate,
    Hadamard,
    Mechanism,
    Members,
    NGrams,
    Prefixes,
    Rappor,
    Subset,
    mechanism_for,
)
from deniable.protocol import KRRParameters, Sets
from deniable.protocol.thresholds import ONE, as_fraction

ANSWERS, UNLISTED, MOST = 20, 200, 2
LETTERS, LENGTH = "abcdefghijklmnopqrstuvwxyz", 6
NAMES = Sets(tuple(str(i) for i in range(ANSWERS)), MOST)
Make = Callable[[float, int], Mechanism]


def _sets(name: str, **more: object) -> Make:
    def make(epsilon: float, _: int) -> Mechanism:
        parameters = resolve(name, {"epsilon": epsilon, **more}, NAMES, False)
        return Members(mechanism_for(parameters), NAMES, False)

    return make


BINOMIAL: dict[str, Make] = {
    "krr": lambda e, _: KRR(ANSWERS, epsilon=e),
    "oue": lambda e, _: OUE(ANSWERS, epsilon=e),
    "subset": lambda e, _: Subset(ANSWERS, epsilon=e),
    "hadamard": lambda e, _: Hadamard(ANSWERS, epsilon=e),
    "rappor basic": lambda e, _: Rappor.basic(ANSWERS, epsilon=e),
    "pgr closed": lambda e, _: PGR(ANSWERS, epsilon=e),
    "sets by draw": _sets("krr"),
    "sets by bit": _sets("oue", per="bit"),
    "olh": lambda e, _: OLH(epsilon=e),
}
"""Within one epoch the number of supporting reports is binomial."""
OTHERS: dict[str, Make] = {
    "krr permanent": lambda e, _: KRR(ANSWERS, epsilon=e, epsilon_forever=2 * e),
    "oue permanent": lambda e, _: OUE(ANSWERS, epsilon=e, epsilon_forever=2 * e),
    "rappor permanent": lambda e, _: Rappor(bits=64, cohorts=8, epsilon=e, epsilon_forever=2 * e),
    "rappor permuted": lambda e, _: Rappor.permuted(ANSWERS, bits=8, cohorts=16, epsilon=e),
    "orr closed": lambda e, _: ORR(ANSWERS, epsilon=e),
    "hcms closed": lambda e, _: HCMS(ANSWERS, epsilon=e),
    "rappor": lambda e, _: Rappor(bits=64, cohorts=16, epsilon=e),
    "olh with a pool": lambda e, _: OLH(epsilon=e, seeds=4_096),
    "orr": lambda e, _: ORR(epsilon=e),
    "hcms": lambda e, _: HCMS(epsilon=e),
    "pgr": lambda e, _: PGR(epsilon=e),
    "prefixes": lambda e, n: Prefixes(
        epsilon=e, alphabet=LETTERS, length=LENGTH, people=max(n, 100)
    ),
    "ngrams": lambda e, _: NGrams(alphabet=LETTERS, length=LENGTH, epsilon=e, cohorts=8),
}
MECHANISMS = {**BINOMIAL, **OTHERS}
PERMANENT = ("krr permanent", "oue permanent", "rappor permanent")


@cache
def mechanism_of(name: str, epsilon: float, people: int) -> Mechanism:
    """Return a mechanism of the grid."""
    return MECHANISMS[name](epsilon, people)


def truth_of(cell: Cell) -> np.ndarray:
    """Return the share of the population that holds each answer asked about."""
    if cell.mechanism.startswith("sets"):
        first = shares_of(cell.population, ANSWERS)
        first = first / first.sum()
        left = np.maximum(1 - first, 1e-300)
        # Half of the people draw a second, other name.
        second = first * ((first / left).sum() - first / left)
        return first + 0.5 * np.where(first < 1, second, 0.0)
    if mechanism_of(cell.mechanism, cell.epsilon, cell.people).hashed:
        return shares_of(cell.population, ANSWERS)
    return closed_shares(cell.population, ANSWERS)


def exact(cell: Cell, form: Form = "mid-p") -> list[Measured]:
    """Return the coverage of every distinct share, computed from the binomial distribution."""
    mechanism, n = mechanism_of(cell.mechanism, cell.epsilon, cell.people), cell.people
    names = [f"exact {i}" for i in range(ANSWERS)] if mechanism.hashed else None
    one = mechanism.estimate(mechanism.zero().merge(_some(mechanism, names)), names).chances
    # A pool of 2^32 hash functions is as good as none.
    if one is None or one.shared.max() > 1e-6:
        raise InvalidParameter(f"The counts of {cell.mechanism} are not binomial.")
    counts = np.arange(n + 1)
    alike = replace(
        one, **{name: np.full(n + 1, getattr(one, name)[0]) for name in ("chance", "gap", "shared")}
    )
    frequency = (counts / n - alike.chance) / alike.gap
    labels = tuple(map(str, counts))
    found = Estimate(labels, frequency, np.ones(n + 1), None, n, chances=alike)
    low, high = read(found, Reading(form=form)).interval(0.05)
    covered, truth = [], truth_of(cell)
    for held in truth:
        law = binomial_pmf(counts, n, alike.chance[0] + alike.gap[0] * held)
        inside = (low <= held + 1e-12) & (held <= high + 1e-12)
        covered.append(float(law[inside].sum() / law.sum()))
    return [
        Measured("exact coverage", float(np.mean(covered)), 0.0, 0),
        Measured("least exact coverage", float(np.min(covered)), 0.0, 0),
    ]


def _some(mechanism: Mechanism, names: list[str] | None) -> Counts:
    values = (
        np.zeros((1, MOST), dtype=np.int64)
        if isinstance(mechanism, Members)
        else np.zeros(1, dtype=np.int64)
    )
    return mechanism.accumulate(mechanism.simulate(values, np.random.default_rng(0), names))


def simulated(cell: Cell, runs: int) -> list[Measured]:
    """Return coverage, family-wise error of Holm and false share of Storey, over runs."""
    mechanism, truth = mechanism_of(cell.mechanism, cell.epsilon, cell.people), truth_of(cell)
    again = float(cell.epochs)
    noise = again if cell.mechanism in PERMANENT else 1.0
    reading, rng = Reading(noise=noise, people=again), cell.rng
    covered, family, false, informed, held = [], [], [], [], []
    absent = truth == 0
    for _ in range(runs):
        counts, listed = crowd(mechanism, cell, rng)
        found = decode(mechanism, counts, listed, reading=reading)
        known = np.isfinite(found.low)
        inside = (found.low <= truth + 1e-12) & (truth <= found.high + 1e-12)
        covered.append(share(inside[known]))
        held.append(share(inside[known & ~absent]))
        informed.append(share(known & ((found.low > 0) | (found.high < 1))))
        family.append(float(found.holm[absent].any()) if absent.any() else np.nan)
        false.append(float(found.storey[absent].sum()) / max(1, int(found.storey.sum())))
    return [
        *over_runs("coverage", covered, len(truth)),
        *over_runs("coverage of held answers", held, int((~absent).sum())),
        *over_runs("family-wise error", family),
        *over_runs("false share", false if absent.any() else []),
        *over_runs("informed", informed),
    ]


def crowd(
    mechanism: Mechanism, cell: Cell, rng: np.random.Generator
) -> tuple[Counts, list[str] | None]:
    """Return the counts of people drawn from the population, and the answers asked about."""
    n = cell.people
    if isinstance(mechanism, Members):
        values, names = _held_sets(shares_of(cell.population, ANSWERS), n, rng), None
    elif mechanism.hashed:
        # Strings of its own in every run, so that hash functions are drawn anew; many unlisted.
        letters = rng.choice(list(LETTERS), size=(ANSWERS + UNLISTED, LENGTH))
        names = ["".join(row) for row in letters]
        names = list(dict.fromkeys(names))
        listed = shares_of(cell.population, ANSWERS)
        codes = rng.choice(ANSWERS + 1, size=n, p=[*listed, max(0.0, 1 - listed.sum())])
        values = np.where(codes < ANSWERS, codes, rng.integers(ANSWERS, len(names), n))
    else:
        values, names = rng.choice(ANSWERS, size=n, p=closed_shares(cell.population, ANSWERS)), None
    if cell.mechanism in PERMANENT and cell.epochs > 1:
        counts = permanent(mechanism, values, cell.epochs, rng, names)
    else:
        again = np.concatenate([values] * cell.epochs)
        counts = mechanism.accumulate(mechanism.simulate(again, rng, names))
    if names is not None:
        return counts, names[:ANSWERS]
    labels = [str(i) for i in range(ANSWERS)] if isinstance(mechanism, Hadamard) else None
    return counts, labels


def _held_sets(shares: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a row of names per person; half of those who can have a second one do."""
    rows = np.full((n, MOST), ANSWERS, dtype=np.int64)
    rows[:, 0] = rng.choice(ANSWERS, size=n, p=shares / shares.sum())
    rest = 1 - shares[rows[:, 0]] / shares.sum()
    again = (rng.random(n) < 0.5) & (rest > 0)
    while again.any():
        rows[again, 1] = rng.choice(ANSWERS, size=int(again.sum()), p=shares / shares.sum())
        again &= rows[:, 0] == rows[:, 1]
    return rows


def permanent(
    mechanism: Mechanism,
    values: np.ndarray,
    epochs: int,
    rng: np.random.Generator,
    names: list[str] | None,
) -> Counts:
    """Return the counts of several epochs of the same devices, whose permanent answers stay."""
    whole, kind = mechanism.parameters, type(mechanism)
    if isinstance(whole, KRRParameters):
        kept = kind.from_parameters(replace(whole, report_keep=ONE))
        symbols = kept.simulate(values, rng)[kept.dtype.names[0]].astype(np.int64)
        fresh = kind.from_parameters(replace(whole, permanent_keep=ONE))
        counts = fresh.accumulate(fresh.simulate(np.concatenate([symbols] * epochs), rng))
        return replace(counts, digest=mechanism.digest)
    kept = kind.from_parameters(replace(whole, report_one=ONE, report_zero=0))
    held = kept.accumulate(kept.simulate(values, rng, names))
    q, p = (float(as_fraction(getattr(whole, name))) for name in ("report_one", "report_zero"))
    # Given the permanent bits, a bit's ones of all epochs are binomial.
    ones, zeros = held.table, held.reports[:, None] - held.table
    table = rng.binomial(epochs * ones, q) + rng.binomial(epochs * zeros, p)
    return Counts(epochs * held.reports, table, digest=mechanism.digest)
