from __future__ import annotations

import math
from fractions import Fraction

import pytest

from deniable.results.disclosure.odds import believed, in_parts, sentence

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("micros", "before", "words"),
    [
        (1_098_613, HALF, "3 in 4"),
        (0, HALF, "1 in 2"),
        (4_394_450, HALF, "81 in 82"),
        (1_000_000, Fraction(1, 100), "1 in 37"),
        (4_394_450, Fraction(1, 100), "5 in 11"),
        (30_000_000, HALF, "almost certain"),
        (10**12, HALF, "almost certain"),
    ],
)
def test_known_beliefs(micros: int, before: Fraction, words: str) -> None:
    assert in_parts(believed(micros, before)) == words


@pytest.mark.parametrize("micros", [1, 1_000, 300_000, 10**6, 2_345_678, 5 * 10**6, 9 * 10**6])
@pytest.mark.parametrize("before", [HALF, Fraction(1, 3), Fraction(1, 100), Fraction(9, 10)])
def test_words_are_bayes_rule_rounded_up(micros: int, before: Fraction) -> None:
    grown = math.exp(micros / 1e6)
    exact = float(before) * grown / (float(before) * grown + 1 - float(before))
    assert float(believed(micros, before)) == pytest.approx(exact, rel=1e-12)
    share, parts = (
        int(part.replace(",", "")) for part in in_parts(believed(micros, before)).split(" in ")
    )
    assert share / parts >= exact - 1e-6
    assert share / parts <= exact + 0.012
    assert (1 - share / parts) >= (1 - exact) * 0.9


def test_sentences() -> None:
    assert sentence(1_098_613, HALF) == (
        "somebody who thought 1 in 2 could at most come to believe 3 in 4"
    )
    assert sentence(30_000_000, HALF) == "somebody who thought 1 in 2 could become almost certain"
