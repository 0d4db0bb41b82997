"""Options that take several words."""

from __future__ import annotations

import pytest

from deniable.cli.options_of_many_words import repeated

LISTS = ("--attributes", "-a", "--given")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("q --attributes a b c --json", "q --attributes a --attributes b --attributes c --json"),
        ("--attributes a --given b c", "--attributes a --given b --given c"),
        ("trips -a x y -o f.csv", "trips -a x -a y -o f.csv"),
        ("trips --order 2", "trips --order 2"),
        ("--attributes a --attributes b", "--attributes a --attributes b"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_name_is_repeated_before_every_word(words: str, expected: str) -> None:
    assert list(repeated(words.split(), LISTS)) == expected.split()
