"""Prefix growth's epsilon, proven from the shipped encoder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.client.encoders import encoder_for
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer, PrefixesParameters
from deniable.protocol.coding_model import CharacterModel
from deniable.protocol.domain import ABSENT_KEY, string_key
from deniable.protocol.thresholds import ONE, as_fraction

MODEL = CharacterModel("ab", 7, {(): ((0, 9), (1, 3), (2, 1))}).to_bytes()
ANSWERS = [Answer(string_key(text)) for text in ("", "a", "ab", "bab")] + [Answer(ABSENT_KEY)]
SHAPES = {
    "characters": PrefixesParameters(3, (1, 3), (2, 3, 1), b"", 3, 3, 2, 3 * 2**62),
    "codes": PrefixesParameters(3, (4, 9), (1, 1, 5), MODEL, 2, 4, 1, 3 * 2**62),
    "a coin's breadth from the truth": PrefixesParameters(3, (3,), (1, 1), b"", 2, 3, 2, ONE - 1),
}


@pytest.mark.parametrize("name", SHAPES)
def test_one_report(name: str) -> None:
    shape = SHAPES[name]
    channel = report_channel(encoder_for(shape), ANSWERS)
    proof = prove_epsilon(channel, shape.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight
    assert all(sum(law.values()) == 1 for law in channel.values())


def test_group_and_cohort_do_not_depend_on_the_answer() -> None:
    shape = SHAPES["characters"]
    for law in report_channel(encoder_for(shape), ANSWERS).values():
        for group, weight in enumerate(shape.weights):
            for cohort in range(shape.cohorts):
                start = bytes([group]) + cohort.to_bytes(2, "little")
                chance = sum(p for record, p in law.items() if record.startswith(start))
                assert chance == Fraction(weight, shape.total_weight * shape.cohorts)


def test_people_of_one_level_with_one_beginning_report_alike() -> None:
    shape = SHAPES["characters"]
    channel = report_channel(encoder_for(shape), ANSWERS)
    one, other = (
        {r: p for r, p in channel[ANSWERS[place]].items() if r[0] == 0} for place in (1, 2)
    )
    assert one == other  # "a" and "ab" begin alike
    keep = as_fraction(shape.keep) / 4 * Fraction(2, 6) / 2
    assert sum(1 for p in one.values() if p == keep) == 2 * 4


def test_many_reports_have_no_epsilon() -> None:
    shape = SHAPES["characters"]
    proof = prove_epsilon(permanent_channel(encoder_for(shape), ANSWERS[:2]), 10**9)
    assert not proof.holds
    assert shape.epsilon_forever is None


def test_a_wrong_threshold_fails() -> None:
    right = SHAPES["characters"]
    wrong = replace(right, keep=right.keep + ONE // 1_000)
    channel = report_channel(encoder_for(wrong), ANSWERS)
    assert not prove_epsilon(channel, right.epsilon_once).holds
