"""The dictionary of n-grams, which of them fit together, and the strings they make."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.discover.ngrams.dictionary import BLOCK, assembled, dictionary, fit_together
from deniable.errors import InvalidParameter
from deniable.protocol import NGramsParameters, Strings
from deniable.protocol.ngrams import possible_grams

SHAPES = [(7, 2, 2), (7, 2, 1), (6, 3, 2), (5, 4, 3)]


def shape_of(length: int, n: int, step: int) -> NGramsParameters:
    wanted = {"epsilon": 1.0, "n": n, "step": step}
    return resolve(NGramsParameters, wanted, Strings("ab", length), False)


def grams_of(shape: NGramsParameters, text: str) -> tuple[str, ...]:
    return tuple(shape.gram_of(text, place) for place in range(shape.places))


def test_all_n_grams_once() -> None:
    (block,) = dictionary("abc", 2)
    assert block[:4] == ["\0\0", "a\0", "b\0", "c\0"]
    assert len(block) == len(set(block)) == possible_grams(3, 2)


def test_large_ones_come_in_blocks() -> None:
    blocks = list(dictionary("abcdefghijklmnopqrstuvwxyz0123456789-._", 3))
    assert [len(block) for block in blocks[:-1]] == [BLOCK] * (len(blocks) - 1)
    assert sum(map(len, blocks)) == possible_grams(39, 3)


def test_what_is_not_nfc_is_left_out() -> None:
    (block,) = dictionary("e\u0301", 2)
    assert "e\u0301" not in block
    assert "ee" in block


def test_too_many_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="At most 10,000,000"):
        next(dictionary("ab", 30))


@given(st.text("ab", max_size=7), st.sampled_from(SHAPES))
def test_a_string_is_put_together_again(text: str, sizes: tuple[int, int, int]) -> None:
    shape = shape_of(*sizes)
    text = text[: shape.length]
    grams = grams_of(shape, text)
    assert assembled(grams, shape.step, shape.length) == text
    for j in range(shape.places):
        for i in range(j):
            assert fit_together(grams[i], grams[j], (j - i) * shape.step)


@pytest.mark.parametrize("sizes", [(3, 2, 1), (4, 2, 2), (4, 3, 2)])
def test_n_grams_that_fit_together_are_those_of_some_string(sizes: tuple[int, int, int]) -> None:
    """All pairs of n-grams against all pairs that the strings of any length really have."""
    shape = shape_of(*sizes)
    # Longer strings than the domain has: that the last n-gram may be too long is seen at the end.
    longest = (shape.places - 1) * shape.step + shape.n
    texts = ["".join(t) for size in range(longest + 1) for t in product("ab", repeat=size)]
    (block,) = dictionary("ab", shape.n)
    for j in range(1, shape.places):
        real = {(grams_of(shape, text)[0], grams_of(shape, text)[j]) for text in texts}
        found = {
            (one, other)
            for one in block
            for other in block
            if fit_together(one, other, j * shape.step)
        }
        assert found == real


def test_what_cannot_be_a_string() -> None:
    assert assembled(("a\0", "b\0"), 2, 4) is None
    assert assembled(("ab", "ab"), 2, 3) is None
    assert assembled(("xe", "\u0301\0"), 2, 4) is None
    assert assembled(("\0\0", "\0\0"), 2, 4) == ""
