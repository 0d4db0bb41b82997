"""Every possible n-gram of an alphabet, in blocks, so that millions need no memory."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import chain, islice, product

from deniable.errors import InvalidParameter
from deniable.protocol.ngrams import MAX_DICTIONARY, PADDING, possible_grams

BLOCK = 2**16


def dictionary(letters: str, n: int) -> Iterator[list[str]]:
    """Yield all n-grams in blocks: padding alone, then n-grams of more and more letters.

    A string is filled up behind its last letter, so that padding is only behind letters. What is
    not in NFC cannot be a part of an answer, and is left out.

    Cost: a block of 65,536 at a time.

    Raises:
        InvalidParameter: if there are more than ten million.
    """
    total = possible_grams(len(letters), n)
    if total > MAX_DICTIONARY:
        raise InvalidParameter(
            f"There are {total:,} possible n-grams of {n} of {len(letters)} letters. At most "
            f"{MAX_DICTIONARY:,} can be tested.",
            "Ask with a smaller 'n' or alphabet.",
        )
    every = chain.from_iterable(
        ("".join(gram) for gram in product(letters, repeat=size)) for size in range(n + 1)
    )
    good = (g.ljust(n, PADDING) for g in every if unicodedata.is_normalized("NFC", g))
    while block := list(islice(good, BLOCK)):
        yield block


def fit_together(first: str, second: str, distance: int) -> bool:
    """Tell whether one string can have both n-grams, the second `distance` characters later.

    Where they overlap they must agree, and nothing but padding follows padding.
    """
    overlap = max(0, len(first) - distance)
    if first[len(first) - overlap :] != second[:overlap]:
        return False
    return PADDING not in first or not second[overlap:].strip(PADDING)


def assembled(grams: tuple[str, ...], step: int, length: int) -> str | None:
    """Return the string whose n-grams these are, `step` characters apart; None if there is none."""
    text = "".join(gram[:step] for gram in grams[:-1]) + grams[-1]
    text = text.rstrip(PADDING)
    if PADDING in text or len(text) > length or not unicodedata.is_normalized("NFC", text):
        return None
    return text
