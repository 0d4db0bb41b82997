"""Every promise of the mechanism contract, checked for any mechanism.

    failures = check_mechanism(mechanism, rng)
    assert not failures

A new mechanism gets these checks for free: exact ones on counts and records, proofs by
enumeration where the mechanism is small enough, and statistical ones that enter their
false-failure probability into the ledger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from deniable.errors import InvalidReport
from deniable.mechanisms import Counts, Mechanism, ProfileMechanism, mechanism_for
from deniable.mechanisms.base import Codes, Floats, Reports
from deniable.testing import contract_exact
from deniable.testing.statistics import ALPHA, Check, accept, mean, spread

Failures = Iterator[str]
"""A promise that is not kept, in words; nothing where all are kept."""

_PEOPLE = 400
_REPEATS = 600


@dataclass(frozen=True)
class Case:
    """A mechanism under test, with answers to simulate.

    Attributes:
        mechanism: the mechanism under test.
        candidates: the strings of an open alphabet; None for a closed domain.
        answers: the number of answers; for a profile, the answers of all its attributes.
    """

    mechanism: Mechanism
    candidates: Sequence[str] | None
    answers: int

    @classmethod
    def of(cls, mechanism: Mechanism, candidates: Sequence[str] | None) -> Case:
        """Return the case; a closed domain tells its own number of answers."""
        if candidates is not None:
            return cls(mechanism, candidates, len(candidates))
        return cls(mechanism, None, len(mechanism.estimate(mechanism.zero()).candidates))

    def codes(self, n: int) -> Codes:
        """Return n codes, the first answers more frequent than the last; for profiles, n rows."""
        records = self._records
        weights = 1 / np.arange(1, (self.answers if records is None else len(records)) + 1)
        edges = np.cumsum(weights / weights.sum())
        places: Codes = np.searchsorted(edges, (np.arange(n) + 0.5) / n).astype(np.int64)
        return places if records is None else records[places]

    @property
    def _records(self) -> Codes | None:
        """All profiles in order, where answers are profiles."""
        # Profiles are made from levels, not listed.
        if not isinstance(self.mechanism, ProfileMechanism):
            return None
        return self.mechanism.every_profile()

    def shares(self, codes: Codes) -> Floats:
        """Return the true share of every answer, or of every level of every attribute."""
        # Every attribute of a profile has shares of its own.
        if not isinstance(self.mechanism, ProfileMechanism):
            return np.asarray(np.bincount(codes, minlength=self.answers) / len(codes))
        columns = zip(codes.T, self.mechanism.answers, strict=True)
        counted = [np.bincount(column, minlength=answers) for column, answers in columns]
        return np.asarray(np.concatenate(counted) / len(codes))

    def simulate(self, n: int, rng: np.random.Generator) -> Reports:
        """Return n reports."""
        return self.mechanism.simulate(self.codes(n), rng, self.candidates)


def check_mechanism(
    mechanism: Mechanism,
    rng: np.random.Generator,
    candidates: Sequence[str] | None = None,
    *,
    variance_tolerance: float = 0.0,
    alpha: float = ALPHA,
) -> list[str]:
    """Return the promises of the contract that a mechanism breaks; none if it keeps them all.

    Guarantees: a correct mechanism fails with probability at most 6 alpha, entered into
    the ledger.

    Cost: 600 small simulations and, where there are at most a few thousand records and draws, the
    enumeration of the client's encoder.

    Args:
        mechanism: any.
        rng: the only source of randomness.
        candidates: for open alphabets, at least two strings.
        variance_tolerance: by how much the closed-form variance may be off, as a share.
        alpha: the false-failure probability of each statistical check.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import KRR
        >>> check_mechanism(KRR(2, epsilon=1.0), np.random.default_rng(1))
        []
    """
    case = Case.of(mechanism, candidates)
    promises: list[Callable[[], Failures]] = [
        lambda: _records(case, rng),
        lambda: _repeatable(case, rng),
        lambda: _counts(case, rng),
        lambda: _refusals(case, rng),
        lambda: contract_exact.parameters_travel(mechanism),
        lambda: contract_exact.channel_promises(mechanism, candidates),
        lambda: _estimates(case, rng, variance_tolerance, alpha),
        lambda: _packed(case, rng),
    ]
    return [failure for promise in promises for failure in promise()]


def _records(case: Case, rng: np.random.Generator) -> Failures:
    """Reports are wire records that the collector admits."""
    mechanism, reports = case.mechanism, case.simulate(200, rng)
    if reports.dtype != np.dtype(mechanism.parameters.layout.descr):
        yield "simulate: the dtype is not the wire record."
    if reports.dtype.itemsize != mechanism.parameters.layout.size or reports.shape != (200,):
        yield "simulate: not one wire record per value."
    try:
        for report in reports:
            mechanism.parameters.check_record(report.tobytes())
    except InvalidReport as error:
        yield f"simulate: made a record that the collector refuses: {error}"
    if case.mechanism.simulate(case.codes(0), rng, case.candidates).size:
        yield "simulate: made reports of nobody."


def _repeatable(case: Case, rng: np.random.Generator) -> Failures:
    """All randomness comes from the generator."""
    seed = int(rng.integers(2**32))
    first, second = (case.simulate(100, np.random.default_rng(seed)) for _ in range(2))
    if first.tobytes() != second.tobytes():
        yield "simulate: two runs with equal generators differ."
    try:
        seeded = case.mechanism.simulate(case.codes(100), seed, case.candidates)
        if seeded.tobytes() != first.tobytes():
            yield "simulate: an integer is not the seed of a generator."
    except (AttributeError, TypeError):
        yield "simulate: takes no integer as a seed; begin with rng = coins.as_generator(rng)."
    twin = mechanism_for(case.mechanism.parameters)
    if case.mechanism.parameters != twin.parameters or type(twin) is not type(case.mechanism):
        yield "mechanism_for: does not return the mechanism of the parameters."


def _counts(case: Case, rng: np.random.Generator) -> Failures:
    """Counts are mergeable: parts in any order and grouping give the whole."""
    mechanism, reports = case.mechanism, case.simulate(300, rng)
    whole = mechanism.accumulate(reports)
    a, b, c = (mechanism.accumulate(part) for part in np.array_split(reports, [70, 200]))
    orders = {
        "accumulate: parts merged": a.merge(b).merge(c),
        "merge: associative": a.merge(b.merge(c)),
        "merge: commutative": c.merge(b).merge(a),
        "zero: identity": mechanism.zero().merge(whole).merge(mechanism.zero()),
        "accumulate: from bytes": mechanism.accumulate(reports.tobytes()),
        "accumulate: of strided records": mechanism.accumulate(np.repeat(reports, 2)[::2]),
    }
    for promise, counts in orders.items():
        if not _same(counts, whole):
            yield f"{promise}: the counts differ."
    if whole.n != reports.size or not _same(mechanism.accumulate(reports[:0]), mechanism.zero()):
        yield "accumulate: the number of reports is wrong."


def _same(one: Counts, other: Counts) -> bool:
    return type(one) is type(other) and all(
        np.array_equal(getattr(one, part.name), getattr(other, part.name)) for part in fields(one)
    )


def _refusals(case: Case, rng: np.random.Generator) -> Failures:
    """Records that no client could have sent are refused; without reports all errors are NaN."""
    mechanism, reports = case.mechanism, case.simulate(3, rng)
    broken: list[tuple[str, Reports | bytes]] = [
        ("another dtype", np.zeros(3, dtype=[("else", "<u8")]))
    ]
    if reports.dtype.itemsize > 1:  # a record of one byte cannot be cut
        broken.append(("a cut record", reports.tobytes()[:-1]))
    for what, bad in broken:
        try:
            mechanism.accumulate(bad)
        except InvalidReport:
            continue
        yield f"accumulate: accepted {what}."
    nothing = mechanism.estimate(mechanism.zero(), case.candidates)
    if not (np.isnan(nothing.std_error).all() and nothing.notes and nothing.n == 0):
        yield "estimate: of no reports must be NaN with a note."


def _packed(case: Case, rng: np.random.Generator) -> Failures:
    """Packed bytes that each hold a few answers have the likelihoods of the reports."""
    mechanism, reports = case.mechanism, case.simulate(50, rng)
    packed = mechanism.packed_answers(reports, case.candidates)
    if packed is None:
        return
    factor = mechanism.likelihood(reports, case.candidates, log=True) - np.log(packed.lines().T)
    if not np.ptp(factor, axis=1).max() < 1e-9:
        yield "packed_answers: not the likelihoods of the reports, but for a factor of each."


def _estimates(case: Case, rng: np.random.Generator, tolerance: float, alpha: float) -> Failures:
    """Estimates are unbiased, and their variance is the closed form and the one they state."""
    mechanism, codes = case.mechanism, case.codes(_PEOPLE)
    true = case.shares(codes)
    found, stated = np.empty((_REPEATS, case.answers)), np.empty((_REPEATS, case.answers))
    for run in range(_REPEATS):
        reports = mechanism.simulate(codes, rng, case.candidates)
        estimate = mechanism.estimate(mechanism.accumulate(reports), case.candidates)
        found[run], stated[run] = estimate.frequency, estimate.variance
    closed = np.broadcast_to(mechanism.variance(_PEOPLE, true), true.shape)
    for answer in (0, case.answers - 1):  # the most and the least frequent one
        checks = _checks(
            found[:, answer] - true[answer],
            float(closed[answer]),
            float(stated[:, answer].mean()),
            tolerance,
        )
        for name, check in checks.items():
            try:
                accept(check, alpha)
            except AssertionError as error:
                yield f"{name}, answer {answer}: {error}"


def _checks(deviations: Floats, closed: float, stated: float, tolerance: float) -> dict[str, Check]:
    """Return the statistical checks of one answer's deviations from the truth."""
    # The mean of R deviations has variance closed / R; the closed form may be off by the tolerance.
    error = math.sqrt(closed * (1 + tolerance) / deviations.size)
    return {
        "estimate: unbiased": mean(float(deviations.mean()), 0.0, error),
        "variance: the closed form": spread(deviations, closed, tolerance),
        "estimate: the stated variance": spread(deviations, stated, tolerance),
    }
