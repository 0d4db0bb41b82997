"""n-grams for whole populations; the model stands in protocol/ngrams.py.

Every part of a report is one of RAPPOR, so that `whole` and `gram`, two RAPPOR mechanisms, do the
work. Estimates here are of given whole strings. `deniable.discover` builds unknown strings from the
n-grams.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.authoring import resolve
from deniable.errors import InvalidParameter
from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    Candidate,
    Candidates,
    Counts,
    Estimate,
    Floats,
    Mechanism,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.bitmaps import Packed
from deniable.mechanisms.coins import as_generator, coins, nearest_threshold
from deniable.mechanisms.drawn_bits import unlisted_bits
from deniable.mechanisms.hashing import Words, bloom_bits, fingerprints
from deniable.mechanisms.rappor import Rappor
from deniable.protocol import (
    Answer,
    Domain,
    NGramsParameters,
    Parameters,
    RapporParameters,
    Strings,
)

_CHUNK = 2**18

Places = NDArray[np.int64]


class NGrams(Mechanism):
    """The whole string and r of its n-grams, by one-time RAPPOR [FPE16, section 4].

    Args:
        alphabet: the characters of the strings.
        length: the most characters of a string.
        epsilon: what one report may spend in all its parts; or p and q of every part.
        p: P(a bit is reported | it is not set), as in [EPK14].
        q: P(a bit is reported | it is set).
        n: characters of an n-gram.
        step: from the start of one to the start of the next; n by default.
        grams: how many a person reports.
        whole: the whole string's share of epsilon; by default that of an n-gram.
        bits: k.
        hashes: h.
        cohorts: m of every part.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.
    """

    parameters_type = NGramsParameters
    adds_bits = True
    parameters: NGramsParameters
    whole: Rappor
    gram: Rappor
    chosen: Places

    def __init__(
        self,
        *,
        alphabet: str,
        length: int,
        epsilon: float | None = None,
        p: float | None = None,
        q: float | None = None,
        n: int = 2,
        step: int | None = None,
        grams: int | None = None,
        whole: float | None = None,
        bits: int = 128,
        hashes: int = 1,
        cohorts: int = 64,
    ) -> None:
        given = {"epsilon": epsilon, "p": p, "q": q, "n": n, "step": step, "grams": grams}
        given |= {"whole": whole, "bits": bits, "hashes": hashes, "cohorts": cohorts}
        wanted = {name: value for name, value in given.items() if value is not None}
        domain: Domain = Strings("".join(sorted(set(alphabet))), length)
        self._adopt(resolve(NGramsParameters, wanted, domain, absent=False))

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        self.whole = Rappor.from_parameters(self.parameters.whole)
        self.gram = Rappor.from_parameters(self.parameters.gram)
        self.chosen = np.array(self.parameters.chosen, dtype=np.int64)

    @property
    def hashed(self) -> bool:
        """Strings are known by their hash alone."""
        return True

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value, each of another person with random places and cohort.

        Guarantees: each bit's probability is within 2^-64 of the client's.

        Cost: O(n (r + 1)(k + h)) time; twice the reports.

        Args:
            values: strings, or codes of `candidates`.
            rng: the only source of randomness.
            candidates: the strings that codes stand for.

        Raises:
            InvalidParameter: if a string is longer than `length`.
        """
        rng = as_generator(rng)
        shape = self.parameters
        keys, codes = names.keys_of(values, candidates)
        words = self._words(keys)
        reports = np.empty(codes.size, dtype=self.dtype)
        reports["places"] = rng.integers(0, shape.choices, size=codes.size)
        reports["cohort"] = rng.integers(0, shape.cohorts, size=codes.size)
        for part in range(shape.grams + 1):
            rows = codes * (shape.places + 1)
            if part:
                rows += 1 + self.chosen[reports["places"], part - 1]
            own = shape.gram if part else shape.whole
            for start in range(0, codes.size, _CHUNK):
                some = slice(start, start + _CHUNK)
                bits = _noisy_bits(own, words[rows[some]], reports["cohort"][some], rng)
                reports[f"bits_{part}"][some] = bits
        return reports

    def _words(self, keys: Sequence[bytes]) -> Words:
        """Return fingerprints: for each answer of the whole, then of the n-gram at each place."""
        shape, every = self.parameters, tuple(range(self.parameters.places))
        self._check_length(keys)
        return fingerprints(
            part.key for key in keys for part in shape.parts(Answer(key), every)
        ).reshape(-1, 2)

    def _check_length(self, keys: Sequence[bytes]) -> None:
        """Refuse strings that are longer than any that a device reports."""
        length = self.parameters.length
        if any(len(key) > 1 and len(key[1:].decode("utf-8")) > length for key in keys):
            raise InvalidParameter(
                f"A string of ngrams must have at most {length} characters.",
                "Let the domain cut it off.",
            )

    def part(self, reports: Reports, number: int) -> Reports:
        """Return one part of every report as a report of RAPPOR: 0 is the whole string's."""
        found = np.empty(reports.size, dtype=self.whole.dtype)
        found["cohort"], found["bits"] = reports["cohort"], reports[f"bits_{number}"]
        return found

    def zero(self) -> Counts:
        """Return the counts of no reports.

        The table has m rows for the whole string, then m for each place; of its columns the first k
        count bits, and the last the row's reports.
        """
        shape = self.parameters
        table = np.zeros(((shape.places + 1) * shape.cohorts, shape.bits + 1), dtype=np.int64)
        return Counts(np.zeros(shape.cohorts, dtype=np.int64), table)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each bit was reported in each cohort, of the whole and of every place.

        Cost: O(n (r + 1) k) bit operations, 512 at a time; the counts and twice the reports.

        Raises:
            InvalidReport: if places or a cohort are out of range, or a padding bit is set.
        """
        records, counts, shape = self._checked(reports), self.zero(), self.parameters
        whole = self.whole.accumulate(self.part(records, 0))
        counts.reports[:] = whole.reports
        self._add(counts, 0, whole)
        for number in range(1, shape.grams + 1):
            part, places = self.part(records, number), self.chosen[records["places"], number - 1]
            for place in range(shape.places):
                mine = part[places == place]
                if mine.size:
                    self._add(counts, place + 1, self.gram.accumulate(mine))
        return counts

    def _add(self, counts: Counts, block: int, found: Counts) -> None:
        rows = self._rows(block)
        counts.table[rows, :-1] += found.table
        counts.table[rows, -1] += found.reports

    def _rows(self, block: int) -> slice:
        return slice(block * self.parameters.cohorts, (block + 1) * self.parameters.cohorts)

    def whole_counts(self, counts: Counts) -> Counts:
        """Return the counts of the reports of whole strings, as of `whole`."""
        return self._counts(counts, 0)

    def place_counts(self, counts: Counts, place: int) -> Counts:
        """Return the counts of the n-grams at a place, as of `gram`."""
        return self._counts(counts, place + 1)

    def _counts(self, counts: Counts, block: int) -> Counts:
        table = counts.table[self._rows(block)]
        return Counts(table[:, -1].copy(), np.ascontiguousarray(table[:, :-1]))

    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
        """Return the unbiased frequency of candidate strings, from the reports of whole ones.

        Guarantees, cost and edge cases are those of RAPPOR's Bloom form.

        Raises:
            InvalidParameter: if candidates are missing or repeated, or no possible strings.
        """
        self._check_counts(counts)
        self._check_length(names.open_keys(candidates))
        return self.whole.estimate(self.whole_counts(counts), candidates)

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | candidate): 1 / C(P, r) for the places, times that of every part.

        Cost: O(n (r + 1) k M) for M candidates; a row of M numbers per report.
        """
        records, shape = self._checked(reports), self.parameters
        self._check_length(names.open_keys(candidates))
        listed = list(candidates or ())
        result = self.whole.likelihood(self.part(records, 0), listed, log=True)
        # One cohort for all parts: 1/m, which every part's likelihood has, counts once.
        result += np.log(shape.whole.cohorts) * shape.grams - np.log(shape.choices)
        for number in range(1, shape.grams + 1):
            part, places = self.part(records, number), self.chosen[records["places"], number - 1]
            for place in np.unique(places):
                rows = np.flatnonzero(places == place)
                result[rows] += self._gram_likelihood(part[rows], listed, int(place))
        return result if log else np.exp(result)

    def _gram_likelihood(self, part: Reports, listed: list[Candidate], place: int) -> Floats:
        """Return ln P(part | candidate's n-gram at a place)."""
        gram_of = self.parameters.gram_of
        held = [gram_of(each, place) if isinstance(each, str) else each for each in listed]
        distinct = list(dict.fromkeys(held))
        found = self.gram.likelihood(part, distinct, log=True)
        return np.asarray(found[:, [distinct.index(each) for each in held]])

    def unlisted(self, part: Reports, whole: bool = False) -> Floats:
        """Return ln P(part | an unlisted n-gram), or an unlisted whole string.

        It sets any bits, wherever hashing puts them (`drawn_bits`). A profile of the n-grams that
        are left, taken from the counts bit by bit [FPE16, section 3.2], has more noise than it
        explains where cohorts are many.
        """
        shape, pure = self.parameters, self.whole.pure if whole else self.gram.pure
        ones = np.bitwise_count(part["bits"]).sum(axis=1, dtype=np.int64)
        return np.asarray(
            unlisted_bits(shape.bits, shape.hashes, pure)[ones] - np.log(shape.cohorts)
        )

    def pair_error(self, people: int) -> float:
        """Return delta of a pair of places that N people report: sqrt(p2 (1 - p2) / N) / (q2 - p2).

        It is the standard error of the frequency of one bit; [FPE16] equation 2 prints it with a
        power missing, and with all people for those of the pair.
        """
        pure = self.gram.pure
        return float(np.sqrt(pure.q * (1 - pure.q) / people) / pure.gap)

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of a whole string's frequency: RAPPOR's, at the whole's epsilon."""
        return self.whole.variance(n, frequency)


def _noisy_bits(
    shape: RapporParameters, words: Words, cohorts: NDArray[np.uint16], rng: Generator
) -> Packed:
    """Return randomised Bloom filters of answers in given cohorts, a row each.

    All bits are drawn as if none were set, then those that are set once more. A bit that two hash
    functions choose is drawn twice, and the last draw counts: still one coin.
    """
    from deniable.kernels.simulate_bits import simulate_basic

    thresholds = nearest_threshold(shape.p_star), nearest_threshold(shape.q_star)
    nothing = np.full(len(words), -1, dtype=np.int64)
    packed: Packed = simulate_basic(nothing, shape.bits, thresholds, rng)["bits"].copy()
    held, rows = bloom_bits(words, cohorts, shape.hashes, shape.bits), np.arange(len(words))
    for places in held.T:
        weight = np.left_shift(1, places % 8).astype(np.uint8)
        shown = coins(rng, thresholds[1], len(words)).astype(np.uint8) * weight
        packed[rows, places // 8] = (packed[rows, places // 8] & ~weight) | shown
    return packed
