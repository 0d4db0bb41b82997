"""O-RR's epsilon, proven from the shipped encoder: hashed and permuted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import ORR
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer
from deniable.protocol.domain import ABSENT_KEY, code_key, string_key
from deniable.protocol.thresholds import ONE, as_fraction

STRINGS = [Answer(string_key(text)) for text in ("", "a", "b", "firefox", "chrome")]


def codes(size: int) -> list[Answer]:
    return [Answer(code_key(code), code) for code in range(size)]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("symbols", [2, 3, 7])
def test_hashed_strings(symbols: int, epsilon: float) -> None:
    parameters = ORR(epsilon=epsilon, symbols=symbols, cohorts=8).parameters
    answers = [*STRINGS, Answer(ABSENT_KEY)]
    channel = report_channel(encoder_for(parameters), answers)
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight
    assert parameters.epsilon_once <= epsilon * 1e6
    assert all(sum(law.values()) == 1 for law in channel.values())


@pytest.mark.parametrize(("size", "symbols"), [(2, 2), (5, 3), (6, 6), (7, 2)])
def test_permuted_codes(size: int, symbols: int) -> None:
    parameters = ORR(size, epsilon=1.0, symbols=symbols, cohorts=6).parameters
    channel = report_channel(encoder_for(parameters), codes(size))
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight


def test_the_exact_channel_is_keep_and_move_in_each_cohort() -> None:
    parameters = ORR(5, epsilon=1.0, symbols=3, cohorts=4).parameters
    keep = as_fraction(parameters.keep)
    for answer, law in report_channel(encoder_for(parameters), codes(5)).items():
        for cohort in range(4):
            true = parameters.symbol(answer, cohort)
            for symbol in range(3):
                record = cohort.to_bytes(2, "little") + symbol.to_bytes(2, "little")
                expected = keep if symbol == true else (1 - keep) / 2
                assert law[record] == expected / 4


def test_the_support_is_the_average_over_cohorts_of_random_permutations() -> None:
    """c counts pairs: over all permutations of 5 answers to classes of sizes 2, 2, 1."""
    parameters = ORR(5, epsilon=1.0, symbols=3, cohorts=4).parameters
    keep = as_fraction(parameters.keep)
    shared = Fraction(2 * 2 + 0, 5 * 4)
    assert parameters.support == (keep, shared * keep + (1 - shared) * (1 - keep) / 2)


def test_many_reports_have_no_epsilon() -> None:
    parameters = ORR(epsilon=1.0, symbols=3, cohorts=2).parameters
    proof = prove_epsilon(permanent_channel(encoder_for(parameters), STRINGS), 10**9)
    assert not proof.holds
    assert parameters.epsilon_forever is None
    assert not parameters.memoised


def test_a_wrong_threshold_fails() -> None:
    right = ORR(epsilon=1.0, symbols=3, cohorts=4).parameters
    wrong = replace(right, keep=right.keep + ONE // 1_000)
    channel = report_channel(encoder_for(wrong), STRINGS)
    assert not prove_epsilon(channel, right.epsilon_once).holds
