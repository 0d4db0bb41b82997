"""Character models: small, repeatable, and better than none."""

from __future__ import annotations

import pytest

from deniable.discover.train import train
from deniable.errors import InvalidParameter
from deniable.protocol import Strings
from deniable.protocol.coding import Coder
from deniable.protocol.coding_model import CharacterModel

DOMAIN = Strings("abcdefghijklmnopqrstuvwxyz", 12)
LINES = [f"{a}{b}{c}ing" for a in "strk" for b in "aeiou" for c in "nmlp"]


def digits(model: CharacterModel, text: str) -> int:
    return Coder(model, 12).code(text)[1]


def test_what_the_model_likes_costs_few_bits_and_all_else_remains_possible() -> None:
    model = train(LINES, DOMAIN)
    nothing = CharacterModel(DOMAIN.letters, 1, {})
    assert digits(model, "samking") < digits(nothing, "samking") * 0.6
    assert digits(model, "zzqqxxjj") > digits(nothing, "zzqqxxjj")
    assert model.typical < 20


def test_the_same_lines_make_the_same_bytes() -> None:
    assert train(LINES, DOMAIN).to_bytes() == train(list(LINES), DOMAIN).to_bytes()
    assert CharacterModel.from_bytes(train(LINES, DOMAIN).to_bytes()) == train(LINES, DOMAIN)


@pytest.mark.parametrize("line", ["", "a", "example", "zzzzzzzzzzzz"])
def test_one_line_is_enough(line: str) -> None:
    model = train([line], DOMAIN)
    assert CharacterModel.from_bytes(model.to_bytes()) == model
    assert Coder(model, 12).code(line)[1] <= Coder(model, 12).code("qzqzqzqzqzqz")[1]


@pytest.mark.parametrize("size", [1_024, 1_100, 2_000])
def test_the_model_fits_its_bytes_and_larger_ones_are_better(size: int) -> None:
    model = train(LINES, DOMAIN, size=size)
    assert len(model.to_bytes()) <= size
    whole = train(LINES, DOMAIN)
    assert sum(digits(whole, x) for x in LINES) <= sum(digits(model, x) for x in LINES)


def test_orders() -> None:
    assert train(LINES, DOMAIN, order=0).order == 0
    assert train(LINES, DOMAIN, order=2).order <= 2
    with pytest.raises(InvalidParameter, match="order"):
        train(LINES, DOMAIN, order=7)


def test_lines_are_cut_escaped_or_left_out() -> None:
    escaping = Strings("abc", 4, "escape")
    model = train(["abcabcabc", "xyz"], escaping)
    assert model.letters == "abc\ufffd"
    refusing = Strings("abc", 4)
    assert train(["abc", "xyz"], refusing) == train(["abc"], refusing)
    with pytest.raises(InvalidParameter, match="at least one line"):
        train(["xyz"], refusing)
    with pytest.raises(InvalidParameter, match="alphabet"):
        train(["a"], Strings())


def test_many_letters_have_wide_symbols() -> None:
    wide = Strings("".join(chr(0x4E00 + i) for i in range(400)), 3)
    model = train([wide.alphabet[5:8], wide.alphabet[5:7]], wide)
    assert CharacterModel.from_bytes(model.to_bytes()) == model
