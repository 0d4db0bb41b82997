"""Crafted reports by the kind of the rest: what they say, and no answer for an unknown kind."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.crafted.cells import table_shift
from deniable.crafted.leverage import leverage
from deniable.crafted.parts import cells_of, gap_of
from deniable.crafted.reports import drawn, said
from deniable.errors import InvalidParameter
from deniable.protocol import Attribute, Categories, Profile, Strings
from deniable.protocol.channel import Channel, Number
from deniable.protocol.layout import Layout, number
from deniable.protocol.rest import Bits, Points, Product, Rest, Sign, Subset, Symbol

HALF = Fraction(1, 2)
KINDS: dict[str, tuple[Rest, int]] = {
    "bits": (Bits(HALF, Fraction(1, 4), 8, 2, 2), 0b101),
    "symbol": (Symbol(HALF, 5), 3),
    "sign": (Sign(HALF), -1),
    "subset": (Subset(HALF, 2, 6), 4),
    "points": (Points(HALF, 3, 3), 7),
}


class Stranger(Rest):
    """Another one, with nothing in it."""

    count, worst = 1, None

    def values(self):
        return iter((0,))

    def chance(self, own, value):
        return Fraction(1)

    def holds(self, own):
        return True

    def flat(self, value):
        return Fraction(1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_likeliest_value_of_an_answer_and_the_least_likely_one(kind, rng):
    """No other value has a larger, or a smaller, chance under the target's own."""
    rest, own = KINDS[kind]
    chances = [rest.chance(own, value) for value in rest.values()]
    up, down = (rest.chance(own, said(rest, own, rng, down=way)) for way in (False, True))
    if kind == "bits":  # with 1/2 for its own, either is as likely: its bits against all others
        assert said(rest, own, rng) == own
        assert said(rest, own, rng, down=True) == 0b11111010
    else:
        assert (up, down) == (max(chances), min(chances))


def test_a_product_says_each_part(rng):
    parts = Product((KINDS["bits"][0], KINDS["symbol"][0]))
    assert said(parts, (0b11, 2), rng) == (0b11, 2)
    bits, symbol = said(parts, (0b11, 2), rng, down=True)
    assert bits == 0b11111100
    assert symbol != 2


def test_a_kind_that_nobody_knows_is_an_error(rng):
    for call in (cells_of, gap_of, lambda rest: said(rest, 0, rng)):
        with pytest.raises(InvalidParameter, match="of the kind 'Stranger'"):
            call(Stranger())


def test_what_is_drawn_by_an_unknown_law_is_an_error(rng):
    law = ((1, HALF), (3, HALF))
    for name, expected in (("group", (3,)), ("sector", None)):
        layout = Layout((number(name, 4), number("symbol", 2)))
        channel = Channel((Number(name, law, permanent=False),), Symbol(HALF, 2), int, layout)
        if expected:
            assert drawn(channel, rng) == expected
        else:
            with pytest.raises(InvalidParameter, match="about a 'sector'"):
                drawn(channel, rng)


def test_crafted_reports_alone_decide_contrasts_too():
    """Contrasts that weigh nothing in a cell have no reports at all then, which is no harm."""
    domains = [Categories(tuple(f"{i}" for i in range(count))) for count in (3, 5)]
    profile = Profile(tuple(Attribute(f"a{i}", domain) for i, domain in enumerate(domains)))
    wanted = {"epsilon": 1.0, "order": 2, "basis": "contrasts"}
    parameters = resolve("coefficients", wanted, profile, False)
    most = [table_shift(parameters, (0, 1), share) for share in (0.5, 0.99, 1.0)]
    assert most == sorted(most)
    assert np.isfinite(most).all()


def test_strings_are_hashed_into_bits_even_by_one_function(rng):
    """One hash function in one cohort: still a string beside an intercept."""
    asked = {"k": 16, "h": 1, "m": 1, "f": 0.0, "p": 0.25, "q": 0.75}
    parameters = resolve("rappor", asked, Strings(), False)
    assert leverage(parameters).up == leverage(parameters).down == 2
