"""The epsilon of subset selection, proven from the shipped encoder."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import Subset
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer
from deniable.protocol.domain import code_key
from deniable.protocol.thresholds import ONE, as_fraction

SHAPES = [(2, 1), (3, 1), (3, 2), (5, 2), (6, 3), (9, 2)]


def answers(count: int) -> list[Answer]:
    return [Answer(code_key(code), code) for code in range(count)]


@pytest.mark.parametrize(("count", "size"), SHAPES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_one_report(count: int, size: int, epsilon: float) -> None:
    parameters = Subset(count, epsilon=epsilon, size=size).parameters
    encoder = encoder_for(parameters)
    channel = report_channel(encoder, answers(count))
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight
    assert epsilon * 1e6 - 2 <= parameters.epsilon_once <= epsilon * 1e6
    assert not prove_epsilon(permanent_channel(encoder, answers(count)), 10**9).holds


@pytest.mark.parametrize(("count", "size"), SHAPES)
def test_floyd_makes_every_set_equally_likely(count: int, size: int) -> None:
    parameters = Subset(count, epsilon=1.0, size=size).parameters
    keep = as_fraction(parameters.keep)
    for answer, distribution in report_channel(encoder_for(parameters), answers(count)).items():
        assert len(distribution) == comb(count, size)
        for record, probability in distribution.items():
            parameters.check_record(record)
            if int.from_bytes(record, "little") >> answer.code & 1:
                assert probability == keep / comb(count - 1, size - 1)
            else:
                assert probability == (1 - keep) / comb(count - 1, size)


def test_a_wrong_threshold_fails() -> None:
    right = Subset(5, epsilon=1.0).parameters
    wrong = replace(right, keep=right.keep + ONE // 1_000)
    channel = report_channel(encoder_for(wrong), answers(5))
    assert not prove_epsilon(channel, right.epsilon_once).holds
