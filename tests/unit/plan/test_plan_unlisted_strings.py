"""Strings that nobody listed, and lists that are fitted together: closed forms at their ends."""

from __future__ import annotations

import math

import pytest

from deniable.authoring import resolve
from deniable.errors import InvalidParameter
from deniable.plan import Setting, make_plan, of_strings, predict
from deniable.plan.listed_strings import fitted_noise
from deniable.plan.unlisted_strings import smallest_found
from deniable.protocol import (
    Boolean,
    NGramsParameters,
    ORRParameters,
    PrefixesParameters,
    RapporParameters,
    Strings,
)

NAMES = of_strings("abcdefgh", 8)


def prefixes(epsilon: float, people: int) -> PrefixesParameters:
    found = resolve("prefixes", {"epsilon": epsilon, "people": people}, NAMES, False)
    assert isinstance(found, PrefixesParameters)
    return found


def ngrams(epsilon: float) -> NGramsParameters:
    found = resolve("ngrams", {"epsilon": epsilon}, NAMES, False)
    assert isinstance(found, NGramsParameters)
    return found


def test_more_people_and_a_larger_epsilon_find_rarer_strings() -> None:
    people = 10**5
    for one, other in (
        (smallest_found(prefixes(1.0, people), NAMES, people), prefixes(2.0, people)),
        (smallest_found(ngrams(1.0), NAMES, people), ngrams(2.0)),
    ):
        assert smallest_found(other, NAMES, people) < one or one == 1.0
        assert smallest_found(other, NAMES, 4 * people) < smallest_found(other, NAMES, people)


def test_it_falls_with_the_root_of_the_people() -> None:
    """About: the more strings there are, the more compete."""
    parameters = prefixes(1.0, 10**6)
    few, many = (smallest_found(parameters, NAMES, n) for n in (10**6, 4 * 10**6))
    assert few / many == pytest.approx(2, rel=0.1)


def test_where_nothing_is_found_it_is_everything() -> None:
    assert smallest_found(prefixes(0.1, 1_000), NAMES, 1_000) == 1.0
    assert smallest_found(ngrams(0.1), NAMES, 1_000) == 1.0
    with pytest.raises(InvalidParameter, match="finds strings"):
        smallest_found(prefixes(1.0, 1_000), Boolean(), 1_000)


def test_too_few_people_for_groups_leave_the_others() -> None:
    plan = make_plan(Setting(3, 1.0, of_strings()))
    assert "prefixes" not in [one.mechanism for one in plan.predictions]
    assert plan.warnings[0].startswith("Nothing can be learned")


def test_a_permanent_response_cannot_find() -> None:
    names = [choice.mechanism for choice in Setting(10**5, 1.0, NAMES, forever=3.0).choices()]
    assert not {"prefixes", "ngrams"} & set(names)


def test_one_mechanism_that_finds_alone() -> None:
    plan = make_plan(Setting(10**6, 2.0, NAMES), mechanism="ngrams", error=0.01)
    assert [one.mechanism for one in plan.predictions] == ["ngrams"]
    assert plan.recommended == "prefixes"
    assert plan.needed["ngrams"].people is not None


def test_fitting_alone_is_the_plain_closed_form() -> None:
    """Of one listed string and many cells only the noise of an empty cell is left."""
    orr = resolve("orr", {"epsilon": 2.0, "k": 4_096, "cohorts": 512}, Strings(), False)
    assert isinstance(orr, ORRParameters)
    keep = orr.keep / 2**64
    move = (1 - keep) / 4_095
    assert fitted_noise(orr, 0.0, 1) == pytest.approx(move / (keep - move) ** 2, rel=0.01)
    wanted = {"epsilon": 2.0, "k": 4_096, "m": 64}
    rappor = resolve("rappor", wanted, Strings(), False)
    assert isinstance(rappor, RapporParameters)
    p, q = float(rappor.p_star), float(rappor.q_star)
    assert fitted_noise(rappor, 0.0, 1) == pytest.approx(p * (1 - p) / (q - p) ** 2, rel=0.01)


def test_more_listed_strings_widen_errors() -> None:
    orr = resolve("orr", {"epsilon": 2.0, "k": 8, "cohorts": 100}, Strings(), False)
    assert isinstance(orr, ORRParameters)
    few, many = (fitted_noise(orr, 0.0, listed) for listed in (70, 350))
    assert many / few == pytest.approx((1 - 70 / 700) / (1 - 350 / 700))
    frequent = fitted_noise(orr, 0.1, 70)
    assert frequent > few
    setting = Setting(10_000, 2.0, Strings(), listed=70)
    assert predict(orr, setting).rare_error == pytest.approx(math.sqrt(few / 10_000))
