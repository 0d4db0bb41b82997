"""Mechanisms of profiles for whole populations: tables of any few attributes from one report each.

    counts -> reader -> cells and covariance of the attributes' table -> marginal, moments, estimate

A method of the paper sees an attribute of r answers as 2^b codes in binary, b = ceil(log2 r): its
*inner* answers. Codes that no answer has cannot occur; their cells are left out of the tables,
which keeps the others unbiased.

Two covariances: with sampling (the people are a sample of a larger population), and given the
people's values. The second is the first less (D - f f')/n, D the diagonal matrix of the shares f,
exactly, whatever the method. Readers and moments have the first, tables and estimates the second,
as those of every other mechanism.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator
from scipy import linalg

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import (
    LARGEST_COVARIANCE,
    Candidates,
    Codes,
    Counts,
    Estimate,
    Floats,
    Mechanism,
    Reports,
    Values,
)
from deniable.mechanisms.closed_form import NO_REPORTS, Pure, nothing_learned
from deniable.mechanisms.coins import as_generator
from deniable.mechanisms.contrast_matrices import contrast_matrix
from deniable.mechanisms.moments import Moment, Moments, Subset, design
from deniable.protocol import Parameters
from deniable.protocol.domain import Categories
from deniable.protocol.profile_domain import (
    MAX_ATTRIBUTES,
    MIN_ATTRIBUTES,
    Attribute,
    Profile,
)
from deniable.protocol.profile_parameters import ProfileParameters

Reading = tuple[Floats, Floats]
"""Unbiased cells of a table, flat in C order, and their covariance with sampling."""

Reader = Callable[[Subset], Reading]
"""From rising attributes to their table over inner answers; NaN where there are no reports."""

AT_ONCE = 2**20
"""People who are simulated at a time."""
MOST_LISTED = 4_096
"""The most profiles that are listed, as columns of a likelihood."""
FEW = 200
"""Reports on a table or coefficient below which its variance is not taken from them alone."""
MOST_IMAGINED = 200_000
_FINE = 100
Attributes = int | Sequence[int] | Mapping[str, int | Sequence[str]] | Profile
"""Attributes as people name them."""
NOT_REPORTED = "Nobody reported on some coefficients of this table: its raw shares are unknown."


class ProfileMechanism(Mechanism):
    """A mechanism of profiles.

    Attributes:
        parameters: the integers.
        profile: the attributes, with names and labels; "a1", "a2", ... and codes unless a survey
            gives others.
        shares_hashes: whether people share hash functions, whose collisions add to every variance
            what does not fall with n.
    """

    parameters: ProfileParameters
    profile: Profile
    shares_hashes: ClassVar[bool] = False

    def __init__(self, attributes: Attributes, **wanted: object) -> None:
        """Make the mechanism of some attributes.

        Args:
            attributes: the number of yes/no attributes, a list of their numbers of answers, their
                answers by name (a list of labels, or a number), or the profile of a survey.
            wanted: epsilon, order and the like, as `parameters` of a survey has them.

        Raises:
            InvalidParameter: naming the parameter, the allowed values and the given one.

        Example:
            >>> from deniable.mechanisms import InpHT
            >>> InpHT(attributes=8, order=2, epsilon=1.1)
            InpHT(attributes=8, order=2, epsilon=1.1)
        """
        profile = profile_of(attributes)
        self._adopt(self._wanted(wanted, profile))
        self.profile = profile

    def _identity(self) -> tuple[object, ...]:
        return (*super()._identity(), self.profile)

    def _shape(self) -> dict[str, object]:
        rest = {name: one for name, one in super()._shape().items() if name != "answers"}
        yes_no = set(self.answers) == {2}
        return {"attributes": len(self.answers) if yes_no else list(self.answers), **rest}

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        self.profile = unnamed_profile(self.parameters.answers)

    @classmethod
    def of(cls, parameters: Parameters, profile: Profile) -> Self:
        """Return the mechanism of a survey's integers, with the names of its attributes.

        Raises:
            InvalidParameter: if parameters and profile do not fit.
        """
        mechanism = cls.from_parameters(parameters)
        mechanism.parameters.check_domain(profile, absent=False)
        mechanism.profile = profile
        return mechanism

    @cached_property
    def pure(self) -> Pure:
        """The two chances that a report supports a cell, or a bit of it."""
        return Pure.of(*self.parameters.support)

    @property
    def answers(self) -> tuple[int, ...]:
        """The number of answers of each attribute."""
        return self.parameters.answers

    @property
    def inner(self) -> tuple[int, ...]:
        """The number of codes of each attribute that the method tells apart."""
        return tuple(1 << width for width in self.parameters.bits)

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per profile.

        Guarantees: each probability is the client's, exactly; of mechanisms that report the sign
        of a contrast, within 2^-50.

        Cost: linear; people are simulated in parts, which take some 100 MB beside the reports.

        Args:
            values: a row of codes per person.
            rng: the only source of randomness.
            candidates: not used.
        """
        rng = as_generator(rng)
        codes, step = self.people(values), self._at_once
        reports = np.empty(len(codes), dtype=self.dtype)
        for start in range(0, len(codes), step):
            self._send(codes[start : start + step], reports[start : start + step], rng)
        return reports

    @property
    def _at_once(self) -> int:
        """The number of people who are simulated at a time."""
        return AT_ONCE

    @abstractmethod
    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write a report of each profile into `reports`."""

    @abstractmethod
    def reader(self, counts: Counts) -> Reader:
        """Return a reader of tables from counts; work that all tables share is done once, here."""

    def chosen(self, attributes: Sequence[str | int]) -> Subset:
        """Return attributes by number, in the order asked for.

        Raises:
            InvalidParameter: if one is unknown or repeated, or they are more than were collected.
        """
        found = self.numbers(attributes)
        most = self.parameters.collected
        if len(found) > most:
            raise InvalidParameter(
                f"The reports tell tables of at most {most} attributes (order = {most}). "
                f"Got {len(found)}.",
                "Ask for fewer, or publish a new version of the question with a higher 'order'.",
            )
        return found

    def numbers(self, attributes: Sequence[str | int]) -> Subset:
        """Return attributes by number, in the order asked for, however many they are.

        Raises:
            InvalidParameter: if one is unknown or repeated.
        """
        names = self.profile.names
        found: list[int] = []
        for wanted in attributes:
            if isinstance(wanted, str):
                if wanted not in names:
                    raise InvalidParameter(
                        f"There is no attribute '{wanted}'. Use some of: {', '.join(names)}."
                    )
                found.append(names.index(wanted))
            else:
                found.append(_validate.integer("attributes", "a table", wanted, 0, len(names) - 1))
        if not found or len(set(found)) < len(found):
            raise InvalidParameter("A table needs at least one attribute, and each only once.")
        return tuple(found)

    def marginal(self, counts: Counts, attributes: Sequence[str | int]) -> Reading:
        """Return the unbiased table of some attributes, and its covariance.

        Guarantees: unbiased given the people's values (methods that hash: over hash functions).
        The covariance is given the people's values and, where reports are about drawn
        coefficients or tables, given how many drew each.

        Edge cases: NaN where there are no reports on some of its coefficients.

        Args:
            counts: of this mechanism.
            attributes: names or numbers; the cells have an axis for each, in this order.

        Returns:
            The cells, and the covariance of the cells in C order.

        Raises:
            InvalidParameter: as `chosen`; also if the table has more than 4,096 cells.
        """
        self._check_counts(counts)
        wanted = self.chosen(attributes)
        rising = tuple(sorted(wanted))
        cells, covariance = self._given_values(counts, rising)
        shape = tuple(self.answers[i] for i in rising)
        axes = [rising.index(i) for i in wanted]
        turned = np.arange(cells.size).reshape(shape).transpose(axes).reshape(-1)
        table = cells.reshape(shape).transpose(axes)
        return table, covariance[np.ix_(turned, turned)]

    def _given_values(self, counts: Counts, *wanted: Subset) -> Reading:
        """Return tables one after the other, with their covariance given the people's values."""
        read, steady = self.reader(counts), self._steady(counts)
        shares, errors = [], []
        for attributes in wanted:
            cells, covariance = self._possible(read, attributes)
            shares.append(cells)
            if steady is not None:
                cells, covariance = self._possible(steady, attributes)
            # Readers include the sampling of people, (D - f f')/n; tables are given the values.
            errors.append(covariance - _sampling(cells, counts.n))
        return np.concatenate(shares), linalg.block_diag(*errors)

    def telling(self, counts: Counts, attributes: Subset) -> float:
        """Return how many reports the table of rising attributes is estimated from.

        Where each report is about one drawn table or coefficient these are few of all: they alone
        are the sample of people that the table shows.
        """
        return float(counts.n)

    def _steady(self, counts: Counts) -> Reader | None:
        """Return a reader for the errors of tables from few reports; None where there are many.

        Its tables are those of the reports and imagined ones together, and its covariances are
        those of as many reports as there are.
        """
        seen = counts.reports[counts.reports > 0]
        if self.shares_hashes or not seen.size or int(seen.min()) >= FEW:
            return None
        more = Counts(
            _FINE * counts.reports + self._imagined.reports,
            _FINE * counts.table + self._imagined.table,
        )
        read = self.reader(more)

        def steady(attributes: Subset) -> Reading:
            cells, covariance = read(attributes)
            told = self.telling(counts, attributes)
            # A variance is one report's over their number: one table may have few of all reports.
            return cells, covariance * (self.telling(more, attributes) / told if told else math.nan)

        return steady

    @cached_property
    def _imagined(self) -> Counts:
        """Reports of imagined people, four of each kind that is drawn, in hundredths.

        A variance that is estimated from a few reports which all agree is 0, and their mean may
        lie anywhere. Four people with profiles of all kinds are added to them (Agresti and Coull
        do so with a share [AC98]) where there are few, for their errors alone.
        """
        people = min(MOST_IMAGINED, 4 * _FINE * int(self.zero().reports.size))
        rng = np.random.default_rng(0)
        codes = np.stack([rng.integers(0, k, size=people) for k in self.answers], axis=1)
        return self.accumulate(self.simulate(codes, rng))

    def _possible(self, read: Reader, attributes: Subset) -> Reading:
        """Return a table over the answers that can occur."""
        inner, answers = self.inner, self.answers
        size = math.prod(inner[i] for i in attributes)
        if size > LARGEST_COVARIANCE:
            names = ", ".join(self.profile.names[i] for i in attributes)
            raise InvalidParameter(
                f"A table of {names} has {size:,} cells. At most {LARGEST_COVARIANCE:,} are "
                "estimated, because their covariance grows with the square.",
                "Ask for fewer attributes, or merge answers in a new version of the question.",
            )
        cells, covariance = read(attributes)
        if all(inner[i] == answers[i] for i in attributes):
            return cells, covariance
        places = np.arange(cells.size).reshape([inner[i] for i in attributes])
        kept = places[tuple(slice(0, answers[i]) for i in attributes)].reshape(-1)
        return cells[kept], covariance[np.ix_(kept, kept)]

    def moments(
        self,
        counts: Counts,
        order: int | None = None,
        needed: Collection[Subset] | None = None,
    ) -> Moments:
        """Return the moments of every set of at most `order` attributes.

        Cost: a table per set.

        Args:
            counts: of this mechanism.
            order: at most what was collected, which is the default for methods of one order.
            needed: of three and more attributes only these sets; by default all.
        """
        self._check_counts(counts)
        most = min(order or self.parameters.order, self.parameters.collected)
        read = self.reader(counts)
        measured: dict[Subset, Moment] = {}
        for size in range(1, most + 1):
            for attributes in combinations(range(len(self.answers)), size):
                if size <= 2 or needed is None or attributes in needed:
                    measured[attributes] = self._moment(read, attributes, counts.n)
        return Moments(self.answers, measured, counts.n)

    def _moment(self, read: Reader, attributes: Subset, n: int) -> Moment:
        """Return the moments of one set, all its attributes with a contrast."""
        cells, covariance = self._possible(read, attributes)
        functions = design([contrast_matrix(self.answers[i])[1:] for i in attributes])
        # A moment is linear in the cells, theta = phi'x; hence Var theta = phi' Sigma phi.
        theta = functions @ cells
        variance = np.sum((functions @ covariance) * functions, axis=1)
        shape = tuple(self.answers[i] - 1 for i in attributes)
        variance = np.where(np.isfinite(variance), variance, np.inf)
        theta = np.where(np.isfinite(theta), theta, 0.0)
        return Moment(theta.reshape(shape), variance.reshape(shape), float(n))

    @cached_property
    def one_way_labels(self) -> tuple[str, ...]:
        """The rows of an estimate: "attribute=answer" for every answer of every attribute."""
        return tuple(
            f"{name}={label}" for name, domain in self.profile.attributes for label in domain.labels
        )

    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
        """Return the unbiased share of every answer of every attribute.

        Guarantees: as `marginal`. Shares of one attribute estimate a distribution; answers of
        different attributes are rows of one list.

        Edge cases: without reports everything is NaN, with a note. The covariance is None.

        Args:
            counts: of this mechanism.
            candidates: not used; a profile lists its own attributes and answers.
        """
        self._check_counts(counts)
        if counts.n == 0:
            return nothing_learned(self.one_way_labels)
        found, covariance = self._given_values(counts, *((i,) for i in range(len(self.answers))))
        errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        notes = () if np.isfinite(found).all() else (NOT_REPORTED,)
        error = np.where(np.isfinite(found), errors, np.nan)
        each = [self.telling(counts, (i,)) for i in range(len(self.answers))]
        told = np.repeat(each, self.answers)
        return Estimate(self.one_way_labels, found, error, None, counts.n, notes, told=told)

    def every_profile(self) -> Codes:
        """Return all profiles that can occur, a row each, the last attribute's answer fastest.

        Raises:
            InvalidParameter: if there are more than 4,096.
        """
        if self.profile.cells > MOST_LISTED:
            raise InvalidParameter(
                f"Profiles are listed up to {MOST_LISTED:,}. There are {self.profile.cells:,}."
            )
        rows = list(product(*(range(count) for count in self.answers)))
        return np.array(rows, dtype=np.int64)

    def people(self, values: object) -> Codes:
        """Return people as a matrix of codes, a row each, after checking it.

        Raises:
            InvalidParameter: if it is not a matrix of codes of the profile's attributes.
        """
        codes = np.asarray(values)
        fits = codes.ndim == 2 and codes.shape[1] == len(self.answers)
        if not fits or codes.dtype.kind not in "iub":
            raise InvalidParameter(
                f"Profiles must be rows of {len(self.answers)} codes, one per attribute."
            )
        if codes.size and (codes.min() < 0 or np.any(codes.max(axis=0) >= self.answers)):
            raise InvalidParameter(
                f"The codes must be below the numbers of answers {list(self.answers)}."
            )
        return codes.astype(np.int64, copy=False)

    def packed(self, codes: Codes) -> Codes:
        """Return profiles as their codes in binary, the first attribute in the lowest bits."""
        result = np.zeros(len(codes), dtype=np.int64)
        place = 0
        for column, width in enumerate(self.parameters.bits):
            result |= codes[:, column] << place
            place += width
        return result


def profile_of(attributes: Attributes) -> Profile:
    """Return a profile as people name one: see `ProfileMechanism`.

    Raises:
        InvalidParameter: if it is none of these.
    """
    if isinstance(attributes, Profile):
        return attributes
    if isinstance(attributes, Mapping):
        return Profile(tuple(Attribute(name, _closed(of)) for name, of in attributes.items()))
    if isinstance(attributes, int):
        limits = MIN_ATTRIBUTES, MAX_ATTRIBUTES
        return unnamed_profile(
            [2] * _validate.integer("attributes", "profiles", attributes, *limits)
        )
    return unnamed_profile(list(attributes))


def _closed(answers: int | Sequence[str]) -> Categories:
    named = map(str, range(answers)) if isinstance(answers, int) else answers
    return Categories(tuple(named))


def unnamed_profile(answers: Sequence[int]) -> Profile:
    """Return a profile of attributes "a1", "a2", ... with answers "0", "1", ..."""
    return Profile(
        tuple(
            Attribute(f"a{i}", Categories(tuple(str(code) for code in range(count))))
            for i, count in enumerate(answers, 1)
        )
    )


def summed(table: Floats, bits: Sequence[int], attributes: Subset) -> Floats:
    """Return numbers of all 2^D cells, summed over the attributes that are not asked for.

    Args:
        table: flat, the first attribute in the lowest bits of its index.
        bits: of every attribute's code.
        attributes: rising.

    Returns:
        Flat in C order over the attributes asked for.
    """
    shape = [1 << width for width in reversed(bits)]
    last = len(bits) - 1
    dropped = tuple(last - i for i in range(len(bits)) if i not in attributes)
    kept = table.reshape(shape).sum(axis=dropped)
    # The axes come out with the last attribute first.
    return np.asarray(kept.transpose(), dtype=np.float64).reshape(-1)


def unknown(cells: int) -> Reading:
    """Return the reading of no reports."""
    return np.full(cells, np.nan), np.full((cells, cells), np.nan)


def _sampling(cells: Floats, n: int) -> Floats:
    """Return the covariance (D - f f')/n of drawing n people."""
    return np.asarray((np.diag(cells) - np.outer(cells, cells)) / max(n, 1))


__all__ = ["NOT_REPORTED", "NO_REPORTS", "ProfileMechanism", "Reader", "Reading"]
