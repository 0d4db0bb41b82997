"""Projective geometry response's epsilon, proven from the shipped encoder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import PGR
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer, PGRParameters
from deniable.protocol.domain import ABSENT_KEY, code_key, string_key
from deniable.protocol.projective import vector_of
from deniable.protocol.thresholds import ONE, as_fraction

STRINGS = [Answer(string_key(text)) for text in ("", "a", "b", "firefox", "chrome")]


def codes(size: int) -> list[Answer]:
    return [Answer(code_key(code), code) for code in range(size)]


@pytest.mark.parametrize(("prime", "dimension"), [(2, 2), (2, 4), (3, 3), (5, 2), (7, 3)])
@pytest.mark.parametrize("keep", [ONE // 2 + 1, 3 * 2**62, ONE - 1])
def test_closed_domains(prime: int, dimension: int, keep: int) -> None:
    points = (prime**dimension - 1) // (prime - 1)
    try:
        parameters = PGRParameters("closed", points, prime, dimension, 1, keep)
    except ValueError:
        assert Fraction(keep, ONE) * points <= (points - prime ** (dimension - 1))
        return
    channel = report_channel(encoder_for(parameters), codes(points))
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight
    assert all(sum(law.values()) == 1 for law in channel.values())


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("size", [2, 5, 13])
def test_what_was_wanted_is_not_exceeded(size: int, epsilon: float) -> None:
    parameters = PGR(size, epsilon=epsilon).parameters
    proof = prove_epsilon(
        report_channel(encoder_for(parameters), codes(size)), round(epsilon * 1e6)
    )
    assert proof.holds, str(proof)


def test_the_exact_channel_is_uniform_inside_and_outside_of_the_hyperplane() -> None:
    parameters = PGRParameters("closed", 13, 3, 3, 1, 3 * 2**62)
    keep = as_fraction(parameters.keep)
    vectors = [vector_of(number, 3, 3) for number in range(13)]
    for answer, law in report_channel(encoder_for(parameters), codes(13)).items():
        assert len(law) == 13
        for number, u in enumerate(vectors):
            product = sum(a * b for a, b in zip(u, vectors[answer.code], strict=True)) % 3
            expected = keep / 4 if product == 0 else (1 - keep) / 9
            assert law[number.to_bytes(4, "little")] == expected


def test_the_support_of_points_is_that_of_the_exact_channel() -> None:
    parameters = PGRParameters("closed", 15, 2, 4, 1, 3 * 2**62)
    channel = report_channel(encoder_for(parameters), codes(15))
    vectors = [vector_of(number, 2, 4) for number in range(15)]
    for v in (0, 7):
        found = {
            w: sum(
                channel[codes(15)[w]][u.to_bytes(4, "little")]
                for u in range(15)
                if sum(a * b for a, b in zip(vectors[u], vectors[v], strict=True)) % 2 == 0
            )
            for w in range(15)
        }
        p, q = parameters.support
        assert found == {w: p if w == v else q for w in range(15)}


def test_hashed_strings_and_the_absent_answer() -> None:
    parameters = PGRParameters("hashed", 0, 3, 3, 4, 3 * 2**62)
    channel = report_channel(encoder_for(parameters), [*STRINGS, Answer(ABSENT_KEY)])
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight
    assert parameters.support[1] == Fraction(4, 13)


def test_many_reports_have_no_epsilon() -> None:
    parameters = PGR(5, epsilon=1.0).parameters
    proof = prove_epsilon(permanent_channel(encoder_for(parameters), codes(5)), 10**9)
    assert not proof.holds
    assert parameters.epsilon_forever is None
    assert not parameters.memoised


def test_a_wrong_threshold_fails() -> None:
    right = PGR(13, epsilon=1.0).parameters
    wrong = replace(right, keep=right.keep + ONE // 1_000)
    channel = report_channel(encoder_for(wrong), codes(13))
    assert not prove_epsilon(channel, right.epsilon_once).holds
