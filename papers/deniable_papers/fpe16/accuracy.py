"""How far the estimated joint distribution is from the true one, over many crowds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from deniable.associate import Joint, Variable, estimate_joint, hellinger
from deniable.mechanisms.base import Floats, Reports
from deniable_papers.base import Options, Value
from deniable_papers.fpe16.pairs import as_reports, channel, draw_pairs, mechanism_for

S = TypeVar("S")
MOST_PATTERN_BITS = 12
"""Up to this number of bits, both reports together are drawn as a table of all patterns."""


@dataclass(frozen=True)
class Setting:
    """A pair of variables with closed domains.

    Attributes:
        kind: of both mechanisms, one of fpe16_pairs.KINDS.
        shape: the number of answers of each variable.
        epsilon: what each variable's report spends.
        people: of one crowd.
    """

    kind: str
    shape: tuple[int, int]
    epsilon: float
    people: int


@dataclass(frozen=True)
class Fitted:
    """One crowd's estimate against the truth.

    Attributes:
        hellinger: the distance of the two tables.
        inside: the share of cells whose interval holds the truth.
        gap: the certificate of the fit, per report.
    """

    hellinger: float
    inside: float
    gap: float


def swept(
    options: Options,
    settings: Sequence[S],
    row: Callable[[S, Options, np.random.SeedSequence], dict[str, Value]],
) -> list[dict[str, Value]]:
    """Return a row per setting, each with randomness of its own."""
    seeds = np.random.SeedSequence(options.seed).spawn(len(settings))
    return [
        row(setting, options, seed)
        for setting, seed in zip(options.steps(settings), seeds, strict=True)
    ]


def fit(setting: Setting, truth: Floats, rng: np.random.Generator) -> Fitted:
    """Draw a crowd, fit its reports and compare."""
    joint = estimate_joint(variables(setting, truth, rng))
    return compared(joint, truth)


def compared(joint: Joint, truth: Floats) -> Fitted:
    """Return how far an estimate is from the truth."""
    inside = (joint.low <= truth) & (truth <= joint.high)
    return Fitted(
        hellinger(joint.probability, truth), float(inside.mean()), joint.gap / max(1, joint.n)
    )


def variables(setting: Setting, truth: Floats, rng: np.random.Generator) -> list[Variable]:
    """Return the two variables of a crowd drawn from this truth."""
    reports = _reports(setting, truth, rng)
    return [
        Variable(name, mechanism_for(setting.kind, size, setting.epsilon), part)
        for name, size, part in zip(("x", "y"), setting.shape, reports, strict=True)
    ]


def _reports(setting: Setting, truth: Floats, rng: np.random.Generator) -> tuple[Reports, Reports]:
    if setting.kind == "krr" or sum(setting.shape) <= MOST_PATTERN_BITS:
        one, other = (channel(setting.kind, size, setting.epsilon) for size in setting.shape)
        return as_reports(draw_pairs(truth, one, other, setting.people, rng), one, other)
    held = rng.multinomial(setting.people, truth.ravel() / truth.sum())
    x, y = np.divmod(np.repeat(np.arange(truth.size), held), truth.shape[1])
    first, second = (mechanism_for(setting.kind, k, setting.epsilon) for k in setting.shape)
    return first.simulate(x, rng), second.simulate(y, rng)
