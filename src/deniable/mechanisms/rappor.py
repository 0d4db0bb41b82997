"""RAPPOR for whole populations: bloom and basic, one-time or with a permanent stage [EPK14].

Model: a reported bit is 1 with probability q* where the answer sets it and p* where it does not,
both stages together, independently of the other bits; q* and p* are exact fractions of the
protocol's integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from deniable.authoring import resolve
from deniable.errors import InvalidReport
from deniable.mechanisms import candidates as names
from deniable.mechanisms import unary
from deniable.mechanisms.base import (
    Candidate,
    Codes,
    Counts,
    Estimate,
    Floats,
    Mechanism,
    Reports,
    Values,
)
from deniable.mechanisms.chances import Chances
from deniable.mechanisms.closed_form import Pure, categories_domain, checked, nothing_learned
from deniable.mechanisms.coins import as_generator, nearest_threshold
from deniable.mechanisms.hashing import Words, bloom_bits, fingerprints
from deniable.mechanisms.packed import PackedAnswers
from deniable.mechanisms.rappor_bloom import Bloom, estimate_closed, estimate_strings
from deniable.mechanisms.rappor_likelihood import (
    Places,
    distinct_places,
    log_likelihood,
    packed_matches,
)
from deniable.mechanisms.rappor_permuted import answer_bits, permuted_bits
from deniable.protocol import Boolean, Parameters, RapporParameters, Strings

_CHUNK_BITS = 2**22
"""Bits that are held unpacked at once, in a few arrays of one byte per bit."""
_YES_NO = ("false", "true")


class Rappor(Mechanism):
    """RAPPOR of strings: Bloom filters of k bits, h hash functions, m cohorts.

    Give f, p and q as in the paper (f = 0, or p = 0 and q = 1, for the one-time forms), or the
    epsilon of one report and, for a permanent stage, of all reports for ever. `Rappor.basic` has
    one bit per answer of a closed domain, `Rappor.permuted` permutations instead of hash functions.

    Args:
        bits: k.
        hashes: h.
        cohorts: m.
        f: the share of permanent noise; 0 by default.
        p: P(1 is reported | a 0 is held).
        q: P(1 is reported | a 1 is held).
        epsilon: what one report may spend, instead of f, p and q.
        epsilon_forever: what all reports of one value may spend.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.

    Example:
        >>> from deniable.mechanisms import Rappor
        >>> m = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
        >>> m.epsilon, m.epsilon_forever
        (1.074286, 4.39445)
        >>> import numpy as np
        >>> rng = np.random.default_rng(1)
        >>> words = ["news", "mail", "maps"]
        >>> reports = m.simulate(rng.choice(words, size=100_000, p=[0.5, 0.3, 0.2]), rng)
        >>> found = m.estimate(m.accumulate(reports), words)
        >>> found.frequency.round(1).tolist()
        [0.5, 0.3, 0.2]
    """

    parameters_type = RapporParameters
    adds_bits = True
    parameters: RapporParameters
    pure: Pure

    def __init__(
        self,
        *,
        bits: int = 128,
        hashes: int = 1,
        cohorts: int = 64,
        f: float | None = None,
        p: float | None = None,
        q: float | None = None,
        epsilon: float | None = None,
        epsilon_forever: float | None = None,
    ) -> None:
        shape = {"bits": bits, "hashes": hashes, "cohorts": cohorts}
        wanted = {**shape, **_given(f, p, q, epsilon, epsilon_forever)}
        self._adopt(resolve(RapporParameters, wanted, Strings(), absent=False))

    @classmethod
    def basic(
        cls,
        answers: int | None = None,
        *,
        f: float | None = None,
        p: float | None = None,
        q: float | None = None,
        epsilon: float | None = None,
        epsilon_forever: float | None = None,
    ) -> Self:
        """Return basic RAPPOR: one bit per answer, or a single bit for a yes/no question.

        Args:
            answers: the number of answers, an absent one included; leave it out for a yes/no
                question, whose one bit is set for yes (code 1).
            f: as in the class.
            p: as in the class.
            q: as in the class.
            epsilon: as in the class.
            epsilon_forever: as in the class.

        Example:
            >>> Rappor.basic(4, epsilon=1.0).parameters.form
            'basic'
        """
        domain = Boolean() if answers is None else categories_domain("Rappor", answers)
        wanted = _given(f, p, q, epsilon, epsilon_forever)
        return cls.from_parameters(resolve(RapporParameters, wanted, domain, absent=False))

    @classmethod
    def permuted(
        cls,
        answers: int,
        *,
        bits: int,
        hashes: int = 1,
        cohorts: int = 64,
        f: float | None = None,
        p: float | None = None,
        q: float | None = None,
        epsilon: float | None = None,
        epsilon_forever: float | None = None,
    ) -> Self:
        """Return O-RAPPOR of a closed domain: permutations of the answers choose the bits [KBR16].

        Args:
            answers: the number of answers, an absent one included.
            bits: k.
            hashes: h.
            cohorts: m.
            f: as in the class.
            p: as in the class.
            q: as in the class.
            epsilon: as in the class.
            epsilon_forever: as in the class.
        """
        shape = {"form": "permuted", "bits": bits, "hashes": hashes, "cohorts": cohorts}
        wanted = {**shape, **_given(f, p, q, epsilon, epsilon_forever)}
        domain = categories_domain("Rappor", answers)
        return cls.from_parameters(resolve(RapporParameters, wanted, domain, absent=False))

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        # In the letters of a pure oracle p is for the set bit: q* of the paper.
        self.pure = Pure.of(self.parameters.q_star, self.parameters.p_star)

    @property
    def hashed(self) -> bool:
        """The bloom form knows strings by their hash alone."""
        return self.parameters.form == "bloom"

    @property
    def _yes_no(self) -> bool:
        """True for a yes/no question, whose two answers share one bit."""
        return self.parameters.bits == 1

    @property
    def _labels(self) -> list[str]:
        """The answers of a closed domain."""
        count = self.parameters.answers or self.parameters.bits
        return list(_YES_NO) if self._yes_no else [str(code) for code in range(count)]

    def simulate(
        self,
        values: Values,
        rng: np.random.Generator | int,
        candidates: Sequence[Candidate] | None = None,
    ) -> Reports:
        """Return one report per value.

        Every value belongs to another person, whose cohort is uniform and whose permanent
        response nobody else shares: both stages are drawn as one coin per bit.

        Guarantees: each bit's probability is within 2^-64 of the client's.

        Cost: O(n (k + h)) time; the reports, 16 bytes per value and about 20 MB more.

        Args:
            values: strings, or codes of `candidates`; closed domains: codes, or labels with their
                list in `candidates`.
            rng: the only source of randomness.
            candidates: the strings that codes stand for.
        """
        rng = as_generator(rng)
        from deniable.kernels.simulate_bits import simulate_basic, simulate_bloom

        shape = self.parameters
        zero, one = nearest_threshold(shape.p_star), nearest_threshold(shape.q_star)
        if self.hashed:
            words, codes = names.words_of(values, candidates)
            family = (shape.cohorts, shape.hashes, shape.bits)
            return simulate_bloom(words, codes, family, (zero, one), rng)
        codes = names.codes_of(values, len(self._labels), candidates)
        if shape.form == "permuted":
            return self._simulate_permuted(codes, rng)
        # The one bit of a yes/no question is number 0, set for yes: code 1. Code -1 sets none.
        return simulate_basic(codes - self._yes_no, shape.bits, (zero, one), rng)

    def _simulate_permuted(self, codes: Codes, rng: np.random.Generator) -> Reports:
        shape, reports = self.parameters, np.empty(codes.size, dtype=self.dtype)
        reports["cohort"] = rng.integers(0, shape.cohorts, size=codes.size, dtype=np.uint16)
        step = self._rows_at_once()
        for start in range(0, codes.size, step):
            part, cohort = codes[start : start + step], reports["cohort"][start : start + step]
            held = permuted_bits(shape, cohort, part)
            reports["bits"][start : start + step] = unary.noisy_bits(held, shape, rng)
        return reports

    def simulate_members(self, members: Codes, rng: np.random.Generator) -> Reports:
        """Return one report per set, each set a row of bits; numbers outside 0..k-1 set none."""
        reports = np.zeros(len(members), dtype=self.dtype)
        step = self._rows_at_once()
        for start in range(0, len(members), step):
            part = unary.noisy_bits(members[start : start + step], self.parameters, rng)
            reports["bits"][start : start + step] = part
        return reports

    def members_likelihood(self, reports: Reports | bytes | memoryview, members: Codes) -> Floats:
        """Return P(report | set), each set a row of bits as in `simulate_members`."""
        ones = self._unpacked(self._checked(reports)["bits"]).astype(np.float64)
        return np.exp(unary.members_log_likelihood(self.pure, ones, members))

    def _rows_at_once(self) -> int:
        # At most 65,535 rows, so that a count of bits in one step fits 16 bits.
        return max(1, min(2**16 - 1, _CHUNK_BITS // self.parameters.bits))

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per cohort, a column per bit."""
        m, k = self.parameters.cohorts, self.parameters.bits
        return Counts(np.zeros(m, dtype=np.int64), np.zeros((m, k), dtype=np.int64))

    def accumulate(self, reports: Reports | bytes | memoryview) -> Counts:
        """Return how often each bit was reported in each cohort.

        Cost: O(n k) bit operations, 512 at a time; the counts.

        Raises:
            InvalidReport: if a cohort is not below m, or a padding bit is set.
        """
        # Imported here because Numba takes most of a second to load and few commands count.
        from deniable.kernels.bit_counts import count_bits

        shape = self.parameters
        return Counts(*count_bits(self.records(reports), shape.cohorts, shape.bits))

    def _checked(self, reports: Reports | bytes | memoryview) -> Reports:
        records, shape = self.records(reports), self.parameters
        if records.size and int(records["cohort"].max()) >= shape.cohorts:
            raise InvalidReport("record", f"The cohort must be below {shape.cohorts}.")
        if shape.bits % 8 and np.any(records["bits"][:, -1] >> (shape.bits % 8)):
            raise InvalidReport("record", "The padding bits of the last byte must be zero.")
        return records

    def _unpacked(self, packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.unpackbits(packed, axis=1, count=self.parameters.bits, bitorder="little")

    def estimate(self, counts: Counts, candidates: Sequence[Candidate] | None = None) -> Estimate:
        """Return unbiased frequencies: of the candidate strings, or of every answer.

        The forms with cohorts are solved by weighted least squares: see `rappor_bloom`; permuted
        answers without an intercept, since there are no others. In the basic form
        bits are independent given the people's values, so that the covariance is diagonal; for
        a yes/no question false is 1 - true and the covariance [[v, -v], [-v, v]].

        Edge cases: without reports everything is NaN, with a note. Basic frequencies need not
        sum to 1. Above 4,096 answers the covariance of the basic form is None.

        Args:
            counts: of this mechanism.
            candidates: strings to test for, ABSENT among them if the question is always sent;
                closed domains: labels, one per answer ("0", "1", ... by default; "false", "true").

        Raises:
            InvalidParameter: if candidates are missing, repeated or no possible answers.
        """
        self._check_counts(counts)
        if self.parameters.form == "bloom":
            words = fingerprints(names.open_keys(candidates))
            labels = tuple(names.label_of(candidate) for candidate in candidates or ())
            return estimate_strings(self._bloom, counts, words, labels)
        labels = names.closed_labels(candidates, self._labels)
        if self.parameters.form == "permuted":
            places = (answer_bits(self.parameters, j) for j in range(self.parameters.cohorts))
            return estimate_closed(self._bloom, counts, places, labels)
        if counts.n == 0:
            return nothing_learned(labels)
        found = unary.estimate_bits(self.pure, counts.table[0] / counts.n, counts.n, labels)
        if self._yes_no:
            yes, variance = found.frequency[0], found.variance[0]
            # The share of no is 1 - yes: the same variance, and a correlation of -1.
            covariance = variance * np.array([[1.0, -1.0], [-1.0, 1.0]])
            errors = found.std_error[[0, 0]]
            # A report without the bit supports no: with probability 1 - p*, and 1 - q* of yes.
            p, q, gap = self.pure.p, self.pure.q, self.pure.gap
            chances = Chances(np.array([1 - p, q]), np.array([gap, gap]), np.zeros(2))
            shares = np.array([1 - yes, yes])
            return Estimate(labels, shares, errors, covariance, counts.n, chances=chances)
        return found

    @property
    def _bloom(self) -> Bloom:
        shape = self.parameters
        return Bloom(shape.bits, shape.hashes, shape.cohorts, self.pure)

    def likelihood(
        self,
        reports: Reports | bytes | memoryview,
        candidates: Sequence[Candidate] | None = None,
        *,
        log: bool = False,
    ) -> Floats:
        """Return P(report | candidate): 1/m for the cohort, times p* and q* bit by bit.

        Cost: O(n h M) for M candidates; a row of M numbers per report.
        """
        records, shape = self._checked(reports), self.parameters
        places = self._places(self._words(candidates))
        result = log_likelihood(self.pure, shape.bits, records, places)
        result -= np.log(shape.cohorts)
        return result if log else np.exp(result)

    def packed_answers(
        self,
        reports: Reports | bytes | memoryview,
        candidates: Sequence[Candidate] | None = None,
        /,
    ) -> PackedAnswers | None:
        """Return reports as an answer's own bit, or its number of matching bits, in bytes.

        None for a yes/no question, whose answers share a bit.
        """
        if self._yes_no:
            return None
        records, shape = self._checked(reports), self.parameters
        if shape.form == "basic":
            return PackedAnswers.of_bits(records["bits"], shape.bits, self.pure.least)
        return packed_matches(self.pure, records, self._places(self._words(candidates)))

    def _words(self, candidates: Sequence[Candidate] | None) -> Words | None:
        """Return the fingerprints of candidate strings; None for the answers of a closed domain."""
        if not self.hashed:
            names.closed_labels(candidates, self._labels)
            return None
        return fingerprints(names.open_keys(candidates))

    def _places(self, words: Words | None) -> Places:
        """Return the bits that each answer sets in each cohort, -1 for none."""
        shape = self.parameters
        if shape.form == "basic":
            single = np.arange(-1, 1) if self._yes_no else np.arange(shape.bits)
            return np.asarray(single[None, :, None], dtype=np.int32)
        cohorts = np.arange(shape.cohorts)
        if words is None:
            return distinct_places(np.stack([answer_bits(shape, int(j)) for j in cohorts]))
        bits = bloom_bits(words[None, :, :], cohorts[:, None], shape.hashes, shape.bits)
        return distinct_places(bits)

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the closed-form variance of an estimated frequency, given the people's values.

        Basic form: exactly n^-1 [p* (1 - p*) + f (q* (1 - q*) - p* (1 - p*))] / (q* - p*)^2.

        Forms with cohorts, an approximation for one string: it sets d = k (1 - (1 - 1/k)^h)
        distinct bits on average. The mean over these d bits, less the mean of all k (the
        intercept), estimates f (1 - d/k). Other people's strings set any bit with probability d/k,
        so that a bit of theirs is 1 with probability r = p* + (q* - p*) d/k, whence

            n Var = [f q* (1 - q*) + (1 - f) r (1 - r)] / (d (1 - d/k) (q* - p*)^2).

        Accuracy: this neglects that the other candidates are fitted too, which multiplies the
        variance by about 1 / (1 - M / (k m)) for M candidates, and strings that nobody listed,
        which add about their frequency squared over k m each. With d = h, r = p* and k large it is
        p* (1 - p*) / (n h (q* - p*)^2), the paper's limit of detection.
        """
        shape = self.parameters
        if shape.form == "basic":
            return self.pure.variance(n, frequency)
        p, q, gap = self.pure.q, self.pure.p, self.pure.gap
        n, f = checked(n, frequency)
        # filled = d/k: a given bit is missed by all h hash functions with (1 - 1/k)^h.
        filled = 1 - (1 - 1 / shape.bits) ** shape.hashes
        r = p + gap * filled
        noise = f * q * (1 - q) + (1 - f) * r * (1 - r)
        distinct = shape.bits * filled
        return np.asarray(noise / (n * distinct * (1 - filled) * gap**2))


def _given(
    f: float | None,
    p: float | None,
    q: float | None,
    epsilon: float | None,
    epsilon_forever: float | None,
) -> dict[str, object]:
    """Return the given parameters, by the names that a survey uses."""
    every = {"f": f, "p": p, "q": q, "epsilon": epsilon, "epsilon_forever": epsilon_forever}
    return {name: value for name, value in every.items() if value is not None}
