"""The epsilons of optimised unary encoding, proven from the shipped encoder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import OUE
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer
from deniable.protocol.domain import code_key
from deniable.protocol.thresholds import ONE


def answers(count: int) -> list[Answer]:
    return [Answer(code_key(code), code) for code in range(count)]


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_one_stage(count: int, epsilon: float) -> None:
    parameters = OUE(count, epsilon=epsilon).parameters
    encoder, every = encoder_for(parameters), answers(count)
    channel = report_channel(encoder, every)
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight
    assert epsilon * 1e6 - 2 <= parameters.epsilon_once <= epsilon * 1e6
    assert all(sum(distribution.values()) == 1 for distribution in channel.values())
    assert not prove_epsilon(permanent_channel(encoder, every), 10**9).holds


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(("once", "forever"), [(0.5, 1.0), (1.0743, 4.394)])
def test_two_stages(count: int, once: float, forever: float) -> None:
    parameters = OUE(count, epsilon=once, epsilon_forever=forever).parameters
    encoder, every = encoder_for(parameters), answers(count)
    for proof, asked in (
        (prove_epsilon(report_channel(encoder, every), parameters.epsilon_once), once),
        (prove_epsilon(permanent_channel(encoder, every), parameters.epsilon_forever), forever),
    ):
        assert proof.holds, str(proof)
        assert proof.tight
        assert proof.claimed is not None
        assert asked * 1e6 - 2 <= proof.claimed <= asked * 1e6


def test_the_chain_is_again_the_best_one_stage() -> None:
    """The permanent stage is free: q* is 1/2 exactly, and p* that of the one-stage form."""
    chained = OUE(3, epsilon=1.0, epsilon_forever=3.0).parameters
    alone = OUE(3, epsilon=1.0).parameters
    assert chained.q_star == Fraction(1, 2)
    assert float(chained.p_star) == pytest.approx(float(alone.p_star), abs=1e-15)


@pytest.mark.parametrize("name", ["report_zero", "permanent_zero"])
def test_a_wrong_threshold_fails(name: str) -> None:
    right = OUE(3, epsilon=1.0, epsilon_forever=2.0).parameters
    wrong = replace(right, **{name: getattr(right, name) - ONE // 1_000})
    encoder = encoder_for(wrong)
    if name == "report_zero":
        assert not prove_epsilon(report_channel(encoder, answers(3)), right.epsilon_once).holds
    else:
        exact = permanent_channel(encoder, answers(3))
        assert not prove_epsilon(exact, right.epsilon_forever).holds
