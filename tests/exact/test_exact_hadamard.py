"""The epsilon of Hadamard response, proven from the shipped encoder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import Hadamard
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer
from deniable.protocol.domain import code_key
from deniable.protocol.thresholds import ONE, as_fraction


def answers(count: int) -> list[Answer]:
    return [Answer(code_key(code), code) for code in range(count)]


@pytest.mark.parametrize("count", [2, 3, 8, 13])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_one_report(count: int, epsilon: float) -> None:
    parameters = Hadamard(count, epsilon=epsilon).parameters
    encoder, every = encoder_for(parameters), answers(count)
    channel = report_channel(encoder, every)
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight
    assert epsilon * 1e6 - 2 <= parameters.epsilon_once <= epsilon * 1e6
    assert all(sum(distribution.values()) == 1 for distribution in channel.values())
    assert not prove_epsilon(permanent_channel(encoder, every), 10**9).holds


def test_a_report_supports_another_answer_with_probability_one_half() -> None:
    parameters = Hadamard(7, epsilon=1.5).parameters
    channel = report_channel(encoder_for(parameters), answers(7))
    keep = as_fraction(parameters.keep)
    for sender, distribution in channel.items():
        for other in range(7):
            supports = Fraction(0)
            for record, probability in distribution.items():
                coefficient, sign = int.from_bytes(record[:4], "little"), record[4]
                if f"{coefficient & other:b}".count("1") % 2 == sign:
                    supports += probability
            assert supports == (keep if other == sender.code else Fraction(1, 2))


def test_a_wrong_threshold_fails() -> None:
    right = Hadamard(4, epsilon=1.0).parameters
    wrong = replace(right, keep=right.keep + ONE // 1_000)
    channel = report_channel(encoder_for(wrong), answers(4))
    assert not prove_epsilon(channel, right.epsilon_once).holds
