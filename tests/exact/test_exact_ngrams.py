"""The epsilon of n-grams, proven from the shipped encoder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import NGrams
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer, NGramsParameters
from deniable.protocol.domain import ABSENT_KEY, string_key
from deniable.protocol.thresholds import ONE

STRINGS = [Answer(string_key(text)) for text in ("", "a", "ab", "bba", "aba")]
QUARTER, HALF = ONE // 4, ONE // 2


def small(n: int, step: int, grams: int, *thresholds: int) -> NGramsParameters:
    return NGramsParameters(3, n, step, grams, 2, 1, 1, *thresholds)


@pytest.mark.parametrize(("n", "step", "grams"), [(2, 2, 2), (2, 1, 2), (1, 1, 2), (4, 4, 1)])
@pytest.mark.parametrize(
    "thresholds", [(3 * QUARTER, QUARTER, HALF, ONE // 8), (HALF + 1, HALF, ONE - 1, 1)]
)
def test_the_product_of_the_parts(
    n: int, step: int, grams: int, thresholds: tuple[int, ...]
) -> None:
    parameters = small(n, step, grams, *thresholds)
    answers = [*STRINGS, Answer(ABSENT_KEY)]
    channel = report_channel(encoder_for(parameters), answers)
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert all(sum(law.values()) == 1 for law in channel.values())


def test_it_is_reached_by_strings_without_a_common_bit() -> None:
    parameters = small(2, 2, 2, 3 * QUARTER, QUARTER, HALF, ONE // 8)
    shape = parameters.whole

    def bits(text: str) -> tuple[int, ...]:
        parts = parameters.parts(Answer(string_key(text)), (0, 1))
        return tuple(shape.places(part, 0)[0] for part in parts)

    texts = [a + b + c for a in "ab" for b in "ab" for c in ("", "a", "b")]
    other = {bits(text): text for text in texts}
    first = next(t for t in texts if tuple(1 - bit for bit in bits(t)) in other)
    second = other[tuple(1 - bit for bit in bits(first))]
    pair = [Answer(string_key(text)) for text in (first, second)]
    proof = prove_epsilon(report_channel(encoder_for(parameters), pair), parameters.epsilon_once)
    assert proof.tight, str(proof)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("whole", [None, 0.5])
def test_what_was_wanted_is_not_exceeded(epsilon: float, whole: float | None) -> None:
    mechanism = NGrams(alphabet="ab", length=3, epsilon=epsilon, whole=whole, bits=2, cohorts=1)
    channel = report_channel(encoder_for(mechanism.parameters), STRINGS)
    proof = prove_epsilon(channel, round(epsilon * 1e6))
    assert proof.holds, str(proof)


def test_places_and_cohort_say_nothing_about_the_answer() -> None:
    parameters = replace(small(2, 1, 2, 3 * QUARTER, QUARTER, HALF, QUARTER), length=4, cohorts=2)
    channel = report_channel(encoder_for(parameters), STRINGS[2:4])
    for law in channel.values():
        seen: dict[bytes, Fraction] = {}
        for record, probability in law.items():
            clear = record[:4]
            seen[clear] = seen.get(clear, Fraction(0)) + probability
        assert set(seen.values()) == {Fraction(1, 3 * 2)}


def test_many_reports_have_no_epsilon() -> None:
    parameters = small(2, 2, 2, 3 * QUARTER, QUARTER, HALF, QUARTER)
    proof = prove_epsilon(permanent_channel(encoder_for(parameters), STRINGS), 10**9)
    assert not proof.holds
    assert parameters.epsilon_forever is None


def test_a_wrong_threshold_fails() -> None:
    right = small(2, 2, 2, 3 * QUARTER, QUARTER, HALF, QUARTER)
    wrong = replace(right, gram_one=right.gram_one + ONE // 100)
    texts = [a + b + c for a in "ab" for b in "ab" for c in ("", "a", "b")]
    answers = [Answer(string_key(text)) for text in texts]
    assert prove_epsilon(report_channel(encoder_for(right), answers), right.epsilon_once).holds
    channel = report_channel(encoder_for(wrong), answers)
    assert not prove_epsilon(channel, right.epsilon_once).holds
