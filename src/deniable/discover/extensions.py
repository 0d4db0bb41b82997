"""Extensions of beginnings: by every character, or by every piece of a code.

A beginning is a tuple of symbols as `protocol.prefixes` reports them. `Branches` lists its
extensions to the next level in one fixed order, so that a number stands for each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice

import numpy as np

from deniable.mechanisms.hashing import Words
from deniable.protocol import PrefixesParameters, Strings
from deniable.protocol.coding import Coder
from deniable.protocol.prefixes import END

_STRINGS_PER_CODE = 4
"""The most strings that are tested for one beginning of a code."""

Symbols = tuple[int, ...]


class Branches(ABC):
    """The extensions of beginnings, level by level."""

    @abstractmethod
    def count(self, level: int) -> int:
        """Return how many extensions to `level` a beginning has that can go on in every way."""

    @abstractmethod
    def words(self, words: Words, level: int) -> Words:
        """Return the words of all extensions to `level` of beginnings, N x count x 2."""

    @abstractmethod
    def symbols(self, beginning: Symbols, number: int, level: int) -> Symbols:
        """Return extension `number` of a beginning."""

    @abstractmethod
    def listed(self, beginning: Symbols, level: int) -> list[Symbols] | None:
        """Return the only extensions that are possible; None where all are."""

    @abstractmethod
    def strings(self, beginning: Symbols) -> Iterator[str]:
        """Yield the strings that a beginning of the last level stands for, likely ones first."""

    @abstractmethod
    def text(self, beginning: Symbols) -> str:
        """Return the characters that a beginning determines, for people."""


def branches_of(parameters: PrefixesParameters, domain: Strings) -> Branches:
    """Return how the beginnings of a question go on."""
    if parameters.coder is None:
        return Characters(domain.letters, parameters.lengths)
    return Codes(parameters.coder, parameters.lengths)


class Characters(Branches):
    """Extensions by characters. First those that end, the shortest first, then those that do not.

    Args:
        letters: the alphabet.
        lengths: of the levels, in characters.
    """

    def __init__(self, letters: str, lengths: tuple[int, ...]) -> None:
        self._codes = [ord(letter) for letter in letters]
        self._lengths = lengths

    def _step(self, level: int) -> int:
        return self._lengths[level] - (self._lengths[level - 1] if level else 0)

    def count(self, level: int) -> int:
        """Return 1 + A + ... + A^s for a step of s characters: s ways to end, and no end."""
        return sum(len(self._codes) ** places for places in range(self._step(level) + 1))

    def words(self, words: Words, level: int) -> Words:
        """Return the words of all extensions, N x count x 2."""
        from deniable.kernels.prefix_support import extended

        symbols = np.array([*self._codes, END], dtype=np.uint64)
        parts, going = [], words.reshape(len(words), 1, 2)
        for _ in range(self._step(level)):
            found = extended(going.reshape(-1, 2), symbols).reshape(*going.shape[:2], -1, 2)
            parts.append(found[:, :, -1])
            going = found[:, :, :-1].reshape(len(words), -1, 2)
        return np.concatenate([*parts, going], axis=1)

    def symbols(self, beginning: Symbols, number: int, level: int) -> Symbols:
        """Return extension `number` of a beginning."""
        letters, step = len(self._codes), self._step(level)
        for places in range(step + 1):
            if number < letters**places:
                break
            number -= letters**places
        digits = [number // letters**place % letters for place in range(places - 1, -1, -1)]
        ended = () if places == step else (END,)
        return (*beginning, *(self._codes[digit] for digit in digits), *ended)

    def listed(self, beginning: Symbols, level: int) -> list[Symbols] | None:
        """Return the beginning itself where its string has ended: it is reported as it is."""
        return [beginning] if beginning[-1:] == (END,) else None

    def strings(self, beginning: Symbols) -> Iterator[str]:
        """Yield the one string."""
        yield self.text(beginning)

    def text(self, beginning: Symbols) -> str:
        """Return the characters of a beginning."""
        return "".join(chr(symbol) for symbol in beginning if symbol != END)


class Codes(Branches):
    """Extensions by pieces of an arithmetic code, in the order of the numbers they spell.

    Args:
        coder: the code.
        lengths: of the levels, in binary digits.
    """

    def __init__(self, coder: Coder, lengths: tuple[int, ...]) -> None:
        self._coder = coder
        self._edges = (0, *lengths)

    def _step(self, level: int) -> int:
        return self._edges[level + 1] - self._edges[level]

    def count(self, level: int) -> int:
        """Return 2^s for a step of s digits."""
        return 1 << self._step(level)

    def words(self, words: Words, level: int) -> Words:
        """Return the words of all extensions, N x count x 2."""
        from deniable.kernels.prefix_support import extended

        return extended(words, np.arange(self.count(level), dtype=np.uint64))

    def symbols(self, beginning: Symbols, number: int, level: int) -> Symbols:
        """Return extension `number` of a beginning."""
        return (*beginning, number)

    def digits(self, beginning: Symbols) -> tuple[int, int]:
        """Return the digits of a beginning as one number, and how many they are."""
        value = 0
        for level, piece in enumerate(beginning):
            value = value << self._step(level) | piece
        return value, self._edges[len(beginning)]

    def listed(self, beginning: Symbols, level: int) -> list[Symbols] | None:
        """Return how the code goes on where the digits leave a single string; none if it cannot."""
        digits, count = self.digits(beginning)
        text, ended = self._coder.beginning(digits, count)
        if not ended:
            return None
        longer = self._coder.digits(text, self._edges[level + 1])
        if longer >> self._step(level) != digits:
            return []
        return [(*beginning, longer & (self.count(level) - 1))]

    def strings(self, beginning: Symbols) -> Iterator[str]:
        """Yield up to four strings whose codes begin so, the most likely ones first."""
        return islice(self._coder.strings(*self.digits(beginning)), _STRINGS_PER_CODE)

    def text(self, beginning: Symbols) -> str:
        """Return the characters that the digits determine."""
        return self._coder.beginning(*self.digits(beginning))[0]
