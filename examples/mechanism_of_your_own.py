"""Paley response: a mechanism of its own, in one file, outside of the package.

    deniable check survey.toml --plugin examples/mechanism_of_your_own.py

The page docs/mechanism.md goes through this file part by part.

Model: P is the smallest prime of the form 4 j + 3 that is at least the number of answers. The sign
s(y) of a number is +1 if y is a square modulo P (0 is one), else -1. A device draws a shift r
uniformly from 0..P-1 and reports it with s(x + r), x its answer, flipped with probability
1/(E + 1), epsilon = ln E. For such primes any two answers x and v satisfy [Paley, "On orthogonal
matrices", Journal of Mathematics and Physics, 1933]

    sum over r of s(x + r) s(v + r) = -1,

so that their signs agree for (P - 1)/2 of the P shifts. A report *supports* the answers whose sign
it has: its sender's with probability p = E/(E + 1), and any other one with probability
q = 1/2 - (2 p - 1)/(2 P). Hadamard response has q = 1/2, and needs a power of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from deniable.authoring import EPSILON, Authoring, closed_answers, truth_threshold, wanted_epsilon
from deniable.client.encoders import Draws, Encoder
from deniable.errors import InvalidParameter
from deniable.mechanisms import Counts, PureOracle
from deniable.mechanisms.base import Candidates, Floats, Records, Reports, Values
from deniable.mechanisms.candidates import codes_of
from deniable.mechanisms.coins import as_generator, coins
from deniable.mechanisms.pure_oracles import Held, Words
from deniable.protocol import Answer, Domain, KeepParameters, Layout, answers_of, register
from deniable.protocol.channel import Channel, Public, Sign, uniform
from deniable.protocol.declared import threshold, whole
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import number

NAME = "paley"


def sign(number: int, prime: int) -> int:
    """Return s(y): 1 where a number is a square modulo the prime, else -1."""
    # Euler's criterion: y^((P-1)/2) is 0 or 1 for squares, and P - 1 for all others.
    return 1 if pow(number, prime >> 1, prime) <= 1 else -1


@frozen
class PaleyParameters(KeepParameters):
    """The integers of Paley response: what devices, collector and analysts agree on.

    Attributes:
        answers: the number of answers, an absent one included.
        keep: threshold of reporting the true sign.
    """

    answers: int = whole(2, 65_537)
    keep: int = threshold()

    mechanism: ClassVar[str] = NAME

    @property
    def odds(self) -> int:
        """1: there are two signs, so that epsilon = ln(keep / (1 - keep))."""
        return 1

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must have exactly as many answers."""
        if answers_of(domain, absent) != self.answers:
            raise InvalidParameter(f"{NAME} must have as many answers as its domain.")

    @cached_property
    def prime(self) -> int:
        """P, the smallest prime of the form 4 j + 3 that is at least the number of answers."""
        tried = self.answers
        while tried % 4 != 3 or any(tried % d == 0 for d in range(3, isqrt(tried) + 1, 2)):
            tried += 1
        return tried

    @cached_property
    def layout(self) -> Layout:
        """The record: shift, u32; sign, u8, 0 for +1 and 1 for -1."""
        return Layout((number("shift", self.prime, 4), number("sign", 2)))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """The chances p and q of the model."""
        return self.kept, (1 - (2 * self.kept - 1) / self.prime) / 2

    @cached_property
    def channel(self) -> Channel:
        """A shift in clear, drawn afresh for every report; then the answer's sign there."""
        shift = uniform("shift", self.prime, means="which half of all answers it is about")
        return Channel((shift,), Sign(2 * self.kept - 1), self._own, self.layout)

    def _own(self, answer: Answer, public: Public) -> int:
        return sign(answer.code + public[0], self.prime)


class PaleyEncoder(Encoder):
    """What runs on a device. It draws through `coin` and `below` alone, so that it can be proven.

    It does not look at the channel: the proof compares the two, probability by probability.
    """

    def __init__(self, parameters: PaleyParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the record of an answer. All draws are fresh ones: nothing is kept."""
        parameters = self._parameters
        shift = fresh.below(parameters.prime)
        kept = fresh.coin(parameters.keep)
        minus = (sign(answer.code + shift, parameters.prime) < 0) == kept
        return parameters.layout.pack({"shift": shift, "sign": int(minus)})


class Paley(PureOracle):
    """The same for whole populations. `PureOracle` estimates from the reports that support answers.

    Example:
        >>> from deniable.protocol import Categories
        >>> parameters = resolve({"epsilon": 1.0}, Categories(("a", "b", "c")), False)
        >>> mechanism, rng = Paley.from_parameters(parameters), np.random.default_rng(1)
        >>> reports = mechanism.simulate(rng.choice(3, size=50_000, p=[0.5, 0.3, 0.2]), rng)
        >>> mechanism.estimate(mechanism.accumulate(reports)).frequency.round(1).tolist()
        [0.5, 0.3, 0.2]
    """

    parameters_type = PaleyParameters
    parameters: PaleyParameters

    @cached_property
    def signs(self) -> Floats:
        """s(y) for y = 0..P-1."""
        signs = np.full(self.parameters.prime, -1.0)
        signs[np.arange(self.parameters.prime, dtype=np.int64) ** 2 % self.parameters.prime] = 1.0
        return signs

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value: codes, or labels with their list in `candidates`."""
        rng = as_generator(rng)
        codes = codes_of(values, self.parameters.answers, candidates)
        reports = np.empty(codes.size, dtype=self.dtype)
        reports["shift"] = rng.integers(0, self.parameters.prime, size=codes.size)
        shown = self.signs[(codes + reports["shift"]) % self.parameters.prime]
        kept = coins(rng, self.parameters.keep, codes.size)
        reports["sign"] = (shown < 0) == kept
        return reports

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per sign, a column per shift."""
        table = np.zeros((2, self.parameters.prime), dtype=np.int64)
        return Counts(np.zeros(1, dtype=np.int64), table)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each shift was reported with either sign."""
        records, prime = self._checked(reports), self.parameters.prime
        cells = records["sign"].astype(np.int64) * prime + records["shift"]
        table = np.bincount(cells, minlength=2 * prime).reshape(2, prime)
        return Counts(np.array([records.size], dtype=np.int64), table)

    def _supported(self, counts: Counts, answers: int, words: Words) -> Floats:
        """Return the share of reports that support each answer v.

        n (2 share - 1) = sum over r of s(v + r) (plus_r - minus_r), plus_r and minus_r the reports
        of shift r with either sign: a correlation, and a whole number.
        """
        difference = np.fft.rfft(counts.table[0] - counts.table[1])
        product = np.fft.rfft(self.signs) * np.conj(difference)
        total = np.rint(np.fft.irfft(product, self.parameters.prime)[:answers])
        return np.asarray((1 + total / counts.n) / 2)

    def _covariance(self, share: Floats, n: int) -> Floats:
        """Return the covariance of estimates, given the people's values.

        With y_v = +1 if a report supports v, else -1, and g = 2 keep - 1: E[y_u y_v] = -1/P of any
        sender; E[y_u] is g of a sender of u and -g/P of others. A frequency is half of y over the
        gap p - q, so that n Cov = (E[y_u y_v] - E[y_u] E[y_v]) / (4 gap^2), over all senders.
        """
        prime, keep = self.parameters.prime, float(self.parameters.kept)
        frequency, g = self.pure.frequency(share), 2 * keep - 1
        either = frequency[:, None] + frequency[None, :]
        products = either * (-g * g / prime) + (1 - either) * (g / prime) ** 2
        covariance = (-1 / prime - products) / (4 * n * self.pure.gap**2)
        np.fill_diagonal(covariance, self.pure.variance_observed(share, n))
        return covariance

    def _two_chances(self) -> tuple[float, float, int]:
        """keep/P where the sign is the answer's, else (1 - keep)/P."""
        return self.pure.p, 1 - self.pure.p, self.parameters.prime

    def _held(self, records: Reports, answers: int, words: Words) -> Iterator[Held]:
        shifted = records["shift"].astype(np.int64)[:, None] + np.arange(answers)
        minus = self.signs[shifted % self.parameters.prime] < 0
        yield slice(None), minus == (records["sign"] == 1)[:, None]


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> PaleyParameters:
    """Return the integers for what people wrote under `parameters`: `epsilon`."""
    answers = closed_answers(NAME, domain, absent)
    return PaleyParameters(answers, truth_threshold(1, wanted_epsilon(NAME, wanted)))


register(
    NAME,
    parameters=PaleyParameters,
    encoder=PaleyEncoder,
    population=Paley,
    authoring=Authoring(EPSILON, resolve),
)
