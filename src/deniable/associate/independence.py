"""Tests of independence between variables that are known by noisy reports alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable import _validate
from deniable._distributions import chi2_sf
from deniable.associate.few_scores import spread_of
from deniable.associate.joint import (
    Joint,
    Told,
    check_options,
    joint_of_patterns,
    marginal_fits,
    told_of,
)
from deniable.associate.other import DEFAULT_PROFILE
from deniable.associate.patterns import Patterns, check_variables, patterns_of
from deniable.associate.scores import moments_test, score_statistic
from deniable.associate.variable import Variable
from deniable.associate.wald import bootstrap_score, bootstrap_test, wald_test
from deniable.decode.significance import bh_adjusted, holm_adjusted
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms.base import Floats

FEW_EXPECTED = 1.0
"""People expected in a cell below which the chi-square of a test does not hold."""
MOST_DRAWN = 20_000
"""The most reports for which populations are drawn instead."""
SPARSE = (
    "Some combinations would have fewer than 1 person if the fields were independent: the p-value "
    "is from 199 populations drawn that way, not from a chi-square, and so never below 0.005."
)
FEW_TELL = (
    "Few reports tell most of what goes together: the p-value is from a chi-square with the "
    "statistic's own variance, which is {spread:.3g} times that of a plain one."
)
METHODS = ("default", "score", "moments", "wald", "bootstrap")
DEFAULT_METHOD = "score"


@dataclass(frozen=True)
class Independence:
    """The outcome of a test of independence.

    Attributes:
        method: "score", "moments", "wald" or "bootstrap".
        statistic: large where the variables depend on each other.
        dof: degrees of freedom of its chi-square distribution under independence.
        p_value: P(a statistic as large | independence).
        n: reports.
        notes: caveats for the reader.
        spread: how many times as much as chi-square the statistic varies (`few_scores`).
    """

    method: str
    statistic: float
    dof: int
    p_value: float
    n: int
    notes: tuple[str, ...] = ()
    spread: float = 1.0

    def p_of(self, statistic: float) -> float:
        """Return P(a statistic as large | independence), from its chi-square."""
        return chance_of(statistic, self.dof, self.spread)


def chance_of(statistic: float, dof: int, spread: float) -> float:
    """Return P(f times a chi-square of dof / f degrees is as large), f the spread."""
    return float(chi2_sf(statistic / spread, max(1, dof) / spread))


@one_thread
def independence(
    variables: Sequence[Variable],
    *,
    method: str = "default",
    rng: np.random.Generator | None = None,
    profile: str = DEFAULT_PROFILE,
) -> Independence:
    """Test that two variables are independent; three or more: mutually independent.

    Methods: "score" (the default) and "moments" need no joint fit, see `scores`; "wald" is the
    paper's test on the joint fit and "bootstrap" a parametric one, both as references, see `wald`.

    Accuracy: the measured levels and powers stand in docs/associate.md.

    Edge cases: a note says when the joint fit behind "wald" has cells at 0, where its chi-square
        is not to be trusted.

    Args:
        variables: two or more.
        method: "default", "moments", "score", "wald" or "bootstrap".
        rng: for the bootstrap only.
        profile: of "(other)", see `other`.

    Raises:
        InvalidParameter: if the variables cannot be analysed together, there is no such method, or
            the bootstrap has no generator.

    Example:
        >>> import numpy as np
        >>> from deniable.associate import Variable
        >>> from deniable.mechanisms import KRR
        >>> rng = np.random.default_rng(1)
        >>> m, dark = KRR(2, epsilon=2.0), rng.integers(2, size=20_000)
        >>> small = np.where(rng.random(20_000) < 0.8, dark, 1 - dark)
        >>> answers = {"dark": dark, "small": small}
        >>> pair = [Variable(name, m, m.simulate(codes, rng)) for name, codes in answers.items()]
        >>> independence(pair).p_value < 1e-9
        True
    """
    _check_method(method, rng)
    patterns = patterns_of(variables, profile=profile)
    return independence_of_patterns(variables, patterns, method=method, rng=rng, profile=profile)


def _check_method(method: str, rng: np.random.Generator | None) -> None:
    if method not in METHODS:
        raise _validate.invalid("method", "independence", f"one of {', '.join(METHODS)}", method)
    if method == "bootstrap" and rng is None:
        raise InvalidParameter(
            "The bootstrap draws populations: pass 'rng', a numpy.random.Generator."
        )


def is_sparse(margins: Sequence[Floats], n: int) -> bool:
    """Tell whether a test needs drawn populations: too few people expected in a cell.

    Edge cases: above 20,000 reports it is False, since sums of that many are normal enough.
    """
    rarest = n * float(np.prod([margin.min() for margin in margins]))
    return n <= MOST_DRAWN and rarest < FEW_EXPECTED


@one_thread
def independence_of_patterns(
    variables: Sequence[Variable],
    patterns: Patterns,
    *,
    method: str = "default",
    rng: np.random.Generator | None = None,
    margins: Sequence[Floats] | None = None,
    profile: str = DEFAULT_PROFILE,
    told: Told | None = None,
) -> Independence:
    """Test independence from likelihoods, and perhaps margins and more, known already."""
    asked, method = method, DEFAULT_METHOD if method == "default" else method
    notes: tuple[str, ...] = ()
    spread = 1.0
    if method == "score":
        fits = marginal_fits(patterns) if margins is None else margins
        if asked == "default" and is_sparse(fits, int(patterns.n)):
            method, notes = "bootstrap", (SPARSE,)
            drawn = rng or np.random.default_rng(0)
            found = bootstrap_score(variables, patterns, fits, drawn, profile)
        else:
            spread = spread_of(patterns, fits)
            statistic, dof = score_statistic(patterns, fits)
            found = statistic, dof, chance_of(statistic, dof, spread)
            if spread > 1:
                notes = (FEW_TELL.format(spread=spread),)
    elif method == "moments":
        found = moments_test(patterns)
    elif method == "bootstrap" and rng is not None:
        found = bootstrap_test(variables, patterns, rng, profile)
    else:
        joint = joint_of_patterns(variables, patterns, profile=profile, told=told)
        found, at_bound = wald_test(joint), int((joint.probability <= 0).sum())
        if at_bound:
            notes = (f"{at_bound} cells are at 0: the chi-square of this test does not hold.",)
    statistic, dof, p_value = found
    return Independence(method, statistic, dof, p_value, int(patterns.n), notes, spread)


@one_thread
def associate(
    variables: Sequence[Variable],
    *,
    solver: str = "sqp",
    level: float = 0.95,
    method: str = "default",
    profile: str = DEFAULT_PROFILE,
    rng: np.random.Generator | None = None,
    spend: bool = False,
) -> tuple[Joint, Independence]:
    """Return the joint distribution and a test of independence, sharing their work.

    The same results as `estimate_joint` and `independence`, in less time than one after the other:
    the reports' likelihoods and the variables' own fits are computed once.

    Args:
        variables: two or more.
        solver: as in `estimate_joint`.
        level: of the intervals.
        method: as in `independence`.
        profile: of "(other)".
        rng: for the bootstrap only.
        spend: as in `patterns_of`: let go of the reports of wide fields in the list `variables`
            once they are read. Of ten million reports of two Bloom filters that is 360 MB.

    Example:
        >>> import numpy as np
        >>> from deniable.associate import Variable
        >>> from deniable.mechanisms import KRR
        >>> rng = np.random.default_rng(1)
        >>> m, dark = KRR(2, epsilon=2.0), rng.integers(2, size=20_000)
        >>> small = np.where(rng.random(20_000) < 0.8, dark, 1 - dark)
        >>> answers = {"dark": dark, "small": small}
        >>> pair = [Variable(name, m, m.simulate(codes, rng)) for name, codes in answers.items()]
        >>> joint, test = associate(pair)
        >>> bool((joint.low <= joint.probability).all()), test.dof
        (True, 1)
    """
    check_options(solver, level)
    _check_method(method, rng)
    told = told_of(variables, profile)
    patterns = patterns_of(variables, profile=profile, spend=spend)
    margins = marginal_fits(patterns)
    joint = joint_of_patterns(
        variables, patterns, solver=solver, level=level, margins=margins, told=told
    )
    test = independence_of_patterns(
        variables, patterns, method=method, rng=rng, margins=margins, profile=profile, told=told
    )
    return joint, test


@dataclass(frozen=True)
class Pair:
    """One pair of many, with p-values corrected for their number.

    Attributes:
        names: of the two variables.
        test: of these two alone.
        holm: the p-value by Holm's method: P(any wrong claim) stays below it.
        bh: by Benjamini and Hochberg: the share of wrong claims stays below it.
    """

    names: tuple[str, str]
    test: Independence
    holm: float
    bh: float


@one_thread
def independence_of_pairs(
    variables: Sequence[Variable],
    *,
    method: str = "default",
    profile: str = DEFAULT_PROFILE,
    rng: np.random.Generator | None = None,
) -> tuple[Pair, ...]:
    """Test every pair of variables, and correct for how many there are.

    Args:
        variables: two or more.
        method: as in `independence`.
        profile: as in `independence`.
        rng: as in `independence`.

    Raises:
        InvalidParameter: as `independence`.
    """
    pairs = list(itertools.combinations(variables, 2))
    if not pairs:
        check_variables(variables)
    tests = [independence(pair, method=method, profile=profile, rng=rng) for pair in pairs]
    values = np.array([test.p_value for test in tests])
    holm, bh = holm_adjusted(values), bh_adjusted(values)
    return tuple(
        Pair((one.name, two.name), test, float(strict), float(share))
        for (one, two), test, strict, share in zip(pairs, tests, holm, bh, strict=True)
    )
