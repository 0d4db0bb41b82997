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
from deniable.mechanisms.base import Codes, Floats
from deniable.privacy import epsilon_after
from deniable.protocol import Parameters, ProfileParameters, Question
from deniable.protocol.channel import (
    Bits,
    Points,
    Product,
    Rest,
    Sign,
    Subset,
    Symbol,
    unknown_kind,
)
from deniable.protocol.epsilon import exp_micros


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
    rest = parameters.channel.typical
    # Answers that cannot be listed have no pair whose reports differ on average alone: the two
    # profiles that differ most are compared, public part by public part.
    if isinstance(parameters, ProfileParameters):
        evidence = profile_evidence(parameters, n, devices, rng)
    else:
        evidence = _evidence(rest, parameters, n, permanent, devices, rng)
    return float((evidence > 0).mean() + (evidence == 0).mean() / 2)


def _evidence(
    rest: Rest,
    parameters: Parameters,
    n: int,
    permanent: bool,
    devices: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the log likelihood ratio of the true value, or its lead in reports, by kind."""
    match rest:
        case Bits():
            return _bits(rest, n, permanent, devices, rng)
        case Product():
            # Parts are independent, and the evidence of each has one law, whichever value is true.
            parts = [_evidence(part, parameters, n, False, devices, rng) for part in rest.parts]
            return np.asarray(np.sum(parts, axis=0))
        case Symbol() if parameters.memoised and permanent and rest.stages:
            return _permanent_symbols(*rest.stages, n, devices, rng)
        case Symbol() | Sign() | Subset() | Points():
            return _symbols(parameters, n, devices, rng)
    raise unknown_kind("averaging attack", rest)


def _bits(rest: Bits, n: int, permanent: bool, devices: int, rng: np.random.Generator) -> Floats:
    """Return the log likelihood ratio of the true value; only bits that one value sets count."""
    mine = rest.most
    theirs = 0 if rest.width == 1 else min(mine, rest.width - mine)
    one, zero, q, p = 1.0, 0.0, float(rest.one), float(rest.zero)
    if permanent and rest.stages:
        first, then = rest.stages
        one, zero, q, p = (float(c) for c in (first.one, first.zero, then.one, then.zero))
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


def _symbols(parameters: Parameters, n: int, devices: int, rng: np.random.Generator) -> Floats:
    """Return the true value's lead in reports; the value with more reports is the likelier."""
    mine, theirs = favours(parameters)
    counts = rng.multinomial(n, [mine, theirs, max(0.0, 1 - mine - theirs)], size=devices)
    return np.asarray((counts[:, 0] - counts[:, 1]).astype(np.float64))


def _permanent_symbols(
    first: Symbol, then: Symbol, n: int, devices: int, rng: np.random.Generator
) -> Floats:
    """Return the true value's lead in reports of one permanent response."""
    keep, report = float(first.keep), float(then.keep)
    move, other = (1 - keep) / (first.size - 1), (1 - report) / (first.size - 1)
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
