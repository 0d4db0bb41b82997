"""Published reference values that belong to no single file: noise of one report, audits' bounds.

Those of shuffling, of leverage and of reports over time stand with their code.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.audit.sample.epsilon_bound import lower_bound
from deniable.mechanisms import OUE, Rappor
from deniable.protocol import Parameters

PAPER = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75).parameters
BOTH = {"epsilon": 1.0743, "epsilon_forever": 4.394}


def noise(parameters: Parameters, hashes: int = 1) -> float:
    """n Var of a rare answer's share: p*(1 - p*) / (h (q* - p*)^2)."""
    q, p = parameters.support
    return float(p * (1 - p) / (hashes * (q - p) ** 2))


def test_the_noise_of_two_stages() -> None:
    """Mathematics, section 6, at (4.394, 1.0743): 3.15, basic RAPPOR 3.38, the paper's 7.88."""
    assert noise(OUE(9, **BOTH).parameters) == pytest.approx(3.15, abs=0.005)
    root = math.exp(1.0743 / 2)
    q = root / (1 + root)  # of a report; f = 0.2 for e^(4.394 / 2) = 9
    fresh = (q - 0.1) / 0.8
    basic = Rappor.basic(9, f=0.2, p=1 - fresh, q=fresh).parameters
    assert basic.epsilon_once / 1e6 == pytest.approx(1.0743, abs=1e-4)
    assert basic.epsilon_forever is not None
    assert basic.epsilon_forever / 1e6 == pytest.approx(4.394, abs=1e-3)
    assert noise(basic) == pytest.approx(3.38, abs=0.006)
    assert noise(PAPER, hashes=2) == pytest.approx(7.88, abs=0.006)
    assert (PAPER.epsilon_once, PAPER.epsilon_forever) == (1_074_286, 4_394_450)


def expected_bound(answers: int, trials: int, level: float) -> float:
    """The lower bound on epsilon 1 where k-RR happens exactly as often as it is expected to.

    The first halves choose the event, so that twice the trials are handed over.
    """
    kept = Fraction(math.e) / (Fraction(math.e) + answers - 1)
    moved = (1 - kept) / (answers - 1)
    scores = []
    for shares in ((kept, moved), (moved, kept)):
        counts = [round(trials * share) for share in shares]
        half = np.repeat([1.0, -1.0, 0.0], [*counts, trials - sum(counts)])
        scores.append(np.concatenate([half, half]))
    return lower_bound(scores[0], scores[1], level)


@pytest.mark.parametrize(("answers", "bound"), [(2, 0.9956), (15, 0.988), (100, 0.968)])
def test_a_million_trials_of_each_answer(answers: int, bound: float) -> None:
    """Mathematics, section 7: 0.988 for epsilon 1 at a million trials.

    The text does not say of what. k-RR of 15 answers has it at 95%; a yes or no has 0.996."""
    assert expected_bound(answers, 10**6, 0.05) == pytest.approx(bound, abs=5e-4)
