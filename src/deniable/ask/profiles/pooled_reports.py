"""Tables of attributes from several levels and versions together.

Every level has one weight for all tables: w_g of its raw tables, and of its smoothed ones, so that
what adds up or agrees in each adds up and agrees in all together. Of the noise w_g^2 V_g is left;
the sample counts as often as the same people may be in several versions (`ask/pooling.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable.ask.intervals import reading_of
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.pooling import common_people, pool_shares
from deniable.ask.profiles.reports import Profiles, profile_field
from deniable.ask.several import (
    NAME_ONE,
    AnyCounts,
    Asked,
    agreeing,
    alone,
    heading_of,
    left_out,
    newest,
    parts_of,
)
from deniable.ask.together import agreement
from deniable.errors import InvalidParameter
from deniable.marginals.table import Table
from deniable.mechanisms.base import Floats


@dataclass(frozen=True)
class PooledProfiles(Profiles):
    """Reports of several levels and versions; as those of one, but for whose sum they are.

    Attributes:
        parts: the reports of each level and version, and its weight.
        heading: the question's description, with what is pooled.
    """

    parts: tuple[tuple[Profiles, float], ...] = ()
    heading: str = ""

    @property
    def n(self) -> int:
        """The number of reports."""
        return sum(part.n for part, _ in self.parts)

    @property
    def order(self) -> int:
        """The most attributes that a table from these reports can have."""
        return min(part.order for part, _ in self.parts)

    def noise_table(self, places: Sequence[int]) -> Table:
        """Return the raw table of all parts that know it; of one that does not, if none does."""
        found = [(part.noise_table(places), part.reading.noise, w) for part, w in self.parts]
        known = [one for one in found if np.isfinite(one[0].probability).all()]
        if not known:
            return replace(found[-1][0], n=self.n)
        total = sum(w for _, _, w in known)
        cells = sum(w / total * table.probability for table, _, w in known)
        spread = sum(
            (w / total) ** 2 * noise * table.covariance
            for table, noise, w in known
            if table.covariance is not None
        )
        first = known[0][0]
        notes = tuple(dict.fromkeys(note for table, _, _ in known for note in table.notes))
        named = (first.attributes, first.labels)
        told = sum(table.n if table.told is None else table.told for table, _, _ in known)
        error = (np.asarray(cells), np.asarray(spread))
        return Table.raw(*named, *error, self.n, notes, told=float(told))

    def smoothed_of(self, subsets: Sequence[tuple[int, ...]]) -> Mapping[tuple[int, ...], Table]:
        """Return the mean of all parts' smoothed tables: they agree as each part's do."""
        each = [(part.smoothed_of(subsets), w) for part, w in self.parts]
        return {
            places: replace(
                first,
                probability=np.asarray(sum(w * tables[places].probability for tables, w in each)),
                n=self.n,
                notes=tuple(dict.fromkeys(n for tables, _ in each for n in tables[places].notes)),
            )
            for places, first in each[0][0].items()
        }

    def pairs_by_themselves(self) -> Mapping[tuple[int, int], Floats]:
        """Return the mean of the parts' tables of pairs smoothed one by one, if all have them."""
        each = [(part.pairs_by_themselves(), w) for part, w in self.parts]
        if not all(tables for tables, _ in each):
            return {}
        return {
            pair: np.asarray(sum(w * tables[pair] for tables, w in each)) for pair in each[0][0]
        }


def any_profiles(counted: AnyCounts, options: Options = DEFAULTS) -> Profiles:
    """Return the reports of one level and version, or of several together.

    Raises:
        InvalidParameter: if it is not a question about a profile, or `crafted` is asked for of
            several levels or versions.
    """
    field = profile_field(counted.question)
    counted = agreeing(counted, field)
    if (one := alone(counted)) is not None:
        return Profiles.of(one, options)
    if options.crafted is not None:
        raise InvalidParameter(
            "Crafted reports about attributes are searched for at one level of one version.",
            f"{NAME_ONE} Or leave out --crafted.",
        )
    pooled = pool_shares(counted, field, None, options)
    parts = parts_of(counted)
    by_digest = {
        part.counted.question.digest: float(np.mean(weights))
        for part, weights in zip(pooled.parts, pooled.weights, strict=True)
    }
    raw = np.array([by_digest[part.question.digest] for part in parts])
    weights = raw / raw.sum()
    n = sum(part.n for part in parts)
    once = options.people == "new" or options.of == "reporters"
    common = common_people(parts, apart=once)
    for g, part in enumerate(parts):
        common[g, g] = reading_of(options, part.question, field, part.epochs).people / part.n
    people = n * float(weights @ common @ weights)
    each = tuple(
        (Profiles.of(part, options), float(w)) for part, w in zip(parts, weights, strict=True)
    )
    last = each[-1][0]
    return PooledProfiles(
        last.question,
        last.mechanism,
        last.counts,
        replace(last.reading, noise=1.0, people=people, lasting=None),
        sum(part.simulated for part in parts),
        (*left_out(counted), *(agreement(what, *told) for what, told in pooled.tests.items())),
        each,
        heading_of(counted),
    )


def profiles(store: Source, asked: Asked, options: Options = DEFAULTS) -> Profiles:
    """Return the reports to a question about many attributes, ready to be asked for tables.

    Cost: linear in the reports.

    Raises:
        InvalidParameter: if the question is not about a profile.
        StoreError: if the store cannot be read.
    """
    profile_field(newest(asked))
    return any_profiles(options.counted_all(store, asked), options)
