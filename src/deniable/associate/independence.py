"""Tests of independence between variables of which only noisy reports are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.associate.variable import Variable


@dataclass(frozen=True)
class Independence:
    """The outcome of a test of independence.

    Attributes:
        method: "score", "moments", "wald" or "bootstrap".
        statistic: large where the variables depend on each other.
        dof: degrees of freedom of its chi-square distribution under independence.
        p_value: P(a statistic as large | independence).
        n: reports.
        notes: what a reader must know.
    """

    method: str
    statistic: float
    dof: int
    p_value: float
    n: int
    notes: tuple[str, ...] = ()


def independence(
    variables: Sequence[Variable],
    *,
    method: str = "default",
    rng: np.random.Generator | None = None,
) -> Independence:
    """Test that two variables are independent; three or more: mutually independent.

    Args:
        variables: two or more.
        method: "default", "moments", "score", "wald" or "bootstrap".
        rng: for the bootstrap.
    """
    raise NotImplementedError


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


def independence_of_pairs(
    variables: Sequence[Variable], *, method: str = "default"
) -> tuple[Pair, ...]:
    """Test every pair of variables, and correct for how many there are."""
    raise NotImplementedError
