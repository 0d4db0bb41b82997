"""Tests of hypotheses for tests of code: accept what is true, reject what is not, and say alpha.

    accept(proportion(successes, trials, 0.5), alpha=1e-8)
    reject(proportion(successes, trials, 0.6), alpha=1e-8, miss=1e-9)

`accept` fails when the data contradict a hypothesis that should be true; correct code fails it
with probability at most alpha. `reject` is the negative control: it fails when the data do not
contradict a hypothesis that is wrong by a known amount, which happens with probability `miss`
(1 - power). Both probabilities go into the ledger. The tests themselves are those of the audits.
"""

from __future__ import annotations

from importlib.util import find_spec

from deniable.errors import MissingExtra

if find_spec("numpy") is None or find_spec("scipy") is None:
    raise MissingExtra("analysis", "Testing hypotheses")

from deniable.audit.hypotheses import (
    Check,
    goodness_of_fit,
    homogeneity,
    mean,
    proportion,
    spread,
)
from deniable.testing.ledger import LEDGER, Ledger

__all__ = [
    "ALPHA",
    "LEDGER",
    "Check",
    "accept",
    "goodness_of_fit",
    "homogeneity",
    "mean",
    "proportion",
    "reject",
    "spread",
]

ALPHA = 1e-9
"""The default false-failure probability of a check."""


def accept(check: Check, alpha: float = ALPHA, ledger: Ledger = LEDGER) -> None:
    """Fail if the data contradict a hypothesis that should be true.

    Guarantees: enters alpha into the ledger, whatever the outcome.

    Raises:
        AssertionError: if the p-value is below alpha (or not a number).
    """
    ledger.add(alpha)
    if not check.p_value >= alpha:
        raise AssertionError(f"Rejected at alpha = {alpha:.3g}: {check}.")


def reject(check: Check, alpha: float = ALPHA, *, miss: float, ledger: Ledger = LEDGER) -> None:
    """Fail if the data do not contradict a hypothesis that is wrong: a negative control.

    Guarantees: enters `miss` into the ledger, whatever the outcome.

    Args:
        check: the check of the wrong hypothesis.
        alpha: as in the `accept` that this controls.
        miss: the probability that this control fails although the code is right: 1 - power.
        ledger: where `miss` is entered.

    Raises:
        AssertionError: if the p-value is not below alpha: the test has no power.
    """
    ledger.add(miss)
    if not check.p_value < alpha:
        raise AssertionError(
            f"Not rejected at alpha = {alpha:.3g} (which correct code does with probability "
            f"{miss:.3g} only): {check}."
        )
