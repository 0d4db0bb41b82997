from __future__ import annotations

from fractions import Fraction

from deniable.client.encoders.base import Draws, Encoder
from deniable.privacy import fresh_channel, permanent_channel, report_channel
from deniable.protocol import Answer

YES, NO = Answer(b"yes", 1), Answer(b"no", 0)


class TwoCoins(Encoder):
    """A permanent coin of 3/4 or 1/4, flipped with 1/8 in each report; and a cohort of two."""

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        number = cohort.below(2)
        held = permanent.coin(3 if answer.code else 1, bits=2)
        return bytes([number, held ^ fresh.coin(1, bits=3)])


def test_one_report_chains_everything() -> None:
    chained = report_channel(TwoCoins(), [YES, NO])
    one = Fraction(3, 4) * Fraction(7, 8) + Fraction(1, 4) * Fraction(1, 8)
    assert chained[YES] == {
        bytes([cohort, bit]): (one if bit else 1 - one) / 2 for cohort in (0, 1) for bit in (0, 1)
    }


def test_what_is_permanent_is_the_law_of_the_reports() -> None:
    permanent = permanent_channel(TwoCoins(), [YES, NO])
    assert sorted(permanent[YES].values()) == [Fraction(1, 8)] * 2 + [Fraction(3, 8)] * 2
    for law in permanent[YES]:
        assert sorted(dict(law).values()) == [Fraction(1, 8), Fraction(7, 8)]
        assert len({record[0] for record in dict(law)}) == 1


def test_the_fresh_stage_given_what_is_permanent() -> None:
    fresh = fresh_channel(TwoCoins(), [YES, NO])
    assert len(fresh) == 4  # two cohorts times two permanent coins
    assert all(sum(distribution.values()) == 1 for distribution in fresh.values())


class FreshOnly(Encoder):
    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        return bytes([fresh.coin(3 if answer.code else 1, bits=2)])


def test_without_a_permanent_stage_each_answer_has_its_own_law() -> None:
    permanent = permanent_channel(FreshOnly(), [YES, NO])
    assert [len(permanent[answer]) for answer in (YES, NO)] == [1, 1]
    assert permanent[YES].keys() != permanent[NO].keys()
