"""Arithmetic codes: every string has one, they differ, and their digits lead back to it."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.protocol.coding import Coder, Interval, first_digits, overlap
from deniable.protocol.coding_model import MAGIC, UNIT, CharacterModel

MODEL = CharacterModel(
    "ab", 5, {(): ((0, 9), (1, 3), (2, 1)), (0,): ((1, 4),), (3,): ((0, 200), (2, 3))}
)
CODER = Coder(MODEL, 4)
EVERY = ["".join(letters) for size in range(5) for letters in product("ab", repeat=size)]


def test_the_intervals_of_all_strings_are_the_numbers_from_0_to_1() -> None:
    ends = sorted(
        (Fraction(i.low, i.whole), Fraction(i.low + i.width, i.whole))
        for i in map(CODER.interval, EVERY)
    )
    assert ends[0][0] == 0
    assert ends[-1][1] == 1
    assert all(one[1] == other[0] for one, other in pairwise(ends))


def test_codes_lie_in_their_intervals_and_are_the_shortest() -> None:
    for text in EVERY:
        i, (m, k) = CODER.interval(text), CODER.code(text)
        low, high = Fraction(i.low, i.whole), Fraction(i.low + i.width, i.whole)
        assert low <= Fraction(m, 2**k) < high
        half = 2 ** max(0, k - 1)
        shorter = [n for n in range(half) if low <= Fraction(n, half) < high]
        assert k == 0 or not shorter
        assert 2**k <= 2 * i.whole / i.width + 1


def test_likely_strings_have_short_codes() -> None:
    digits = {text: CODER.code(text)[1] for text in EVERY}
    assert digits["a"] < digits["bbbb"]
    assert len({CODER.code(text) for text in EVERY}) == len(EVERY)


@pytest.mark.parametrize("bits", [1, 3, 8, 20])
def test_the_digits_of_a_code_lead_back_to_its_string(bits: int) -> None:
    for text in EVERY:
        prefix = CODER.digits(text, bits)
        found = list(CODER.strings(prefix, bits))
        assert text in found
        assert all(CODER.digits(other, bits) == prefix for other in found)


@pytest.mark.parametrize("bits", [1, 4, 9])
def test_beginnings_are_what_all_numbers_with_these_digits_share(bits: int) -> None:
    """The slow twin: the longest common beginning of all strings whose intervals overlap."""
    for prefix in range(2**bits):
        text, ended = CODER.beginning(prefix, bits)
        near = [t for t in EVERY if overlap(CODER.interval(t), prefix, bits)]
        common = near[0]
        while not all(t.startswith(common) for t in near):
            common = common[:-1]
        assert text == common
        assert ended == (len(near) == 1)


def test_strings_come_by_their_share() -> None:
    shares = [overlap(CODER.interval(t), 0, 1) for t in islice(CODER.strings(0, 1), 4)]
    assert shares == sorted(shares, reverse=True)


@given(st.integers(0, 2**40), st.integers(0, 40), st.integers(0, 60))
def test_first_digits(m: int, k: int, bits: int) -> None:
    m %= 2**k
    assert first_digits((m, k), bits) == int(Fraction(m, 2**k) * 2**bits)


def test_overlap_is_rounded_up() -> None:
    assert overlap(Interval(0, 1, 1), 5, 3) == 2**64
    assert overlap(Interval(0, 1, 2**200), 0, 1) == 1
    assert overlap(Interval(1, 1, 2), 0, 1) == 0


@pytest.mark.parametrize("text", ["c", "aaaaa", "a\ufffd"])
def test_no_code_for_other_strings(text: str) -> None:
    with pytest.raises(InvalidAnswer):
        CODER.code(text)


def test_frequencies_interpolate_contexts() -> None:
    assert CharacterModel("ab", 1, {}).frequencies(()) == (UNIT // 3,) * 3
    empty = MODEL.frequencies(())
    assert empty == tuple((UNIT * c + 3 * (UNIT // 3)) // 16 for c in (9, 3, 1))
    after_a = MODEL.frequencies((0,))
    assert after_a == tuple((UNIT * 4 * (s == 1) + empty[s]) // 5 for s in range(3))
    assert MODEL.context_of(()) == (3,)
    assert MODEL.context_of((0,)) == (0,)
    assert MODEL.context_of((1,)) == ()


def test_a_frequency_is_never_0() -> None:
    sure = CharacterModel("ab", 1, {(0,) * size: ((0, 255),) for size in range(7)})
    assert min(sure.frequencies((0,) * 6)) == 1
    assert Coder(sure, 12).code("b" * 12)[1] > 0


GOOD = MODEL.to_bytes()


def test_models_travel() -> None:
    assert CharacterModel.from_bytes(GOOD) == MODEL


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x" + GOOD,
        GOOD[:-1],
        GOOD + b"\0",
        GOOD[: len(MAGIC)],
        GOOD.replace(b"ab", b"ba"),
        GOOD.replace(b"ab", b"a\xff"),
        GOOD[:-1] + b"\0",
        CharacterModel("ab", 0, {}).to_bytes(),
        CharacterModel("ab", 1, {(2,): ((0, 1),)}).to_bytes(),
        CharacterModel("ab", 1, {(0, 3): ((0, 1),)}).to_bytes(),
        CharacterModel("ab", 1, {(0,) * 7: ((0, 1),)}).to_bytes(),
        CharacterModel("ab", 1, {(): ((1, 1), (0, 1))}).to_bytes(),
        CharacterModel("ab", 1, {(): ((3, 1),)}).to_bytes(),
        CharacterModel("ab", 1, {(): ()}).to_bytes(),
        bytes(65_537),
    ],
)
def test_bad_models_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidParameter, match="coding model"):
        CharacterModel.from_bytes(data)
