"""RAPPOR's epsilons, proven from the shipped encoder: a bit, and whole small reports."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import count

import pytest

from deniable.client.encoders import Draws, encoder_for
from deniable.mechanisms import Rappor
from deniable.privacy.proof import (
    channel,
    fresh_channel,
    permanent_channel,
    prove_epsilon,
    report_channel,
)
from deniable.protocol import Answer, RapporParameters
from deniable.protocol.domain import ABSENT_KEY, code_key, string_key
from deniable.protocol.epsilon import epsilon_of
from deniable.protocol.hashing import bloom_bits
from deniable.protocol.thresholds import ONE, as_fraction

LETTERS = [(0.5, 0.5, 0.75), (0.25, 0.35, 0.65), (0.5, 0.0, 1.0), (0.1, 0.2, 0.9)]
NO, YES = Answer(code_key(0), 0), Answer(code_key(1), 1)


def codes(size: int) -> list[Answer]:
    return [Answer(code_key(code), code) for code in range(size)]


def strings_that_differ(parameters: RapporParameters, cohort: int) -> list[Answer]:
    """Return two strings that share no bit in a cohort and repeat none: the worst that can be."""
    found: dict[frozenset[int], Answer] = {}
    for i in count():
        answer = Answer(string_key(f"string {i}"))
        places = bloom_bits(answer.words, cohort, parameters.hashes, parameters.bits)
        bits = frozenset(places)
        if len(bits) < parameters.hashes:
            continue
        for other, first in found.items():
            if not bits & other:
                return [first, answer]
        found[bits] = answer
    raise AssertionError("unreachable: count() does not end")


@pytest.mark.parametrize(("f", "p", "q"), LETTERS)
def test_one_bit_permanent_instantaneous_and_chained(f: float, p: float, q: float) -> None:
    parameters = Rappor.basic(f=f, p=p, q=q).parameters
    encoder = encoder_for(parameters)
    permanent = prove_epsilon(permanent_channel(encoder, [NO, YES]), parameters.epsilon_forever)
    chained = prove_epsilon(report_channel(encoder, [NO, YES]), parameters.epsilon_once)
    for proof in (permanent, chained):
        assert proof.holds, str(proof)
        assert proof.tight
    half = as_fraction(parameters.permanent_zero)
    assert permanent.worst == (1 - half) / half
    fresh = prove_epsilon(fresh_channel(encoder, [NO, YES]), None)
    one, zero = as_fraction(parameters.report_one), as_fraction(parameters.report_zero)
    if zero > 0:
        assert fresh.worst == max(one / zero, (1 - zero) / (1 - one))
    else:
        assert fresh.worst is None  # the permanent response itself is sent


@pytest.mark.parametrize(("f", "p", "q"), LETTERS)
def test_one_bit_of_many_is_one_factor_of_the_theorems(f: float, p: float, q: float) -> None:
    """The bit of a report that two answers set differently, by itself."""
    parameters = Rappor.basic(2, f=f, p=p, q=q).parameters
    encoder = encoder_for(parameters)

    def first_bit(answer: Answer, draws: Draws) -> int:
        return encoder.encode(answer, draws, draws, draws)[2] & 1

    exact = channel(first_bit, codes(2))
    assert exact[codes(2)[0]][1] == parameters.q_star
    assert exact[codes(2)[1]][1] == parameters.p_star


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize(("f", "p", "q"), LETTERS[:3])
def test_whole_basic_reports(bits: int, f: float, p: float, q: float) -> None:
    parameters = Rappor.basic(bits, f=f, p=p, q=q).parameters
    encoder = encoder_for(parameters)
    answers = codes(bits)[:2]  # by symmetry every pair of answers is alike
    chained = report_channel(encoder, answers)
    assert sum(chained[answers[0]].values()) == 1
    for proof in (
        prove_epsilon(chained, parameters.epsilon_once),
        prove_epsilon(permanent_channel(encoder, answers), parameters.epsilon_forever),
    ):
        assert proof.holds, str(proof)
        assert proof.tight


@pytest.mark.parametrize(("bits", "hashes"), [(2, 1), (3, 1), (4, 1), (4, 2)])
def test_whole_bloom_reports(bits: int, hashes: int) -> None:
    mechanism = Rappor(bits=bits, hashes=hashes, cohorts=2, f=0.5, p=0.5, q=0.75)
    parameters, encoder = mechanism.parameters, encoder_for(mechanism.parameters)
    answers = strings_that_differ(parameters, cohort=1)
    chained = prove_epsilon(report_channel(encoder, answers), parameters.epsilon_once)
    permanent = prove_epsilon(permanent_channel(encoder, answers), parameters.epsilon_forever)
    for proof in (chained, permanent):
        assert proof.holds, str(proof)
        assert proof.tight


def test_any_strings_and_the_absent_answer_stay_within_the_promise() -> None:
    parameters = Rappor(bits=3, hashes=2, cohorts=2, epsilon=1.0, epsilon_forever=2.0).parameters
    answers = [Answer(string_key(text)) for text in ("", "a", "b", "firefox")]
    answers.append(Answer(ABSENT_KEY))
    encoder = encoder_for(parameters)
    assert prove_epsilon(report_channel(encoder, answers), parameters.epsilon_once).holds
    forever = prove_epsilon(permanent_channel(encoder, answers), parameters.epsilon_forever)
    assert forever.holds
    assert parameters.epsilon_once <= 1_000_000
    assert (parameters.epsilon_forever or 0) <= 2_000_000


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_one_time_basic(epsilon: float) -> None:
    for parameters in (
        Rappor.basic(epsilon=epsilon).parameters,
        Rappor.basic(3, epsilon=epsilon).parameters,
    ):
        encoder, answers = encoder_for(parameters), codes(max(2, parameters.bits))
        proof = prove_epsilon(report_channel(encoder, answers), parameters.epsilon_once)
        assert proof.holds
        assert proof.tight
        assert proof.claimed is not None
        assert proof.claimed <= epsilon * 1e6
        assert parameters.epsilon_forever is None
        assert not prove_epsilon(permanent_channel(encoder, answers), 10**9).holds


@pytest.mark.parametrize("name", ["report_one", "report_zero"])
def test_a_wrong_threshold_fails(name: str) -> None:
    right = Rappor.basic(3, f=0.5, p=0.5, q=0.75).parameters
    step = ONE // 1_000 * (1 if name == "report_one" else -1)
    wrong = replace(right, **{name: getattr(right, name) + step})
    exact = report_channel(encoder_for(wrong), codes(3))
    assert not prove_epsilon(exact, right.epsilon_once).holds


def test_a_wrong_permanent_threshold_fails() -> None:
    right = Rappor.basic(2, f=0.5, p=0.5, q=0.75).parameters
    wrong = replace(right, permanent_one=right.permanent_one + ONE // 1_000)
    exact = permanent_channel(encoder_for(wrong), codes(2))
    assert not prove_epsilon(exact, right.epsilon_forever).holds


def test_known_numbers() -> None:
    """The paper's parameters: 1.0743 once and 4.394 for ever [EPK14]."""
    mechanism = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
    assert mechanism.epsilon == pytest.approx(1.0743, abs=5e-5)
    assert mechanism.epsilon_forever == pytest.approx(4.394, abs=5e-4)
    assert mechanism.parameters.q_star == Fraction(11, 16)
    assert mechanism.parameters.p_star == Fraction(9, 16)
    bit = Rappor.basic(2, f=0.5, p=0.5, q=0.75).parameters
    proof = prove_epsilon(report_channel(encoder_for(bit), codes(2)), None)
    assert proof.worst is not None
    assert epsilon_of(proof.worst**2) == mechanism.parameters.epsilon_once
