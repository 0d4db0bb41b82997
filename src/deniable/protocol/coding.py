"""Arithmetic codes of strings: likely strings have few bits, and every string has a code.

Model: the strings of at most `length` letters divide the numbers from 0 to 1 among themselves. A
string's interval is found letter by letter: with F the frequencies at a place, symbol s of an
interval of width w has the part from w sum(F(s') : s' < s) / sum(F) on, of width w F(s) / sum(F);
after `length` letters there is no end symbol. A string's *code* is the number in its interval that
has the fewest binary digits after the point (the smallest of these, if there are several), followed
by zeros for ever. A string of probability P has a code of at most ceil(-log2 P) digits.

Guarantees: exact integers of any size, never rounded, so that every client makes the same code;
different strings have different codes.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deniable.errors import InvalidAnswer
from deniable.protocol.coding_model import CharacterModel, Context
from deniable.protocol.frozen import frozen

_MOST_VISITED = 256
"""The most beginnings of strings that a search for likely strings visits before it gives up."""


class Interval(NamedTuple):
    """The numbers from low / whole (inclusive) to (low + width) / whole (exclusive)."""

    low: int
    width: int
    whole: int

    def part(self, below: int, size: int, total: int) -> Interval:
        """Return the part that begins after `below` of `total` and is `size` of `total` wide."""
        # (low + width below / total) / whole, over one denominator: exact in integers.
        low = self.low * total + self.width * below
        return Interval(low, self.width * size, self.whole * total)

    def holds(self, prefix: int, bits: int) -> bool:
        """Tell whether every number that begins with these binary digits is in the interval."""
        low, high = prefix * self.whole, (prefix + 1) * self.whole
        # low / whole <= prefix / 2^bits and (prefix + 1) / 2^bits <= high / whole, multiplied out.
        return self.low << bits <= low and high <= (self.low + self.width) << bits

    def shortest(self) -> tuple[int, int]:
        """Return the number m / 2^k in the interval with the smallest k, then m, as (m, k)."""
        low, high, k = self.low, self.low + self.width, 0
        while True:
            m = -(-(low << k) // self.whole)  # rounded up: the first m / 2^k that is not below
            if m * self.whole < high << k:
                return m, k
            k += 1


@frozen
class Coder:
    """Codes of the strings of at most `length` letters under a model."""

    model: CharacterModel
    length: int

    def interval(self, text: str) -> Interval:
        """Return the interval of a string.

        Raises:
            InvalidAnswer: if the string is too long or has a letter that the model has not.
        """
        codes = self.model.codes
        if len(text) > self.length or not all(letter in codes for letter in text):
            raise InvalidAnswer("alphabet", "The value is no string of the model's alphabet.")
        found, symbols = Interval(0, 1, 1), tuple(codes[letter] for letter in text)
        for place, symbol in enumerate(symbols):
            found = self._part(found, symbols[:place], symbol)
        return found if len(text) == self.length else self._part(found, symbols, self.model.end)

    def _part(self, whole: Interval, before: Context, symbol: int) -> Interval:
        """Return the part of a symbol that follows these ones."""
        sums = self.model.sums(before)
        return whole.part(sums[symbol], sums[symbol + 1] - sums[symbol], sums[-1])

    def _place(self, whole: Interval, before: Context, prefix: int, bits: int) -> int:
        """Return the symbol whose part holds the number that the digits are, followed by zeros."""
        sums, inside = self.model.sums(before), prefix * whole.whole - (whole.low << bits)
        # The number's place inside the interval, in units of the model's counts.
        return bisect_right(sums, max(0, inside * sums[-1] // (whole.width << bits))) - 1

    def code(self, text: str) -> tuple[int, int]:
        """Return the code of a string as (m, k): the number m / 2^k.

        Cost: a few hundred multiplications of integers of some hundred bits.
        """
        return self.interval(text).shortest()

    def digits(self, text: str, bits: int) -> int:
        """Return the first `bits` binary digits of a string's code, as one number."""
        return first_digits(self.code(text), bits)

    def beginning(self, prefix: int, bits: int) -> tuple[str, bool]:
        """Return the letters that a code's first digits determine, and whether that is all.

        All is determined where every number that begins with the digits is in one string's
        interval; of these numbers only the string's code itself is ever reported.
        """
        interval, symbols = Interval(0, 1, 1), list[int]()
        while len(symbols) < self.length:
            before = tuple(symbols)
            symbol = self._place(interval, before, prefix, bits)
            interval = self._part(interval, before, symbol)
            if not interval.holds(prefix, bits):
                return self._text(symbols), False
            if symbol == self.model.end:
                break
            symbols.append(symbol)
        return self._text(symbols), True

    def _text(self, symbols: Sequence[int]) -> str:
        return "".join(self.model.letters[symbol] for symbol in symbols)

    def strings(self, prefix: int, bits: int) -> Iterator[str]:
        """Yield strings whose codes begin with these digits, the most likely ones first.

        Where the digits do not determine the string, those ends come first that the model likes.

        Edge cases: bounded: after 256 beginnings the search ends. There may be no string.
        """
        first = Interval(0, 1, 1)
        waiting: list[tuple[int, int, Interval, Context, bool]] = [(0, 0, first, (), False)]
        for number in range(_MOST_VISITED):
            if not waiting:
                return
            _, _, interval, symbols, ended = heapq.heappop(waiting)
            if not ended:
                for push in self._within(interval, symbols, prefix, bits, number):
                    heapq.heappush(waiting, push)
            elif first_digits(interval.shortest(), bits) == prefix:
                yield self._text(symbols)

    def _within(
        self, interval: Interval, symbols: Context, prefix: int, bits: int, number: int
    ) -> Iterator[tuple[int, int, Interval, Context, bool]]:
        """Yield the extensions of these symbols that overlap the numbers with these first digits.

        Ordered by how much of the numbers each takes up; equals in the order they were found.
        """
        if len(symbols) == self.length:
            yield -overlap(interval, prefix, bits), number << 16, interval, symbols, True
            return
        for symbol in range(self._place(interval, symbols, prefix, bits), self.model.end + 1):
            part = self._part(interval, symbols, symbol)
            share, ended = overlap(part, prefix, bits), symbol == self.model.end
            if not share:
                return
            after = symbols if ended else (*symbols, symbol)
            yield -share, number << 16 | symbol, part, after, ended


def first_digits(code: tuple[int, int], bits: int) -> int:
    """Return the first `bits` binary digits of the number m / 2^k."""
    m, k = code
    return m << (bits - k) if bits >= k else m >> (k - bits)


def overlap(interval: Interval, prefix: int, bits: int) -> int:
    """Return the share of the numbers with these first digits that an interval takes up.

    In units of 2^-64 of them, rounded up: 0 only where there is none.
    """
    low = max(interval.low << bits, prefix * interval.whole)
    high = min((interval.low + interval.width) << bits, (prefix + 1) * interval.whole)
    return -(-((high - low) << 64) // interval.whole) if high > low else 0
