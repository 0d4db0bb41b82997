"""The leverage of a crafted report is what the estimators really give it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.crafted.leverage import Leverage, leverage, leverage_of
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, OUE, Hadamard, Mechanism, Rappor, Subset, mechanism_of
from deniable.mechanisms.base import Counts
from deniable.protocol import Field, Sets


def test_known_numbers() -> None:
    """Mathematics, section 7: epsilon 1, 100 answers."""
    root = math.exp(0.5)
    sue = Rappor.basic(100, f=0.0, p=1 / (root + 1), q=root / (root + 1))
    for mechanism, expected in (
        (KRR(100, epsilon=1.0), 58.6),
        (OUE(100, epsilon=1.0), 3.16),
        (sue, 2.54),
    ):
        assert leverage(mechanism.parameters).up == pytest.approx(expected, rel=2e-3)


def moved(mechanism: Mechanism, honest: Counts, record: bytes) -> np.ndarray:
    """Return how far one crafted record moves each estimated number of holders."""
    mechanism.parameters.check_record(record)
    before = mechanism.estimate(honest)
    after = mechanism.estimate(honest.merge(mechanism.accumulate(record)))
    return np.asarray(after.frequency * after.n - before.frequency * before.n)


@pytest.mark.parametrize(
    ("mechanism", "best", "worst"),
    [
        (KRR(5, epsilon=1.0), (3).to_bytes(4, "little"), (1).to_bytes(4, "little")),
        (OUE(5, epsilon=1.0), bytes([0b01000]), bytes([0b10111])),
        (Subset(5, epsilon=0.2), bytes([0b01001]), bytes([0b10100])),
        (Hadamard(5, epsilon=1.0), bytes([0, 0, 0, 0, 0]), bytes([0, 0, 0, 0, 1])),
        (Rappor.basic(5, f=0.5, p=0.3, q=0.8), bytes([0, 0, 8]), bytes([0, 0, 23])),
    ],
)
def test_a_crafted_report_is_worth_exactly_that(
    mechanism: Mechanism, best: bytes, worst: bytes, rng: np.random.Generator
) -> None:
    honest = mechanism.accumulate(mechanism.simulate(rng.integers(0, 5, 400), rng))
    found = leverage(mechanism.parameters)
    assert moved(mechanism, honest, best)[3] == pytest.approx(found.up, rel=1e-9)
    assert moved(mechanism, honest, worst)[3] == pytest.approx(-found.down, rel=1e-9)


def test_a_plain_yes_or_no_counts_the_larger_side(rng: np.random.Generator) -> None:
    mechanism = Rappor.basic(f=0.0, p=0.3, q=0.5)
    honest = mechanism.accumulate(mechanism.simulate(rng.integers(0, 2, 400), rng))
    found = leverage(mechanism.parameters)
    no, yes = (moved(mechanism, honest, bytes([0, 0, bit])) for bit in (0, 1))
    assert max(no.max(), yes.max()) == pytest.approx(found.up, rel=1e-9)
    assert -min(no.min(), yes.min()) == pytest.approx(found.down, rel=1e-9)


def test_a_bloom_report_beside_an_intercept() -> None:
    """The weights of one string that sets 2 of 32 bits: its bits' mean less the mean of all."""
    mechanism = Rappor(bits=32, hashes=2, cohorts=1, f=0.0, p=0.5, q=0.75)
    crafted = np.zeros(32)
    crafted[[3, 17]] = 1
    weights = (crafted / 2 - 1 / 32) / ((1 - 2 / 32) * 0.25)
    assert weights @ crafted == pytest.approx(leverage(mechanism.parameters).up)
    assert weights @ (1 - crafted) == pytest.approx(-leverage(mechanism.parameters).down)


@pytest.mark.parametrize("mechanism", ["krr", "subset", "oue"])
def test_a_sampled_member_counts_for_the_whole_set(
    mechanism: str, rng: np.random.Generator
) -> None:
    domain = Sets(("a", "b", "c"), 2)
    parameters = resolve(mechanism, {"epsilon": 1.0}, domain, False)
    field = Field("value", domain, parameters)
    population = mechanism_of(field, absent=False)
    honest = population.accumulate(population.simulate(rng.integers(0, 4, (300, 2)), rng))
    record = {"krr": bytes([1, 0, 0, 0]), "subset": bytes([2]), "oue": bytes([2])}[mechanism]
    assert moved(population, honest, record)[1] == pytest.approx(leverage_of(field).up, rel=1e-9)
    assert leverage_of(field).up == pytest.approx(2 * leverage(parameters).up)


def test_a_bit_per_name_is_not_scaled() -> None:
    domain = Sets(("a", "b", "c"), 2)
    parameters = resolve("oue", {"epsilon": 4.0, "per": "bit"}, domain, False)
    assert leverage_of(Field("value", domain, parameters)) == leverage(parameters)


def test_the_shift_of_a_share_of_attackers() -> None:
    found = Leverage(3.0, 1.5)
    assert found.most == 3.0
    assert found.shift(0.01) == pytest.approx(0.03)
    assert Leverage(1.2, 0.8).shift(0.1) == pytest.approx(0.18)  # an honest holder is missing too
    with pytest.raises(InvalidParameter, match="'crafted' parameter"):
        found.shift(float("nan"))
