"""The client's two primitives, proven by taking every possible byte of their source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest

from deniable.client.randomness import StreamDraws, SystemDraws
from deniable.protocol.prf import Stream

WORDS_16 = [bytes(pair) for pair in product(range(256), repeat=2)]
THRESHOLDS_16 = (0, 1, 2, 255, 256, 257, 511, 21_845, 32_768, 40_000, 65_279, 65_535, 65_536)


class Exhausted(Exception):
    """The bytes given were not enough: the draw was rejected and would try again."""


def source_of(data: bytes) -> SystemDraws:
    rest: Iterator[int] = iter(data)

    def source(count: int) -> bytes:
        taken = bytes(byte for _, byte in zip(range(count), rest, strict=False))
        if len(taken) < count:
            raise Exhausted
        return taken

    return SystemDraws(source)


class Words(Stream):
    """A stream that consists of given words."""

    def __init__(self, *words: int) -> None:
        super().__init__(b"")
        self._words = list(words)

    def word(self) -> int:
        if not self._words:
            raise Exhausted
        return self._words.pop(0)


def test_a_coin_of_8_bits_is_exact_at_every_threshold() -> None:
    for threshold in range(257):
        shown = sum(source_of(bytes([byte])).coin(threshold, 8) for byte in range(256))
        assert shown == threshold


@pytest.mark.parametrize("threshold", THRESHOLDS_16)
def test_a_coin_of_16_bits_is_exact(threshold: int) -> None:
    assert sum(source_of(word).coin(threshold, 16) for word in WORDS_16) == threshold


def test_a_coin_of_64_bits_is_the_comparison_of_its_bytes() -> None:
    threshold = 0x0123_4567_89AB_CDEF
    for offset in (-1, 0, 1, 2**56, -(2**48), 2**8):
        drawn = threshold + offset
        assert source_of(drawn.to_bytes(8, "big")).coin(threshold) == (offset < 0)


def test_a_coin_takes_another_byte_only_on_a_tie() -> None:
    assert source_of(b"\x00").coin(0x0100, 16)
    with pytest.raises(Exhausted):
        source_of(b"\x01").coin(0x0100, 16)


def accepted(draw_width: int, bound: int, every: list[bytes]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for data in every:
        assert len(data) == draw_width
        try:
            counts[source_of(data).below(bound)] += 1
        except Exhausted:
            continue  # rejected: what follows is a new, independent draw
    return counts


def test_below_of_one_byte_is_uniform_for_every_bound() -> None:
    every = [bytes([byte]) for byte in range(256)]
    for bound in range(2, 257):
        counts = accepted(1, bound, every)
        assert sorted(counts) == list(range(bound))
        assert len(set(counts.values())) == 1


@pytest.mark.parametrize("bound", [257, 1_000, 32_768, 32_769, 65_535, 65_536])
def test_below_of_two_bytes_is_uniform(bound: int) -> None:
    counts = accepted(2, bound, WORDS_16)
    assert len(counts) == bound
    assert max(counts) == bound - 1
    assert len(set(counts.values())) == 1


def test_a_rejected_draw_starts_again() -> None:
    assert source_of(b"\x03\x01").below(3) == 1


def test_permanent_coins_of_8_and_16_bits_are_exact() -> None:
    for threshold in range(257):
        shown = sum(StreamDraws(Words(top << 56)).coin(threshold, 8) for top in range(256))
        assert shown == threshold
    for threshold in (0, 1, 257, 40_000, 65_535, 65_536):
        shown = sum(StreamDraws(Words(top << 48)).coin(threshold, 16) for top in range(65_536))
        assert shown == threshold


def test_permanent_below_is_uniform_for_every_small_bound() -> None:
    for bound in range(2, 257):
        counts: Counter[int] = Counter()
        for word in range(256):
            try:
                counts[StreamDraws(Words(word)).below(bound)] += 1
            except Exhausted:
                continue
        assert sorted(counts) == list(range(bound))
        assert len(set(counts.values())) == 1


class Modulus(SystemDraws):
    """The usual mistake: a byte modulo the bound, and a comparison that includes the threshold."""

    def below(self, bound: int) -> int:
        return self._take(1)[0] % bound

    def coin(self, threshold: int, bits: int = 64) -> bool:
        return int.from_bytes(self._take(bits // 8), "big") <= threshold


def test_the_usual_mistakes_are_noticed() -> None:
    counts = Counter(Modulus(lambda _, b=byte: bytes([b])).below(3) for byte in range(256))
    assert len(set(counts.values())) > 1
    shown = sum(Modulus(lambda _, b=byte: bytes([b])).coin(100, 8) for byte in range(256))
    assert shown != 100
