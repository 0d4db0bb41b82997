"""The averaging attack: somebody who links all reports of a device guesses its value.

Model: the attacker knows that the value is one of two, each as likely, sees n reports and names the
likelier value. Differential privacy bounds the share of right guesses,

    P(right) <= e^eps_n / (e^eps_n + 1)

with eps_n the epsilon of n reports together: nearly 1 where every report draws afresh, and far from
it for ever where the response is permanent.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlog1py, xlogy

from deniable.audit.attack.averaging_profiles import profile_evidence
from deniable.audit.exact.unary_bits import most_held
from deniable.mechanisms.base import Codes, Floats
from deniable.privacy import epsilon_after
from deniable.protocol import (
    KRRParameters,
    NGramsParameters,
    Parameters,
    ProfileParameters,
    Question,
)
from deniable.protocol.epsilon import exp_micros
from deniable.protocol.thresholds import as_fraction
from deniable.protocol.unary import UnaryParameters


def epsilon_of_window(question: Question, parameters: Parameters, n: int) -> int:
    """Return the epsilon of n epochs of a question's reports of one value, in micros.

    A question that is asked once sends one report, and a permanent one the same report again.
    """
    if question.repeat in ("once", "permanent"):
        return parameters.epsilon_once
    return epsilon_after(parameters, n)


def bound(micros: int) -> float:
    """Return the largest share of right guesses that an epsilon allows."""
    # e^700 is the largest power of e that a float holds, about.
    odds = float(exp_micros(min(micros, 700_000_000)))
    return odds / (odds + 1)


def right_guesses(
    parameters: Parameters, n: int, permanent: bool, devices: int, rng: np.random.Generator
) -> float:
    """Return the share of devices whose likelier value of two is the true one, after n reports.

    Args:
        parameters: of the mechanism.
        n: reports of one device.
        permanent: True keeps the mechanism's permanent stage; False draws every report afresh.
        devices: simulated, each with a permanent response of its own.
        rng: the only source of randomness.
    """
    if isinstance(parameters, ProfileParameters):
        evidence = profile_evidence(parameters, n, devices, rng)
    elif isinstance(parameters, NGramsParameters):
        # Parts are independent, and the evidence of each has one law, whichever value is true.
        parts = [parameters.whole, *[parameters.gram] * parameters.grams]
        evidence = np.sum([_unary(part, n, False, devices, rng) for part in parts], axis=0)
    elif isinstance(parameters, UnaryParameters):
        evidence = _unary(parameters, n, permanent, devices, rng)
    else:
        evidence = _symbols(parameters, n, permanent, devices, rng)
    return float((evidence > 0).mean() + (evidence == 0).mean() / 2)


def _unary(
    parameters: UnaryParameters, n: int, permanent: bool, devices: int, rng: np.random.Generator
) -> Floats:
    """Return the log likelihood ratio of the true value; only bits that one value sets count."""
    mine = most_held(parameters)
    theirs = 0 if parameters.bits == 1 else min(mine, parameters.bits - mine)
    one, zero = (
        float(as_fraction(t)) for t in (parameters.permanent_one, parameters.permanent_zero)
    )
    q, p = (float(as_fraction(t)) for t in (parameters.report_one, parameters.report_zero))
    if not permanent:
        one, zero, q, p = 1.0, 0.0, float(parameters.q_star), float(parameters.p_star)
    truth = rng.random(devices) < 0.5  # which of the two values the device holds
    evidence = np.zeros(devices)
    for bits, mine_too in ((mine, True), (theirs, False)):
        chance = np.where(truth == mine_too, one, zero)
        kept = rng.random((devices, bits)) < chance[:, None]
        counts = rng.binomial(n, np.where(kept, q, p))
        held = _log_mixture(counts, n, one, q, p)
        other = _log_mixture(counts, n, zero, q, p)
        evidence += (1 if mine_too else -1) * (held - other).sum(axis=1)
    return np.asarray(np.where(truth, evidence, -evidence).round(9), dtype=np.float64)


def _log_mixture(counts: Codes, n: int, chance: float, q: float, p: float) -> Floats:
    """Return ln[a q^c (1-q)^(n-c) + (1 - a) p^c (1-p)^(n-c)]."""
    with np.errstate(divide="ignore"):
        ones = np.log(chance) + xlogy(counts, q) + xlog1py(n - counts, -q)
        zeros = np.log1p(-chance) + xlogy(counts, p) + xlog1py(n - counts, -p)
    return np.asarray(np.logaddexp(ones, zeros))


def favours(parameters: Parameters) -> tuple[float, float]:
    """Return P(a report speaks for the sender's value, not for the other), and the reverse.

    A report that supports both or neither is as likely under both values, so the difference is
    p - q. The ratio is E = e^eps. So the two are (p - q) E/(E - 1) and (p - q)/(E - 1).
    """
    p, q = parameters.support
    odds = float(exp_micros(parameters.epsilon_once))
    gap = float(p - q)
    return gap * odds / (odds - 1), gap / (odds - 1)


def _symbols(
    parameters: Parameters, n: int, permanent: bool, devices: int, rng: np.random.Generator
) -> Floats:
    """Return the true value's lead in reports; the value with more reports is the likelier."""
    if isinstance(parameters, KRRParameters) and parameters.memoised and permanent:
        return _permanent_krr(parameters, n, devices, rng)
    mine, theirs = favours(parameters)
    counts = rng.multinomial(n, [mine, theirs, max(0.0, 1 - mine - theirs)], size=devices)
    return np.asarray((counts[:, 0] - counts[:, 1]).astype(np.float64))


def _permanent_krr(
    parameters: KRRParameters, n: int, devices: int, rng: np.random.Generator
) -> Floats:
    k = parameters.categories
    keep, report = (
        float(as_fraction(t)) for t in (parameters.permanent_keep, parameters.report_keep)
    )
    move, other = (1 - keep) / (k - 1), (1 - report) / (k - 1)
    kept = rng.choice(3, p=[keep, move, max(0.0, 1 - keep - move)], size=devices)
    rates = np.array(
        [
            [report, other, 1 - report - other],
            [other, report, 1 - report - other],
            [other, other, 1 - 2 * other],
        ]
    )
    counts = rng.multinomial(n, np.clip(rates, 0, 1)[kept])
    return np.asarray((counts[:, 0] - counts[:, 1]).astype(np.float64))
