"""A small public character model: the probability of each character after those before it.

Model: symbols are the letters 0..L-1 of an alphabet, in rising order, and L, the end of a string.
A context is the last few symbols before a place, where the start of the string counts as the symbol
L + 1. For some contexts the model holds counts; all else follows by integer arithmetic. With
F(s) = 2^20 // (L + 1) for every symbol to begin with, each known context, from the empty one to the
longest that ends at the place, replaces F by

    F(s) = max(1, (2^20 c(s) + d F(s)) // (C + d))

where c(s) are its counts, C is their sum and d how many of them are not 0 (the interpolation of
[WB91]).
So every symbol keeps a frequency of at least 1: every string remains possible.

`spec/protocol.md`, section "Coding model", specifies bytes and arithmetic bit for bit.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from deniable.errors import InvalidParameter
from deniable.protocol.domain import is_alphabet

MAX_MODEL_BYTES = 65_536
MAX_ORDER = 6
MAX_COUNT = 255
MAX_TYPICAL = 4_096
MAGIC = b"deniable/model/1\n"
UNIT = 2**20

Context = tuple[int, ...]
Counts = tuple[tuple[int, int], ...]
"""Symbols with their counts, rising by symbol."""


@dataclass(frozen=True)
class CharacterModel:
    """The counts of a character model.

    Attributes:
        letters: the alphabet, rising.
        typical: the bits in which nearly all strings of the training list can be written.
        contexts: counts by context, ordered by the context's length, then by its symbols.
    """

    letters: str
    typical: int
    contexts: Mapping[Context, Counts]
    _sums: dict[Context, tuple[int, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def end(self) -> int:
        """The symbol that ends a string."""
        return len(self.letters)

    @property
    def start(self) -> int:
        """The symbol before the first letter, in contexts only."""
        return len(self.letters) + 1

    @cached_property
    def order(self) -> int:
        """The length of the longest context."""
        return max(map(len, self.contexts), default=0)

    @cached_property
    def codes(self) -> Mapping[str, int]:
        """The symbol of each letter."""
        return {letter: code for code, letter in enumerate(self.letters)}

    def context_of(self, before: Context) -> Context:
        """Return the longest known context at the place after these symbols."""
        whole = (self.start, *before)
        for size in range(min(self.order, len(whole)), 0, -1):
            if whole[-size:] in self.contexts:
                return whole[-size:]
        return ()

    def sums(self, before: Context) -> tuple[int, ...]:
        """Return the sums of the frequencies of the first 0, 1, ... symbols after these ones.

        Cost: made once for each context that is met, and kept.
        """
        context = self.context_of(before)
        found = self._sums.get(context)
        if found is None:
            frequencies = self.frequencies(context)
            found = self._sums[context] = tuple(accumulate(frequencies, initial=0))
        return found

    def frequencies(self, context: Context) -> tuple[int, ...]:
        """Return the frequency of each symbol in a context, each at least 1."""
        base = [UNIT // (len(self.letters) + 1)] * (len(self.letters) + 1)
        for size in range(len(context) + 1):
            counts = self.contexts.get(context[len(context) - size :])
            if counts is not None:
                total, distinct = sum(count for _, count in counts), len(counts)
                scaled = [distinct * old for old in base]
                for symbol, count in counts:
                    scaled[symbol] += UNIT * count
                base = [max(1, value // (total + distinct)) for value in scaled]
        return tuple(base)

    def to_bytes(self) -> bytes:
        """Return the model's canonical bytes."""
        alphabet, form = self.letters.encode("utf-8"), self._form
        parts = [MAGIC, struct.pack("<HHH", self.typical, len(alphabet), len(self.contexts))]
        parts.append(alphabet)
        for context in sorted(self.contexts, key=lambda known: (len(known), known)):
            counts = self.contexts[context]
            parts.append(
                struct.pack(f"<BH{len(context)}{form}", len(context), len(counts), *context)
            )
            parts += [struct.pack(f"<{form}B", symbol, count) for symbol, count in counts]
        return b"".join(parts)

    @property
    def _form(self) -> str:
        """The packing of a symbol: u8 where all symbols fit into it, else u16."""
        return "B" if len(self.letters) <= 254 else "H"

    @classmethod
    def from_bytes(cls, data: bytes) -> CharacterModel:
        """Read a model.

        Raises:
            InvalidParameter: unless `data` is exactly what `to_bytes` writes, and at most 65,536
                bytes long.
        """
        if len(data) > MAX_MODEL_BYTES:
            raise _wrong(f"at most {MAX_MODEL_BYTES:,} bytes long")
        try:
            model = _read(data)
        except (struct.error, UnicodeDecodeError, IndexError):
            raise _wrong("complete") from None
        if not is_alphabet(model.letters) or not 1 <= model.typical <= MAX_TYPICAL:
            raise _wrong("as deniable writes it: its alphabet or its typical length is not")
        _check(model)
        if model.to_bytes() != data:
            raise _wrong("in its one canonical spelling")
        return model


def _read(data: bytes) -> CharacterModel:
    if not data.startswith(MAGIC):
        raise _wrong("as deniable writes it")
    place = len(MAGIC)
    typical, size, count = struct.unpack_from("<HHH", data, place)
    place += 6
    letters = data[place : place + size].decode("utf-8")
    place += size
    form = "B" if len(letters) <= 254 else "H"
    width = struct.calcsize(f"<{form}")
    contexts: dict[Context, Counts] = {}
    for _ in range(count):
        length, entries = struct.unpack_from("<BH", data, place)
        context = struct.unpack_from(f"<{length}{form}", data, place + 3)
        place += 3 + length * width
        packed = data[place : place + entries * (width + 1)]
        contexts[context] = tuple(struct.iter_unpack(f"<{form}B", packed))
        place += entries * (width + 1)
    return CharacterModel(letters, typical, contexts)


def _check(model: CharacterModel) -> None:
    """Refuse contexts and counts that no training makes."""
    for context, counts in model.contexts.items():
        inner = context[1:] if context[:1] == (model.start,) else context
        symbols = [symbol for symbol, _ in counts]
        good = len(context) <= MAX_ORDER and all(symbol < model.end for symbol in inner)
        rising = bool(counts) and sorted(set(symbols)) == symbols and symbols[-1] <= model.end
        if not (good and rising and all(count >= 1 for _, count in counts)):
            raise _wrong("as deniable writes it: a context or a count is not")


def _wrong(must: str) -> InvalidParameter:
    return InvalidParameter(
        f"The 'model' parameter of prefixes must be a coding model, {must}.",
        "Make it with deniable discover train LIST -o model.",
    )
