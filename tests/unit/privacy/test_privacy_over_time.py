from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from deniable.client.encoders import encoder_for
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, OLH, OUE, Hadamard, Rappor, Subset
from deniable.privacy import channel, epsilon_after, worst_ratio
from deniable.privacy.over_time import bits, symbols
from deniable.protocol import Answer, Parameters
from deniable.protocol.channel import Bits, Symbol
from deniable.protocol.domain import code_key
from deniable.protocol.thresholds import as_fraction

PAPER = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75).parameters


def ratio_after(parameters: Parameters, n: int) -> Fraction:
    """Return the closed form of the kind of report."""
    stages = parameters.channel.typical.stages
    assert stages is not None
    first, then = stages
    if isinstance(first, Symbol) and isinstance(then, Symbol):
        return symbols.ratio_after(first, then, n)
    assert isinstance(first, Bits)
    assert isinstance(then, Bits)
    return bits.ratio_after(first, then, n)


@pytest.mark.parametrize(("n", "epsilon"), [(1, 1.07), (7, 4.07), (30, 4.394)])
def test_known_numbers(n: int, epsilon: float) -> None:
    """Mathematics, section 1: 1.07 at n=1, 4.07 at 7, 4.394 at 30."""
    assert epsilon_after(PAPER, n) / 1e6 == pytest.approx(epsilon, abs=0.5 * 10 ** -(2 + (n == 30)))


@pytest.mark.parametrize(
    "parameters",
    [
        PAPER,
        Rappor.basic(f=0.5, p=0.3, q=0.8).parameters,
        KRR(5, epsilon=1.0, epsilon_forever=3.0).parameters,
        KRR(5, epsilon=1.0).parameters,
        OUE(5, epsilon=1.0, epsilon_forever=3.0).parameters,
        OUE(5, epsilon=1.0).parameters,
        Hadamard(5, epsilon=1.0).parameters,
        Subset(5, epsilon=1.0).parameters,
        OLH(epsilon=1.0).parameters,
    ],
)
def test_from_one_report_to_for_ever(parameters: Parameters) -> None:
    spent = [epsilon_after(parameters, n) for n in (1, 2, 5, 20, 100, 10**9)]
    assert spent[0] == parameters.epsilon_once
    assert spent == sorted(spent)
    if parameters.epsilon_forever is None:
        assert spent[-1] == 10**9 * parameters.epsilon_once
        assert spent[2] == pytest.approx(5 * spent[0], abs=5)
    else:
        assert spent[-1] == parameters.epsilon_forever


def exact_after(parameters: Parameters, answers: list[Answer], n: int) -> Fraction | None:
    """Return the worst ratio of n reports, by enumeration of what is permanent and of each."""
    encoder = encoder_for(parameters)

    class Again:
        """The permanent draws, the same in every report."""

        def __init__(self, draws: object) -> None:
            self.draws, self.outcomes, self.place = draws, [], 0

        def coin(self, threshold: int, bits: int = 64) -> bool:
            return bool(self.next(lambda: self.draws.coin(threshold, bits)))

        def below(self, bound: int) -> int:
            return int(self.next(lambda: self.draws.below(bound)))

        def next(self, draw: object) -> int:
            if self.place == len(self.outcomes):
                self.outcomes.append(draw())
            self.place += 1
            return self.outcomes[self.place - 1]

    def reports(answer: Answer, draws: object) -> tuple[bytes, ...]:
        kept, sent = Again(draws), []
        for _ in range(n):
            kept.place = 0
            sent.append(encoder.encode(answer, kept, kept, draws))
        return tuple(sent)

    return worst_ratio(channel(reports, answers))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_closed_forms_by_enumeration_of_all_sequences(n: int) -> None:
    three = KRR(3, epsilon=1.0, epsilon_forever=2.0).parameters
    bit = Rappor.basic(f=0.5, p=0.3, q=0.8).parameters
    pair = Rappor.basic(2, f=0.5, p=0.5, q=0.75).parameters
    answers = [Answer(code_key(code), code) for code in range(3)]
    assert exact_after(three, answers, n) == ratio_after(three, n)
    assert exact_after(bit, answers[:2], n) == ratio_after(bit, n)
    assert exact_after(pair, answers[:2], n) == ratio_after(pair, n)


def test_extremes_are_the_worst_of_all_sequences_of_one_bit() -> None:
    """Over every number of ones in 12 reports, none tells more than all or none."""
    parameters, n = Rappor.basic(f=0.4, p=0.2, q=0.7).parameters, 12
    a, b = as_fraction(parameters.permanent_one), as_fraction(parameters.permanent_zero)
    q, p = as_fraction(parameters.report_one), as_fraction(parameters.report_zero)
    worst = Fraction(1)
    for ones, (x, y) in product(range(n + 1), [(a, b), (b, a)]):
        one, zero = q**ones * (1 - q) ** (n - ones), p**ones * (1 - p) ** (n - ones)
        worst = max(worst, (x * one + (1 - x) * zero) / (y * one + (1 - y) * zero))
    assert worst == ratio_after(parameters, n)


@pytest.mark.parametrize("n", [0, -1, 1.5, 10**13])
def test_impossible_numbers_of_reports_are_refused(n: int) -> None:
    with pytest.raises(InvalidParameter, match="'n' parameter"):
        epsilon_after(PAPER, n)
