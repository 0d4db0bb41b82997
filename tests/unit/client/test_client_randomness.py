"""The two primitives are proven by enumerating every byte they can draw."""

from __future__ import annotations

import ast
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable.client
from deniable.client.randomness import StreamDraws, SystemDraws, coins
from deniable.errors import InvalidParameter
from deniable.protocol.prf import Stream


class Exhausted(Exception):
    """The scripted bytes ended before the draw did."""


def scripted(data: bytes) -> Callable[[int], bytes]:
    left = iter(data)

    def source(count: int) -> bytes:
        taken = bytes(byte for _, byte in zip(range(count), left, strict=False))
        if len(taken) < count:
            raise Exhausted
        return taken

    return source


def outcomes(draw: Callable[[SystemDraws], object], length: int) -> Iterator[object]:
    """Every outcome over all byte strings of a length; Exhausted for those that need more."""
    for data in product(range(256), repeat=length):
        try:
            yield draw(SystemDraws(scripted(bytes(data))))
        except Exhausted:
            yield Exhausted


@pytest.mark.parametrize("threshold", range(257))
def test_a_coin_of_8_bits_is_exact(threshold: int) -> None:
    counts = Counter(outcomes(lambda draws: draws.coin(threshold, 8), 1))
    assert counts[True] == threshold
    assert counts[False] == 256 - threshold


@pytest.mark.parametrize("threshold", [0, 1, 255, 256, 257, 30_000, 65_535, 65_536])
def test_a_coin_of_16_bits_is_exact(threshold: int) -> None:
    counts = Counter(outcomes(lambda draws: draws.coin(threshold, 16), 2))
    assert Fraction(counts[True], 2**16) == Fraction(threshold, 2**16)
    assert counts[True] + counts[False] == 2**16


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 100, 128, 129, 255, 256])
def test_a_bound_of_one_byte_is_exact(bound: int) -> None:
    counts = Counter(outcomes(lambda draws: draws.below(bound), 1))
    rejected = counts.pop(Exhausted, 0)
    assert set(counts) == set(range(bound))
    assert len(set(counts.values())) == 1
    assert rejected < 128  # an attempt succeeds more often than not


def test_a_bound_of_two_bytes_is_exact() -> None:
    counts = Counter(outcomes(lambda draws: draws.below(1_000), 2))
    counts.pop(Exhausted)
    assert set(counts) == set(range(1_000))
    assert set(counts.values()) == {64}


def test_a_rejected_draw_is_drawn_again() -> None:
    assert SystemDraws(scripted(bytes([7, 6, 5, 2]))).below(5) == 2


@given(st.integers(0, 2**64), st.binary(min_size=8, max_size=8))
def test_a_lazy_coin_compares_the_whole_number(threshold: int, data: bytes) -> None:
    expected = int.from_bytes(data, "big") < threshold
    assert SystemDraws(scripted(data)).coin(threshold) == expected


@given(st.integers(1, 2**64 - 1))
def test_a_coin_equal_to_its_threshold_is_false(threshold: int) -> None:
    assert not SystemDraws(scripted(threshold.to_bytes(8, "big"))).coin(threshold)


@pytest.mark.parametrize("bits", [8, 16, 64])
def test_certain_coins_need_no_bytes(bits: int) -> None:
    draws = SystemDraws(scripted(b""))
    assert draws.coin(2**bits, bits)
    assert not draws.coin(0, bits)
    assert draws.below(1) == 0


@pytest.mark.parametrize(
    ("threshold", "bits"), [(-1, 64), (2**64 + 1, 64), (257, 8), (1, 7), (1, 32)]
)
def test_impossible_coins_are_refused(threshold: int, bits: int) -> None:
    for draws in (SystemDraws(), StreamDraws(Stream(bytes(32)))):
        with pytest.raises(InvalidParameter):
            draws.coin(threshold, bits)


@pytest.mark.parametrize("bound", [0, -1, 2**32 + 1])
def test_impossible_bounds_are_refused(bound: int) -> None:
    for draws in (SystemDraws(), StreamDraws(Stream(bytes(32)))):
        with pytest.raises(InvalidParameter):
            draws.below(bound)


def test_a_stream_coin_takes_one_word_whatever_its_threshold() -> None:
    words, draws = Stream(b"k" * 32), StreamDraws(Stream(b"k" * 32))
    for threshold, bits in ((0, 64), (2**64, 64), (2**63, 64), (100, 8), (30_000, 16)):
        expected = (words.word() >> (64 - bits)) < threshold
        assert draws.coin(threshold, bits) == expected


def test_a_stream_bound_takes_low_bits_and_one_word_per_attempt() -> None:
    words, draws = Stream(b"k" * 32), StreamDraws(Stream(b"k" * 32))
    assert draws.below(1) == 0  # takes none
    attempts = 0
    for bound in (2, 3, 5, 65_536, 2**32, 17) * 20:
        while (number := words.word() & ((1 << (bound - 1).bit_length()) - 1)) >= bound:
            attempts += 1
        assert draws.below(bound) == number
    assert attempts  # the rejection was walked through


def test_a_shuffle_is_uniform_given_uniform_bounds() -> None:
    class Choices(SystemDraws):
        def __init__(self, choices: tuple[int, ...]) -> None:
            super().__init__()
            self._choices = iter(choices)

        def below(self, bound: int) -> int:
            choice = next(self._choices)
            assert 0 <= choice < bound
            return choice

    orders = Counter()
    for choices in product(range(4), range(3), range(2)):
        items = list("abcd")
        Choices(choices).shuffle(items)
        orders["".join(items)] += 1
    assert len(orders) == 24
    assert set(orders.values()) == {1}


def test_a_forked_child_shares_no_bytes_with_its_parent() -> None:
    draws = SystemDraws()
    draws.below(256)  # now bytes are read ahead
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, bytes(draws.below(256) for _ in range(64)))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reading, 64)
    os.close(reading)
    os.close(writing)
    assert len(theirs) == 64
    assert theirs != bytes(draws.below(256) for _ in range(64))


def test_randomness_has_one_door() -> None:
    folder = Path(deniable.client.__file__).parent
    for path in folder.rglob("*.py"):
        if path.name == "randomness.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            names.append(getattr(node, "module", None) or "")
            assert not {"random", "secrets", "uuid"} & set(names), path
            assert getattr(node, "attr", "") != "urandom", path


THRESHOLDS = st.one_of(
    st.sampled_from([0, 1, 2**56 - 1, 2**56, 2**63, 2**64 - 1, 2**64]), st.integers(0, 2**64)
)


@given(st.lists(THRESHOLDS, max_size=70), st.lists(THRESHOLDS, max_size=70), st.integers(0, 999))
def test_coins_are_as_many_coins_from_the_same_bytes(
    first: list[int], second: list[int], seed: int
) -> None:
    rng = random.Random(seed)
    # Few different bytes, so that many first bytes decide nothing.
    data = bytes(rng.choice((0, 1, 127, 128, 255)) for _ in range(20_000))
    at_once, one_by_one = (SystemDraws(scripted(data)) for _ in range(2))
    at_once._ahead = one_by_one._ahead = 7  # as the system's bytes are read ahead
    for thresholds in (first, second):
        tossed = at_once.coins(thresholds)
        assert tossed == [one_by_one.coin(threshold) for threshold in thresholds]
        # Both have used the same number of bytes: the next ones are the same.
        assert at_once._take(1) == one_by_one._take(1)


@given(st.lists(THRESHOLDS, max_size=20), st.integers(0, 5), st.binary(min_size=32, max_size=32))
def test_permanent_coins_are_as_many_coins_of_the_stream(
    thresholds: list[int], before: int, key: bytes
) -> None:
    at_once, one_by_one = StreamDraws(Stream(key)), StreamDraws(Stream(key))
    for _ in range(before):
        assert at_once.below(2**32) == one_by_one.below(2**32)
    for _ in range(2):
        tossed = at_once.coins(thresholds)
        assert tossed == [one_by_one.coin(threshold) for threshold in thresholds]
    assert at_once.below(1_000) == one_by_one.below(1_000)


def test_coins_refuse_what_a_coin_refuses() -> None:
    for draws in (SystemDraws(), StreamDraws(Stream(bytes(32)))):
        for wrong in (-1, 2**64 + 1):
            with pytest.raises(InvalidParameter, match="threshold"):
                draws.coins([5, wrong])


def test_a_forked_child_tosses_none_of_its_parents_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = SystemDraws()
    draws.coin(2**63)
    ahead = draws._buffer
    assert ahead
    monkeypatch.setattr(os, "getpid", lambda: -1)
    draws.coins([2**63])
    assert not ahead.endswith(draws._buffer)


def test_only_the_clients_own_draws_are_tossed_at_once() -> None:
    class Counted(SystemDraws):
        asked = 0

        def coin(self, threshold: int, bits: int = 64) -> bool:
            Counted.asked += 1
            return super().coin(threshold, bits)

    assert coins(Counted(), [0, 2**64, 2**64]) == [False, True, True]
    assert Counted.asked == 3
    assert coins(SystemDraws(), [0, 2**64, 2**64]) == [False, True, True]


@pytest.mark.parametrize(
    "threshold", [1 << 60, (4 << 56) + 12345, (200 << 56) + 7, 2**64 - 9, 2**64]
)
def test_falling_coins_are_those_of_single_coins(threshold: int) -> None:
    """From the same bytes, the same number, and the same bytes are left; also after a tie."""
    for seed in range(60):
        together, single = SystemDraws(), SystemDraws()
        for draws in (together, single):
            stream = random.Random(seed)
            tied = threshold.to_bytes(9, "big")[1:]
            draws._source = lambda count, stream=stream, tied=tied: (
                stream.randbytes(count // 2) + tied + stream.randbytes(count)
            )[:count]
        for _ in range(5):
            fallen = 0
            while not single.coin(threshold):
                fallen += 1
            assert together.falls(threshold) == fallen
            assert together.below(2**32) == single.below(2**32)


def test_coins_that_never_come_up_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="never"):
        SystemDraws().falls(0)
