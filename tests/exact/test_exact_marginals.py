"""The epsilons of the mechanisms of profiles, proven from the shipped encoders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from deniable.authoring import resolve
from deniable.client.encoders import encoder_for
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import (
    PROFILE_MECHANISMS,
    Answer,
    Attribute,
    Boolean,
    Categories,
    CoefficientsParameters,
    InpEMParameters,
    InpRRParameters,
    MargPSParameters,
    Profile,
    ProfileParameters,
    ViewsParameters,
)
from deniable.protocol.epsilon import within
from deniable.protocol.profile_domain import profile_answer
from deniable.protocol.thresholds import ONE, as_fraction

SMALL = {"inp_olh": {"seeds": 7}, "inp_ht_cms": {"rows": 2, "width": 8}}
"""Sizes of pools and sketches that can be enumerated."""


def record(*answers: int) -> Profile:
    domains = [
        Boolean() if count == 2 else Categories(tuple(f"c{code}" for code in range(count)))
        for count in answers
    ]
    return Profile(tuple(Attribute(f"a{i}", domain) for i, domain in enumerate(domains)))


def every(*answers: int) -> list[Answer]:
    return [profile_answer(codes) for codes in product(*map(range, answers))]


def resolved(
    name: str, answers: tuple[int, ...], order: int, epsilon: float = 1.0, **others: object
) -> ProfileParameters:
    wanted: Mapping[str, object] = {
        "epsilon": epsilon,
        "order": order,
        **SMALL.get(name, {}),
        **others,
    }
    parameters = resolve(name, wanted, record(*answers), absent=False)
    assert isinstance(parameters, ProfileParameters)
    return parameters


SHAPES = [((2, 2), 1), ((2, 2), 2), ((2, 2, 2), 2), ((3, 2), 2), ((3, 5), 1), ((2, 3, 2), 2)]
FORMS: list[tuple[str, dict[str, object]]] = [
    *((name, {}) for name in PROFILE_MECHANISMS),
    ("inp_rr", {"asymmetric": True}),
    ("marg_rr", {"asymmetric": True}),
    ("coefficients", {"basis": "contrasts"}),
]


def _feasible(name: str, answers: tuple[int, ...], order: int) -> bool:
    """Whether a report has at most 8 bits, so that all their outcomes can be enumerated."""
    bits = sorted((count - 1).bit_length() for count in answers)
    reported = {"inp_rr": sum(bits), "marg_rr": sum(bits[-order:])}
    return reported.get(name, 0) <= 3


CASES = [
    pytest.param(name, others, answers, order, id=f"{name}{len(others) or ''}-{answers}-{order}")
    for name, others in FORMS
    for answers, order in SHAPES
    if _feasible(name, answers, order)
]


@pytest.mark.parametrize(("name", "others", "answers", "order"), CASES)
def test_one_report(
    name: str, others: dict[str, object], answers: tuple[int, ...], order: int
) -> None:
    parameters = resolved(name, answers, order, **others)
    channel = report_channel(encoder_for(parameters), every(*answers))
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight or name in ("inp_olh", "inp_ht_cms"), str(proof)
    assert proof.micros is not None
    assert proof.micros <= 1_000_000
    assert 1_000_000 - sum(parameters.bits) <= parameters.epsilon_once
    assert all(sum(law.values()) == 1 for law in channel.values())
    for law in channel.values():
        for sent in law:
            parameters.check_record(sent)


@pytest.mark.parametrize("epsilon", [0.1, 1.0986122, 5.0])
@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
def test_what_was_wanted_is_not_exceeded(name: str, epsilon: float) -> None:
    parameters = resolved(name, (2, 3), 2, epsilon)
    channel = report_channel(encoder_for(parameters), every(2, 3))
    proof = prove_epsilon(channel, int(epsilon * 1e6))
    assert proof.holds, str(proof)


WRONG = {
    "inp_rr": "one",
    "marg_rr": "one",
    "marg_ps": "truth",
    "views": "truth",
}


@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
def test_a_wrong_threshold_fails(name: str) -> None:
    right = resolved(name, (2, 3), 2)
    threshold = WRONG.get(name, "keep")
    wrong = replace(right, **{threshold: getattr(right, threshold) + ONE // 1_000})
    channel = report_channel(encoder_for(wrong), every(2, 3))
    assert not prove_epsilon(channel, right.epsilon_once).holds


@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
def test_many_reports_have_no_epsilon(name: str) -> None:
    parameters = resolved(name, (2, 2), 2)
    channel = permanent_channel(encoder_for(parameters), every(2, 2))
    assert not prove_epsilon(channel, 10**9).holds
    assert parameters.epsilon_forever is None
    assert not parameters.memoised


def _bits(sent: bytes, count: int) -> tuple[int, ...]:
    whole = int.from_bytes(sent, "little")
    return tuple(whole >> i & 1 for i in range(count))


def test_bits_of_inp_rr_and_inp_em_are_independent() -> None:
    """Every outcome has the product of its bits' probabilities, and these are as stated."""
    cells = resolved("inp_rr", (2, 3), 2)
    coins = resolved("inp_em", (2, 3), 2)
    assert isinstance(cells, InpRRParameters)
    assert isinstance(coins, InpEMParameters)
    for parameters, count in ((cells, cells.cells), (coins, coins.width)):
        channel = report_channel(encoder_for(parameters), every(2, 3))
        for answer, law in channel.items():
            if isinstance(parameters, InpRRParameters):
                own = {parameters.cell(answer.codes)}
                one, zero = parameters.support
            else:
                code = parameters.cell(answer.codes)
                own = {i for i in range(count) if code >> i & 1}
                one, zero = parameters.support[0], parameters.support[1]
            shares = [one if i in own else zero for i in range(count)]
            assert len(law) == 2**count
            for sent, probability in law.items():
                expected = Fraction(1)
                for bit, share in zip(_bits(sent, count), shares, strict=True):
                    expected *= share if bit else 1 - share
                assert probability == expected


@pytest.mark.parametrize("basis", ["walsh", "contrasts"])
def test_the_mean_sign_of_a_coefficient_is_its_value(basis: str) -> None:
    parameters = resolved("coefficients", (2, 3, 5), 2, basis=basis)
    assert isinstance(parameters, CoefficientsParameters)
    gap = 2 * as_fraction(parameters.keep) - 1
    first = as_fraction(parameters.orders[0])
    shares = [first / parameters.counts[0]] * parameters.counts[0]
    shares += [(1 - first) / parameters.counts[1]] * parameters.counts[1]
    for answer, law in report_channel(encoder_for(parameters), every(2, 3, 5)).items():
        for coefficient, share in enumerate(shares):
            width = parameters.layout.size
            plus, minus = (
                law[(2 * coefficient + sign).to_bytes(width, "little")] for sign in (0, 1)
            )
            assert plus + minus == share
            value = Fraction(*parameters.value(coefficient, answer.codes))
            mean = (plus - minus) / share
            assert 0 <= abs(gap * value) - abs(mean) <= Fraction(1, 2**63)
            assert mean * value >= 0


def test_tables_and_views_of_different_sizes_share_one_epsilon() -> None:
    marginals = resolved("marg_ps", (2, 3, 5), 2)
    views = resolved("views", (2, 3, 5), 2)
    assert isinstance(marginals, MargPSParameters)
    assert isinstance(views, ViewsParameters)
    assert marginals.sizes == (8, 16, 32)
    assert views.sizes == (6, 10, 15)
    for parameters in (marginals, views):
        for cells in parameters.sizes:
            keep = as_fraction(parameters.keep(cells))
            ratio = keep * (cells - 1) / (1 - keep)
            assert within(ratio, parameters.epsilon_once)
            assert not within(ratio, parameters.epsilon_once - 2)


def test_a_basis_that_leaves_minus_one_to_one_fails() -> None:
    """Negative control: a value of 3/2 would spend more than the epsilon shows."""

    class Stretched(CoefficientsParameters):
        def value(self, coefficient: int, codes: tuple[int, ...]) -> tuple[int, int]:
            numerator, denominator = super().value(coefficient, codes)
            return 3 * numerator, 2 * denominator

    right = resolved("coefficients", (2, 2), 2)
    assert isinstance(right, CoefficientsParameters)
    wrong = Stretched(right.answers, right.order, right.keep, right.basis, right.orders)
    channel = report_channel(encoder_for(wrong), every(2, 2))
    assert not prove_epsilon(channel, right.epsilon_once).holds
