"""O-RAPPOR of closed domains: the epsilons of RAPPOR hold with permutations, too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import Rappor
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer
from deniable.protocol.domain import code_key
from deniable.protocol.thresholds import ONE


def codes(size: int) -> list[Answer]:
    return [Answer(code_key(code), code) for code in range(size)]


@pytest.mark.parametrize(("size", "bits", "hashes"), [(5, 3, 1), (6, 2, 1), (4, 4, 2)])
def test_both_epsilons(size: int, bits: int, hashes: int) -> None:
    mechanism = Rappor.permuted(size, bits=bits, hashes=hashes, cohorts=2, f=0.5, p=0.5, q=0.75)
    parameters, encoder = mechanism.parameters, encoder_for(mechanism.parameters)
    answers = codes(size)[:3]
    once = prove_epsilon(report_channel(encoder, answers), parameters.epsilon_once)
    forever = prove_epsilon(permanent_channel(encoder, answers), parameters.epsilon_forever)
    assert once.holds, str(once)
    assert forever.holds, str(forever)
    if hashes == 1:  # with two, these answers share a bit in every cohort
        assert once.tight
        assert forever.tight


def test_a_wrong_threshold_fails() -> None:
    right = Rappor.permuted(5, bits=3, cohorts=2, epsilon=1.0).parameters
    wrong = replace(right, report_one=right.report_one + ONE // 1_000)
    exact = report_channel(encoder_for(wrong), codes(5))
    assert not prove_epsilon(exact, right.epsilon_once).holds
