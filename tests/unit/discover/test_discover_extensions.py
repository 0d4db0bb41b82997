"""Extensions are listed in one order, by words and by symbols alike."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from deniable.discover.extensions import branches_of
from deniable.protocol.prefixes import END, chained
from material.prefixes import DOMAIN, STRINGS, mechanism


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_words_and_symbols_agree(coded: bool, level: int) -> None:
    shape = mechanism(coded).parameters
    branches = branches_of(shape, DOMAIN)
    start = shape.symbols("faded", level - 1) if level else ()
    words = branches.words(np.array([chained(start)], dtype=np.uint64), level)
    count = branches.count(level)
    assert words.shape == (1, count, 2)
    every = [branches.symbols(start, number, level) for number in range(count)]
    assert len(set(every)) == count
    for number in range(0, count, max(1, count // 50)):
        assert tuple(map(int, words[0, number])) == chained(every[number])


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("text", [*STRINGS, "a", "gggggggg"])
def test_every_string_can_be_grown(coded: bool, text: str) -> None:
    shape = mechanism(coded).parameters
    branches = branches_of(shape, DOMAIN)
    start: tuple[int, ...] = ()
    for level in range(len(shape.lengths)):
        wanted = shape.symbols(text, level)
        listed = branches.listed(start, level) if level else None
        if listed is None:
            count = branches.count(level)
            listed = [branches.symbols(start, number, level) for number in range(count)]
        assert wanted in listed
        assert text.startswith(branches.text(wanted))
        start = wanted
    found = list(branches.strings(start))
    assert text in found or (coded and shape.coder and shape.coder.code(text)[1] > 23)


def test_an_ended_string_goes_on_as_it_is() -> None:
    branches = branches_of(mechanism().parameters, DOMAIN)
    ended = (ord("a"), END)
    assert branches.listed(ended, 1) == [ended]
    assert branches.listed((ord("a"), ord("b"), ord("c")), 1) is None
    assert branches.text(ended) == "a"


def test_digits_that_no_code_has_go_nowhere() -> None:
    shape = mechanism(coded=True).parameters
    branches, coder = branches_of(shape, DOMAIN), shape.coder
    assert coder is not None
    dead = 0
    for prefix in range(2**8):
        text, ended = coder.beginning(prefix, 8)
        listed = branches.listed((prefix,), 1)
        if not ended:
            assert listed is None
        elif coder.digits(text, 8) == prefix:
            assert listed == [shape.symbols(text, 1)]
        else:
            assert listed == []
            dead += 1
    assert dead > 0


def test_few_strings_per_code() -> None:
    branches = branches_of(mechanism(coded=True).parameters, DOMAIN)
    assert len(list(islice(branches.strings((3, 3, 3, 3)), 9))) <= 4
