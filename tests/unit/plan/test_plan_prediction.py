"""Predictions: the closed forms, the papers' numbers, and what the collector really keeps."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from deniable.authoring import resolve
from deniable.decode.reading import critical
from deniable.errors import InvalidParameter
from deniable.mechanisms import Rappor, mechanism_for
from deniable.mechanisms.olh import Pairs
from deniable.plan import Setting, of_bins, of_categories, predict
from deniable.plan.costs import operations, words
from deniable.protocol import Boolean, Sets, Strings

HUNDRED = Setting(100_000, 1.0, of_categories(100))


def test_figure_3_of_the_rappor_paper() -> None:
    """p = 1/2, q = 3/4, f = 0: x <= (2q - 1) sqrt(N)/Q strings, about sqrt(N)/10."""
    mechanism = Rappor.basic(1_000, f=0.0, p=0.5, q=0.75)
    for people in (10**4, 10**6, 10**8):
        setting = Setting(people, 1.0, of_categories(1_000))
        found = predict(mechanism.parameters, setting)
        bound = 0.5 * math.sqrt(people) / critical(1_000)
        # The paper's bound is normal; the test that decides is exact.
        assert found.smallest == pytest.approx(1 / bound, rel=0.01)
        assert found.learned == min(1_000, int(bound))


def test_figure_3_at_a_million_candidates() -> None:
    """[EPK14] reads 1,000 strings off its figure at N = 1e8; the formula gives 1,051."""
    setting = Setting(10**8, 1.0, Strings(), listed=10**6)
    strings = resolve(
        "rappor", {"f": 0.0, "p": 0.5, "q": 0.75, "h": 1, "k": 65_536, "m": 64}, Strings(), False
    )
    found = predict(strings, setting)
    assert found.learned == pytest.approx(0.5 * 1e4 / critical(10**6), rel=0.15)


def test_known_numbers() -> None:
    """Mathematics, sections 2 and 7: epsilon 1, 100 answers."""
    expected = {"oue": 3.16, "krr": 58.6}
    for name, value in expected.items():
        choice = HUNDRED.choice(name)
        assert choice is not None
        found = predict(choice.parameters, HUNDRED)
        assert found.leverage == pytest.approx(value, rel=2e-3)
        assert (found.epsilon, found.forever) == (1.0, None)
    oue = predict(HUNDRED.choices()[0].parameters, HUNDRED)
    assert oue.rare_error == pytest.approx(math.sqrt(3.68 / 100_000), rel=0.01)


@pytest.mark.parametrize(
    "setting",
    [
        HUNDRED,
        Setting(20_000, 1.0, Boolean()),
        Setting(20_000, 1.0, of_bins(10), forever=3.0),
        Setting(50_000, 1.0, Strings(), listed=100),
        Setting(50_000, 1.0, Strings()),
    ],
)
def test_the_words_are_the_numbers_that_the_counts_hold(setting: Setting) -> None:
    for choice in setting.choices():
        counts = mechanism_for(choice.parameters).zero()
        if isinstance(counts, Pairs):
            assert words(choice.parameters, setting.people) == setting.people
        else:
            assert words(choice.parameters, setting.people) == counts.table.size
        assert operations(choice.parameters, setting.people, setting.tests) >= setting.people


def test_the_interval_is_that_of_the_closed_form() -> None:
    choice = HUNDRED.choice("subset")
    assert choice is not None
    found = predict(choice.parameters, HUNDRED)
    variance = float(mechanism_for(choice.parameters).variance(100_000, 0.01))
    sample = 0.01 * 0.99 / 100_000
    assert found.margin == pytest.approx(1.959964 * math.sqrt(variance + sample))
    reporters = predict(choice.parameters, replace(HUNDRED, of="reporters"))
    assert reporters.margin == pytest.approx(1.959964 * math.sqrt(variance))
    assert found.central is None


def test_a_sampled_set_is_as_much_noisier_as_it_is_larger() -> None:
    names = tuple("abcdefgh")
    one, three = (Setting(10**5, 1.0, Sets(names, most)) for most in (1, 3))
    parameters = resolve("krr", {"epsilon": 1.0}, one.domain, False)
    first, second = predict(parameters, one), predict(parameters, three)
    assert second.rare_error == pytest.approx(3 * first.rare_error)
    assert second.leverage == pytest.approx(3 * first.leverage)


def test_collisions_limit_what_more_people_can_tell() -> None:
    few, many = (Setting(people, 1.0, Strings()) for people in (10**5, 10**11))
    errors = []
    for setting in (few, many):
        choice = setting.choice("hcms")
        assert choice is not None
        errors.append(predict(choice.parameters, setting).rare_error)
    assert errors[1] > errors[0] / 10  # a thousand times fewer without collisions
    assert errors[1] == pytest.approx(math.sqrt(0.1 / (32 * 4_096)), rel=0.02)


def test_parameters_of_another_domain_are_refused() -> None:
    parameters = resolve("krr", {"epsilon": 1.0}, of_categories(5), False)
    with pytest.raises(InvalidParameter, match="as many answers"):
        predict(parameters, HUNDRED)


@pytest.mark.parametrize(
    ("bad", "name"), [({"people": 0}, "people"), ({"listed": -1}, "candidates")]
)
def test_impossible_settings_are_refused(bad: dict[str, int], name: str) -> None:
    with pytest.raises(InvalidParameter, match=f"'{name}' parameter of plan"):
        Setting(**{"people": 10, "epsilon": 1.0, "domain": Boolean(), **bad})


@pytest.mark.parametrize(("maker", "bad"), [(of_categories, 1), (of_bins, 0), (of_bins, 10**6)])
def test_impossible_domains_are_refused(maker: object, bad: int) -> None:
    with pytest.raises(InvalidParameter, match="parameter of plan"):
        maker(bad)
