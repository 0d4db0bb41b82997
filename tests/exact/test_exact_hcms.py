"""The Hadamard count-mean sketch's epsilon, proven from the shipped encoder."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import HCMS
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer
from deniable.protocol.domain import ABSENT_KEY, code_key, string_key
from deniable.protocol.thresholds import ONE, as_fraction

STRINGS = [Answer(string_key(text)) for text in ("", "a", "b", "firefox", "chrome")]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize(("rows", "width"), [(1, 16), (3, 4), (2, 8)])
def test_strings_and_the_absent_answer(rows: int, width: int, epsilon: float) -> None:
    parameters = HCMS(epsilon=epsilon, rows=rows, width=width).parameters
    channel = report_channel(encoder_for(parameters), [*STRINGS, Answer(ABSENT_KEY)])
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight
    assert parameters.epsilon_once <= epsilon * 1e6
    assert all(sum(law.values()) == 1 for law in channel.values())


def test_closed_domains_hash_codes() -> None:
    parameters = HCMS(6, epsilon=1.0, rows=2, width=16).parameters
    answers = [Answer(code_key(code), code) for code in range(5)]
    absent = Answer(ABSENT_KEY, 5)
    channel = report_channel(encoder_for(parameters), [*answers, absent])
    assert prove_epsilon(channel, parameters.epsilon_once).tight
    assert (
        channel[absent]
        == report_channel(encoder_for(parameters), [same := Answer(code_key(5), 5)])[same]
    )


def test_the_exact_channel_is_one_sign_of_the_hadamard_matrix() -> None:
    parameters = HCMS(epsilon=1.0, rows=2, width=4).parameters
    keep = as_fraction(parameters.keep)
    matrix = [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]
    for answer, law in report_channel(encoder_for(parameters), STRINGS).items():
        for row in range(2):
            for a in range(4):
                true = matrix[a][parameters.bucket(answer, row)]
                for sign in (0, 1):
                    record = bytes([row, 0, a, 0, 0, 0, sign])
                    kept = true == (1, -1)[sign]
                    assert law[record] == (keep if kept else 1 - keep) / 8


def test_many_reports_have_no_epsilon() -> None:
    parameters = HCMS(epsilon=1.0, rows=1, width=8).parameters
    proof = prove_epsilon(permanent_channel(encoder_for(parameters), STRINGS), 10**9)
    assert not proof.holds
    assert parameters.epsilon_forever is None


def test_a_wrong_threshold_fails() -> None:
    right = HCMS(epsilon=1.0, rows=2, width=8).parameters
    wrong = replace(right, keep=right.keep + ONE // 1_000)
    channel = report_channel(encoder_for(wrong), STRINGS)
    assert not prove_epsilon(channel, right.epsilon_once).holds
