"""The nine methods of [CKS18] and ours, each as the survey would publish and decode it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from deniable.authoring import authoring_of
from deniable.authoring.auto_profile import AUTHORING
from deniable.decode.simplex import project
from deniable.errors import InvalidParameter, InvalidReport
from deniable.marginals.inp_em import likely_table
from deniable.marginals.smoothed import smoothed_tables
from deniable.mechanisms import Counts, ProfileMechanism, mechanism_for
from deniable.mechanisms.base import Floats, Reports
from deniable.mechanisms.inp_em import InpEM
from deniable.mechanisms.inp_ht import InpHT
from deniable.mechanisms.inp_rr import InpRR
from deniable.mechanisms.marg_ps import MargPS
from deniable.mechanisms.views import Views
from deniable.protocol import Attribute, Boolean, Profile
from deniable.protocol.inp_ht import InpHTParameters
from deniable_papers.cks18.people import Crowd, People

NINE = (
    *("inp_rr", "inp_ps", "inp_ht", "marg_rr", "marg_ps", "marg_ht"),
    *("inp_em", "inp_olh", "inp_ht_cms"),
)
OURS = "default"
EVERY = (*NINE, OURS)
ASYMMETRIC = ("inp_rr", "marg_rr")
MOST_COLUMNS = 2**12
"""The most cells that inp_olh is decoded over: each takes a pass over its whole pool of seeds."""

MOST_SYMBOLS = 4_096
"""Up to this number of kinds, reports are drawn as counts where only the counts matter."""


@dataclass(frozen=True)
class Method:
    """A method in one setting.

    Attributes:
        name: one of EVERY.
        mechanism: what it runs.
    """

    name: str
    mechanism: ProfileMechanism

    def counts(self, crowd: Crowd, rng: np.random.Generator) -> Counts:
        """Return the counts of the people's reports.

        Guarantees: distributed as the counts of simulated reports. Those of inp_rr are drawn cell
        by cell, as sums of two binomials: its reports would be 2^d bits for each person. Methods
        that are inp_ht under another name get its draws.
        """
        if isinstance(self.mechanism, InpRR):
            return _drawn_bits(self.mechanism, crowd, rng)
        sign = same_as_signs(self.mechanism)
        if sign is None:
            return self.mechanism.accumulate(self.mechanism.simulate(crowd.codes, rng))
        reports = sign.simulate(crowd.codes, rng)
        return self.mechanism.accumulate(reports.astype(self.mechanism.dtype))

    def tables(self, counts: Counts, subsets: Sequence[tuple[int, ...]]) -> list[Floats]:
        """Return the tables that the method is scored by: raw of the nine, smoothed of ours.

        Those of inp_em are the most likely ones, as in the paper, by the certified solver.

        Edge cases: where nobody reported about a table, equal shares stand for it.
        """
        if self.name == OURS:
            found = smoothed_tables(self.mechanism, counts, subsets=list(subsets))
            return [found[subset].probability for subset in subsets]
        if isinstance(self.mechanism, InpEM):
            found_by = self.mechanism
            return [likely_table(found_by, counts, s).table.probability for s in subsets]
        read = self.mechanism.reader(counts)
        tables = []
        for subset in subsets:
            cells, _ = read(subset)
            if not np.isfinite(cells).all():
                cells = np.full(cells.shape, 1 / cells.size)
            tables.append(cells.reshape((2,) * len(subset)))
        return tables

    def distributions(self, counts: Counts, subsets: Sequence[tuple[int, ...]]) -> list[Floats]:
        """Return the same tables as distributions: raw ones projected onto the simplex."""
        tables = self.tables(counts, subsets)
        if self.name == OURS:
            return tables
        return [project(table.ravel()).reshape(table.shape) for table in tables]


def _drawn_bits(mechanism: InpRR, crowd: Crowd, rng: np.random.Generator) -> Counts:
    cells = mechanism.parameters.cells
    held = np.bincount(mechanism.packed(crowd.rows), weights=crowd.counts, minlength=cells)
    own = held.astype(np.int64)
    ones = rng.binomial(own, mechanism.pure.p) + rng.binomial(crowd.n - own, mechanism.pure.q)
    return Counts(np.array([crowd.n], dtype=np.int64), ones[None, :])


def same_as_signs(mechanism: ProfileMechanism) -> InpHT | None:
    """Return inp_ht where a mechanism's reports are just its reports, else None.

    Order 1: marg_ps, and views of one attribute, send the level of one drawn yes/no attribute and
    keep it with probability E/(E + 1). So does inp_ht, whose sign is that level, with the same
    symbols. From the same draws their errors are the same, not the same up to luck.
    """
    if not isinstance(mechanism, MargPS | Views) or mechanism.parameters.most_cells != 2:
        return None
    if mechanism.pools.views != tuple((i,) for i in range(len(mechanism.answers))):
        return None
    keep = mechanism.parameters.keep(2)
    return InpHT.from_parameters(InpHTParameters(mechanism.answers, 1, keep))


def every_report(mechanism: ProfileMechanism) -> Reports | None:
    """Return every report that a client could send, where a report is one of a few symbols.

    With their probabilities the counts of a crowd are one multinomial draw.
    """
    symbols = mechanism.zero().table.size
    if mechanism.dtype.names != ("symbol",) or symbols > MOST_SYMBOLS:
        return None
    reports = np.zeros(symbols, dtype=mechanism.dtype)
    reports["symbol"] = np.arange(symbols)
    return reports[[_possible(mechanism, bytes(report)) for report in reports]]


def _possible(mechanism: ProfileMechanism, record: bytes) -> bool:
    try:
        mechanism.parameters.check_record(record)
    except InvalidReport:
        return False
    return True


def method(name: str, people: People, order: int, epsilon: float, n: int) -> Method:
    """Return a method for yes/no attributes, by the integers that a survey would hold.

    Raises:
        InvalidParameter: if it cannot be run here; the message says why.
    """
    profile = Profile(tuple(Attribute(one, Boolean()) for one in people.names))
    wanted: dict[str, object] = {"epsilon": float(f"{epsilon:.6f}"), "order": order, "people": n}
    if name in ASYMMETRIC:
        wanted["asymmetric"] = True
    columns = 2 ** len(people.names)
    if name == "inp_olh" and columns > MOST_COLUMNS:
        raise InvalidParameter(
            f"inp_olh would be decoded over {columns:,} cells, each by a pass over its pool of "
            f"seeds: at most {MOST_COLUMNS:,} here."
        )
    authoring = AUTHORING if name == OURS else authoring_of(name)
    parameters = authoring.resolve(wanted, profile, False)
    return Method(name, cast(ProfileMechanism, mechanism_for(parameters)))
