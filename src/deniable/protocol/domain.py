"""The possible answers to a question, and the step from a value to an answer.

A *value* is what the app hands over (True, "firefox", 37.2). An *answer* is its place in the
domain, in canonical bytes that every client derives alike. Neither can be printed.
"""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_right
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import ClassVar

from deniable.errors import InvalidAnswer
from deniable.protocol.canonical import Json
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import fingerprint

MAX_CATEGORIES = 65_536
MAX_NAMES = MAX_CATEGORIES - 1
"""The most names of a set: "none of them" and an absent answer must fit beside them."""
MAX_STRING_BYTES = 4_096
NONE_LABEL = "(none)"
MAX_ALPHABET = 4_096
MAX_LENGTH = 256
"""The most characters of an answer over a declared alphabet."""
OUTSIDE = ("refuse", "escape")
ESCAPE = "\ufffd"
"""Stands for every character outside of an alphabet, where these are not refused."""


class Absent:
    """The type of ABSENT."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()
"""The answer of a device that has nothing to say, where a question is always sent."""


@frozen
class Answer:
    """A place in a domain. Its repr shows nothing, so that no log or traceback can.

    Attributes:
        key: canonical bytes: b"i" + u32 for a closed domain, b"s" + UTF-8 for strings, b"m" + u32s
            for a set, b"t" + (u32 length, key) of each member for a set of strings, b"r" + u32s
            for a profile, b"a" absent.
        code: the index in a closed domain (absent is the last one), -1 for strings, sets, records.
        members: the codes of a set's members, rising.
        codes: of a profile, the code of each attribute, in the order of the survey.
        texts: of a set of strings, the key of each member, rising.
    """

    key: bytes
    code: int = -1
    members: tuple[int, ...] = ()
    codes: tuple[int, ...] = ()
    texts: tuple[bytes, ...] = ()

    def __repr__(self) -> str:
        return "Answer(<hidden>)"

    @cached_property
    def words(self) -> tuple[int, int]:
        """The answer's fingerprint for the hash family."""
        return fingerprint(self.key)


ABSENT_KEY = b"a"


def code_key(code: int) -> bytes:
    """Return the canonical bytes of an answer in a closed domain."""
    return b"i" + code.to_bytes(4, "little")


def string_key(text: str) -> bytes:
    """Return the canonical bytes of a string answer: NFC, then UTF-8.

    Raises:
        InvalidAnswer: if the text has an unpaired surrogate, more than 4,096 code points before
            normalising, or more than 4,096 bytes after it.
    """
    if len(text) > MAX_STRING_BYTES:  # before normalising, so that a huge string costs nothing
        raise _too_long()
    try:
        data = unicodedata.normalize("NFC", text).encode("utf-8")
    except UnicodeEncodeError:
        data = None  # raised below: an error raised here would carry the text as its context
    if data is None:
        raise InvalidAnswer("bad_unicode", "A string must not hold unpaired surrogates.")
    if len(data) > MAX_STRING_BYTES:
        raise _too_long()
    return b"s" + data


def _too_long() -> InvalidAnswer:
    return InvalidAnswer("too_long", f"A string must have at most {MAX_STRING_BYTES} UTF-8 bytes.")


class Domain:
    """The possible answers. `size` is their number, None when they cannot be listed."""

    kind: ClassVar[str]

    @property
    def size(self) -> int | None:
        """The number of possible answers, without an absent one; None for strings."""
        return len(self.labels)

    @property
    def labels(self) -> tuple[str, ...]:
        """The answers in words, in order of their codes; empty for strings."""
        return ()

    def answer(self, value: object) -> Answer:
        """Return the answer that `value` stands for, else raise InvalidAnswer without the value."""
        code = self.code(value)
        return Answer(code_key(code), code)

    def code(self, value: object) -> int:
        """Return the index of `value` in a closed domain."""
        raise InvalidAnswer("type", "Strings have no code.")

    def published(self) -> dict[str, Json]:
        """Return the domain as it stands in survey.json."""
        return {"type": self.kind}


@frozen
class Boolean(Domain):
    """Yes or no. Code 0 is no, 1 is yes."""

    kind: ClassVar[str] = "boolean"

    @property
    def labels(self) -> tuple[str, ...]:
        """No and yes, as JSON writes them."""
        return ("false", "true")

    def code(self, value: object) -> int:
        """Return 1 for True and 0 for False; nothing else is a boolean."""
        if not isinstance(value, bool):
            raise InvalidAnswer("type", "The value must be True or False.")
        return int(value)


@frozen
class Categories(Domain):
    """One of a list of names, NFC, compared exactly.

    Example:
        >>> Categories(("red", "green", "blue")).size
        3
    """

    values: tuple[str, ...]
    kind: ClassVar[str] = "categories"

    @property
    def labels(self) -> tuple[str, ...]:
        """The names, in the order of the survey."""
        return self.values

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.values)}

    def code(self, value: object) -> int:
        """Return the index of the category named `value`."""
        if not isinstance(value, str):
            raise InvalidAnswer("type", "The value must be a string, the name of a category.")
        short = len(value) <= MAX_STRING_BYTES  # as names are, so that a huge string costs nothing
        code = self._codes.get(unicodedata.normalize("NFC", value)) if short else None
        if code is None:
            raise InvalidAnswer("unknown_category", "The value is not one of the categories.")
        return code

    def published(self) -> dict[str, Json]:
        """Return the domain as it stands in survey.json."""
        return {"type": self.kind, "values": list(self.values)}


_SHORT_EDGE = 7
"""The longest text of an edge that is shown as it was written."""


def _rounded(number: float, digits: int) -> str:
    """Return a number with some significant digits, without an exponent where it is readable."""
    text = f"{number:.{digits}g}"
    return f"{float(text):,.0f}" if "e+" in text and abs(number) < 1e15 else text


@frozen
class Numbers(Domain):
    """A number, known only by its bin. n edges make n + 1 bins: below, between and from the last.

    A value equal to an edge lies in the bin above it. Infinities lie in the outer bins. The edges
    are the decimal strings of survey.json; every language reads them as the same doubles.
    """

    edges: tuple[str, ...]
    kind: ClassVar[str] = "numbers"

    @cached_property
    def bounds(self) -> tuple[float, ...]:
        """The edges as floating-point numbers."""
        return tuple(float(edge) for edge in self.edges)

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins in words, such as "< 10", "10 to 20" and ">= 20"."""
        edges = self._readable
        inner = (f"{low} to {high}" for low, high in pairwise(edges))
        return (f"< {edges[0]}", *inner, f">= {edges[-1]}")

    @cached_property
    def _readable(self) -> tuple[str, ...]:
        """The edges as people read them: short ones as they are, long ones with fewer digits.

        As many digits as tell all edges apart, and three at least.
        """
        for digits in range(3, 18):
            found = tuple(
                edge if len(edge) <= _SHORT_EDGE else _rounded(float(edge), digits)
                for edge in self.edges
            )
            if len(set(found)) == len(found):
                return found
        return self.edges

    def code(self, value: object) -> int:
        """Return the bin of `value`."""
        if isinstance(value, bool) or not isinstance(value, Real):
            raise InvalidAnswer("type", "The value must be a number.")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf if value == abs(value) else -math.inf  # an integer beyond 1e308
        if math.isnan(number):
            raise InvalidAnswer("not_a_number", "The value must not be NaN.")
        return bisect_right(self.bounds, number)

    def published(self) -> dict[str, Json]:
        """Return the domain as it stands in survey.json."""
        return {"type": self.kind, "edges": list(self.edges)}


@frozen
class Sets(Domain):
    """Some of a list of names, at most `most` of them, possibly none.

    As a closed domain it has one answer per name and one for none of them: a device reports one
    member, or one of the empty places that fill its set up to `most`.
    """

    values: tuple[str, ...]
    most: int
    kind: ClassVar[str] = "set"

    @property
    def labels(self) -> tuple[str, ...]:
        """The names, in the order of the survey, and none of them."""
        return (*self.values, NONE_LABEL)

    @cached_property
    def _names(self) -> Categories:
        return Categories(self.values)

    def answer(self, value: object) -> Answer:
        """Return the answer for a collection of names; a name that comes twice counts once."""
        if not isinstance(value, list | tuple | set | frozenset):
            raise InvalidAnswer("type", "The value must be a list, tuple or set of names.")
        if len(value) > MAX_CATEGORIES:  # before reading it, so that a huge one costs nothing
            raise _too_many()
        codes = {self._names.code(name) for name in value}
        if len(codes) > self.most:
            raise _too_many()
        members = tuple(sorted(codes))
        return Answer(set_key(members), members=members)

    def published(self) -> dict[str, Json]:
        """Return the domain as it stands in survey.json."""
        return {"type": self.kind, "values": list(self.values), "most": self.most}


def set_key(members: tuple[int, ...]) -> bytes:
    """Return the canonical bytes of a set of codes in rising order."""
    return b"m" + b"".join(code.to_bytes(4, "little") for code in members)


def _too_many() -> InvalidAnswer:
    return InvalidAnswer("too_many", "The set has more members than the question allows.")


@frozen
class Strings(Domain):
    """Any string, NFC, at most 4,096 bytes of UTF-8; or strings over a declared alphabet.

    With an alphabet, what follows the first `length` characters (code points after NFC) is cut
    off, and a character outside of the alphabet is refused, or becomes U+FFFD where `outside` is
    "escape". So values that differ only there are one answer.

    Attributes:
        alphabet: the characters, rising; empty for any string.
        length: the most characters of an answer; 0 without an alphabet.
        outside: "refuse" or "escape".
    """

    alphabet: str = ""
    length: int = 0
    outside: str = "refuse"
    kind: ClassVar[str] = "strings"

    @property
    def size(self) -> int | None:
        """Strings cannot be listed."""
        return None

    @property
    def letters(self) -> str:
        """The characters that answers are made of, rising, the escape character among them."""
        return "".join(sorted({*self.alphabet, *(ESCAPE if self.outside == "escape" else "")}))

    def answer(self, value: object) -> Answer:
        """Return the answer for a string."""
        if not isinstance(value, str):
            raise InvalidAnswer("type", "The value must be a string.")
        key = string_key(value)
        if not self.alphabet:
            return Answer(key)
        return Answer(b"s" + self.fitted(key[1:].decode("utf-8")).encode("utf-8"))

    def fitted(self, text: str) -> str:
        """Return the answer that a string in NFC stands for, as text.

        Raises:
            InvalidAnswer: if a character is outside of the alphabet and such are refused.
        """
        if not self.alphabet:
            return text
        known, kept = self._known, text[: self.length]
        if self.outside == "refuse" and not known.issuperset(kept):
            raise InvalidAnswer("alphabet", "The value has a character outside of the alphabet.")
        return "".join(letter if letter in known else ESCAPE for letter in kept)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.letters)

    def published(self) -> dict[str, Json]:
        """Return the domain as it stands in survey.json."""
        if not self.alphabet:
            return {"type": self.kind}
        shape: dict[str, Json] = {"alphabet": self.alphabet, "length": self.length}
        return {"type": self.kind, **shape, "outside": self.outside}


@frozen
class StringSets(Strings):
    """Some strings, none of them listed: a device reports one of `most` places.

    Members are read as strings are. Empty places hold the absent answer. A larger set is an answer
    too: `most` of its members, drawn at random, take the places.
    """

    most: int = 1
    kind: ClassVar[str] = "set"

    def answer(self, value: object) -> Answer:
        """Return the answer for a collection of strings; one that comes twice counts once."""
        if not isinstance(value, list | tuple | set | frozenset):
            raise InvalidAnswer("type", "The value must be a list, tuple or set of strings.")
        if len(value) > MAX_NAMES:  # before reading it, so that a huge one costs nothing
            raise _too_many()
        texts = tuple(sorted({Strings.answer(self, text).key for text in value}))
        return Answer(string_set_key(texts), texts=texts)

    def published(self) -> dict[str, Json]:
        """Return the domain as it stands in survey.json."""
        return {**Strings.published(self), "most": self.most}


def string_set_key(texts: tuple[bytes, ...]) -> bytes:
    """Return the canonical bytes of a set of strings, given the rising keys of its members."""
    return b"t" + b"".join(len(text).to_bytes(4, "little") + text for text in texts)


def is_alphabet(text: str) -> bool:
    """Tell whether a text is an alphabet: 2 to 4,096 rising characters, each of them NFC."""
    rising = all(low < high for low, high in pairwise(text))
    good = all(unicodedata.is_normalized("NFC", x) and not _is_surrogate(x) for x in text)
    return 2 <= len(text) <= MAX_ALPHABET and rising and good


def _is_surrogate(letter: str) -> bool:
    return 0xD800 <= ord(letter) <= 0xDFFF
