"""k-RR's epsilon, proven from the shipped encoder: one report, and any number of reports."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import KRR
from deniable.privacy.proof import (
    fresh_channel,
    permanent_channel,
    prove_epsilon,
    report_channel,
)
from deniable.protocol import Answer, KRRParameters
from deniable.protocol.domain import code_key
from deniable.protocol.thresholds import ONE


def answers(count: int) -> list[Answer]:
    return [Answer(code_key(code), code) for code in range(count)]


@pytest.mark.parametrize("count", [2, 3, 5, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_one_stage(count: int, epsilon: float) -> None:
    parameters = KRR(count, epsilon=epsilon).parameters
    channel = report_channel(encoder_for(parameters), answers(count))
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight
    assert parameters.epsilon_once <= epsilon * 1e6
    for distribution in channel.values():
        assert sum(distribution.values()) == 1


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize(("once", "forever"), [(0.5, 1.0), (1.0, 4.0)])
def test_two_stages(count: int, once: float, forever: float) -> None:
    parameters = KRR(count, epsilon=once, epsilon_forever=forever).parameters
    encoder, every = encoder_for(parameters), answers(count)
    chained = prove_epsilon(report_channel(encoder, every), parameters.epsilon_once)
    permanent = prove_epsilon(permanent_channel(encoder, every), parameters.epsilon_forever)
    for proof in (chained, permanent):
        assert proof.holds, str(proof)
        assert proof.tight
    fresh = prove_epsilon(fresh_channel(encoder, every), None)
    keep = Fraction(parameters.report_keep, ONE)
    assert fresh.worst == keep * (count - 1) / (1 - keep)


def test_the_exact_channel_is_keep_and_move() -> None:
    parameters = KRR(4, epsilon=1.0, epsilon_forever=2.0).parameters
    channel = report_channel(encoder_for(parameters), answers(4))
    for answer, distribution in channel.items():
        for symbol in range(4):
            expected = parameters.keep if symbol == answer.code else parameters.move
            assert distribution[symbol.to_bytes(4, "little")] == expected


def test_without_a_permanent_stage_many_reports_have_no_epsilon() -> None:
    parameters = KRR(3, epsilon=1.0).parameters
    proof = prove_epsilon(permanent_channel(encoder_for(parameters), answers(3)), 10**9)
    assert proof.worst is None
    assert not proof.holds
    assert parameters.epsilon_forever is None


def test_a_wrong_threshold_fails() -> None:
    right = KRR(5, epsilon=1.0).parameters
    wrong = replace(right, report_keep=right.report_keep + ONE // 1_000)
    channel = report_channel(encoder_for(wrong), answers(5))
    assert not prove_epsilon(channel, right.epsilon_once).holds


def test_a_wrong_permanent_threshold_fails() -> None:
    right = KRR(3, epsilon=1.0, epsilon_forever=2.0).parameters
    wrong = replace(right, permanent_keep=right.permanent_keep + ONE // 1_000)
    channel = permanent_channel(encoder_for(wrong), answers(3))
    assert not prove_epsilon(channel, right.epsilon_forever).holds


def test_thresholds_are_as_large_as_the_wanted_epsilon_allows() -> None:
    parameters = KRR(2, epsilon=1.0).parameters
    larger = KRRParameters(2, ONE, parameters.report_keep + 2)
    channel = report_channel(encoder_for(larger), answers(2))
    assert not prove_epsilon(channel, 1_000_000).holds
