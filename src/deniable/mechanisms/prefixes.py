"""Prefix growth for whole populations; the model stands in protocol/prefixes.py.

The reports of a group are those of projective geometry response, cohort by cohort; counts have a
row per group and cohort. Estimates here are of given whole strings, from the
verification group; `deniable.discover` grows unknown ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from deniable.authoring import resolve
from deniable.errors import InvalidParameter
from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    Candidates,
    Counts,
    Estimate,
    Floats,
    Mechanism,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.cells import no_counts
from deniable.mechanisms.chances import Chances
from deniable.mechanisms.closed_form import Pure, checked, nothing_learned
from deniable.mechanisms.coins import as_generator
from deniable.mechanisms.hashing import Words, hash_words, reduced
from deniable.mechanisms.pgr import PGR
from deniable.mechanisms.projective import Integers
from deniable.protocol import Domain, Parameters, PrefixesParameters, Strings
from deniable.protocol.domain import ABSENT_KEY
from deniable.protocol.hashing import fingerprint
from deniable.protocol.prefixes import chained, first_index

_CHUNK = 2**18
VERIFIERS = "Estimated from the {n:,} people of the verification group, who report whole strings."


class Prefixes(Mechanism):
    """Prefix growth of strings over an alphabet.

    Args:
        epsilon: what one report may spend.
        alphabet: the characters of the strings.
        length: the most characters of a string.
        people: the expected number of people, which decides on levels and cohorts; by default a
            million.
        model: a coding model's bytes; none by default.
        lengths: of the levels, instead of those that are chosen.
        verification: the share of the people who report whole strings, instead of the chosen one.
        cohorts: of each group, instead of those that are chosen.
        points: the least number of points that strings are hashed into; 8,192 by default.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.
    """

    parameters_type = PrefixesParameters
    parameters: PrefixesParameters
    oracle: PGR
    pure: Pure

    def __init__(
        self,
        *,
        epsilon: float,
        alphabet: str,
        length: int,
        people: int | None = None,
        model: bytes | None = None,
        lengths: Sequence[int] | None = None,
        verification: float | None = None,
        cohorts: int | None = None,
        points: int | None = None,
    ) -> None:
        given: dict[str, object] = {
            "people": people,
            "model": model,
            "lengths": lengths,
            "cohorts": cohorts,
        }
        given |= {"verification": verification, "points": points, "epsilon": epsilon}
        wanted = {name: value for name, value in given.items() if value is not None}
        domain: Domain = Strings("".join(sorted(set(alphabet))), length)
        self._adopt(resolve(PrefixesParameters, wanted, domain, absent=False))

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        self.oracle = PGR.from_parameters(self.parameters.oracle)
        self.pure = Pure.of(*self.parameters.support)

    @property
    def hashed(self) -> bool:
        """Strings are known by their hash alone."""
        return True

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value, each of another person in a random group and cohort.

        Guarantees: each probability is the client's, exactly.

        Cost: O(n t) time and a code per distinct string; the reports and some 50 MB.

        Args:
            values: strings, or codes of `candidates`.
            rng: the only source of randomness.
            candidates: the strings that codes stand for.

        Raises:
            InvalidParameter: if a string is longer than `length`, or not of the model's alphabet.
        """
        rng = as_generator(rng)
        shape = self.parameters
        keys, codes = names.keys_of(values, candidates)
        words = self._words(keys)
        reports = np.empty(codes.size, dtype=self.dtype)
        edges = np.cumsum(shape.weights)
        for start in range(0, codes.size, _CHUNK):
            part, true = reports[start : start + _CHUNK], codes[start : start + _CHUNK]
            drawn = rng.integers(0, shape.total_weight, size=part.size)
            part["group"] = np.searchsorted(edges, drawn, side="right")
            part["cohort"] = rng.integers(0, shape.cohorts, size=part.size, dtype=np.uint16)
            own = self._points(words[part["group"], true], part["group"], part["cohort"])
            part["point"] = self.oracle.reported(own, rng)
        return reports

    def _words(self, keys: Sequence[bytes]) -> Words:
        """Return the words of each answer as each group reports it: groups x answers x 2."""
        shape = self.parameters
        for key in keys:
            if len(key) > 1 and len(key[1:].decode("utf-8")) > shape.length:
                raise InvalidParameter(
                    f"A string of prefixes must have at most {shape.length} characters.",
                    "Let the domain cut it off.",
                )
        rows = [[_words_of(shape, key, group) for key in keys] for group in range(shape.groups)]
        return np.array(rows, dtype=np.uint64).reshape(shape.groups, len(keys), 2)

    def _points(self, words: Words, groups: Integers, cohorts: Integers) -> Integers:
        """Return the points of words in groups and cohorts."""
        index = np.uint64(first_index(0)) + (groups.astype(np.uint64) << np.uint64(16))
        hashed = hash_words(words, index + cohorts.astype(np.uint64))
        return reduced(hashed, self.parameters.oracle.points).astype(np.int64)

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per group and cohort, a column per point."""
        rows = self.parameters.groups * self.parameters.cohorts
        return no_counts(rows, self.parameters.oracle.points)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each point was reported in each group and cohort.

        Cost: linear; the counts, which are groups x cohorts x points numbers.

        Raises:
            InvalidReport: if a group, cohort or point is out of range.
        """
        from deniable.kernels.cell_counts import count_in_cells

        records, counts = self._checked(reports), self.zero()
        rows = records["group"].astype(np.int64) * self.parameters.cohorts + records["cohort"]
        points = np.ascontiguousarray(records["point"])
        count_in_cells(rows, points, counts.reports, counts.table)
        return counts

    def group(self, counts: Counts, group: int) -> Counts:
        """Return the counts of one group alone: a row per cohort."""
        rows = slice(group * self.parameters.cohorts, (group + 1) * self.parameters.cohorts)
        return Counts(counts.reports[rows], counts.table[rows])

    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
        """Return the unbiased frequency of candidate strings, from the verification group.

        Guarantees: unbiased; the variance includes that the group is a sample of the people, and
        that hashed strings collide.

        Cost: a transform of q^t numbers per cohort, then one look-up per candidate and cohort.

        Edge cases: without reports of the group everything is NaN, with a note.

        Raises:
            InvalidParameter: if candidates are missing or repeated, or no possible strings.
        """
        self._check_counts(counts)
        labels = tuple(names.label_of(candidate) for candidate in candidates or ())
        last = self.parameters.verification
        own = self.group(counts, last)
        if own.n == 0:
            names.open_keys(candidates)
            return nothing_learned(labels)
        frequency, variance = self._group_shares(own, last, names.open_keys(candidates))
        chances = Chances.around(self.pure, frequency, variance, own.n)
        # The N verifiers are drawn from the n people without replacement: f (1 - f)/N (1 - N/n).
        held = np.clip(frequency, 0, 1)
        variance = variance + held * (1 - held) / own.n * (1 - own.n / counts.n)
        note = VERIFIERS.format(n=own.n)
        return Estimate(labels, frequency, np.sqrt(variance), None, own.n, (note,), chances)

    def _group_shares(
        self, own: Counts, group: int, keys: Sequence[bytes]
    ) -> tuple[Floats, Floats]:
        """Return the shares of what a group reports of answers, and their variances."""
        words = np.array([_words_of(self.parameters, key, group) for key in keys], dtype=np.uint64)
        support, squares = np.zeros(len(keys)), 0.0
        for cohort in np.flatnonzero(own.reports):
            sums = self.oracle.geometry.hyperplane_sums(own.table[cohort])
            groups, cohorts = np.full(len(keys), group), np.full(len(keys), cohort)
            support += sums[self._points(words, groups, cohorts)]
            weight = own.reports[cohort] / own.n
            squares += weight**2 * self.oracle.squares(sums, int(own.reports[cohort]))
        share = support / own.n
        variance = self.pure.variance_observed(share, own.n)
        # Collisions: another string of share f shares the point with probability 1/K per cohort.
        collisions = max(0.0, squares) / (self.parameters.oracle.points - 1)
        return self.pure.frequency(share), variance + collisions

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | answer): group and cohort, times keep / c_set or (1 - keep) / q^(t-1).

        Cost: O(n M t); a row of M numbers per report.
        """
        records, shape = self._checked(reports), self.parameters
        words = self._words(names.open_keys(candidates))
        oracle, geometry = shape.oracle, self.oracle.geometry
        weights = np.array(shape.weights) / shape.total_weight / shape.cohorts
        result = np.empty((records.size, words.shape[1]))
        for answer in range(words.shape[1]):
            own = words[records["group"], answer]
            v = geometry.vectors(self._points(own, records["group"], records["cohort"]))
            u = geometry.vectors(records["point"].astype(np.int64))
            inside = (u * v).sum(axis=1) % oracle.prime == 0
            near, far = self.pure.p / oracle.inner, (1 - self.pure.p) / oracle.outer
            result[:, answer] = np.where(inside, near, far) * weights[records["group"]]
        return np.log(result) if log else result

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of a whole string's frequency among n people, given their values.

        With w the verification group's share: [pgr's n Var + f (1 - f)(1 - w)] / (n w), where the
        second part is that the group is drawn from the people.

        Guarantees: exact, but for the chance in the group's size.
        """
        n, f = checked(n, frequency)
        share = self.parameters.weights[-1] / self.parameters.total_weight
        drawn = f * (1 - f) * (1 - share) / (n * share)
        return np.asarray(self.pure.variance(1, f) / (n * share) + drawn)


def _words_of(shape: PrefixesParameters, key: bytes, group: int) -> tuple[int, int]:
    if key == ABSENT_KEY:
        return fingerprint(key)
    return chained(shape.symbols(key[1:].decode("utf-8"), group))
