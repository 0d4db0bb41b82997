"""The most likely table behind InpEM's reports, by the certified solver [CKS18, section 5.4].

The paper iterates expectation maximisation until no share moves by more than a bound, which with
little information happens at once, at the equal shares it begins with. The likelihood is concave,
so that its maximum can be found and proven; whether that maximum says anything is another question,
which a likelihood-ratio test against equal shares answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable._distributions import chi2_sf
from deniable.decode.mixture import fit_mixture
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.marginals.raw import axes_of
from deniable.marginals.table import Table
from deniable.mechanisms import Counts, InpEM
from deniable.mechanisms.profile_base import NO_REPORTS

ALPHA = 0.05
NO_INFORMATION = (
    "The reports cannot be told from those of equal shares: the most likely table is noise."
)


@dataclass(frozen=True)
class LikelyTable:
    """The most likely table, with its certificate and test.

    Attributes:
        table: a distribution; smoothed, because the simplex biases it.
        gap: no table has a log-likelihood larger by more, over all reports.
        p_value: of the hypothesis that all answers are equally frequent.
    """

    table: Table
    gap: float
    p_value: float

    @property
    def informative(self) -> bool:
        """True where a test at 5% tells the reports from those of equal shares."""
        return self.p_value < ALPHA


@one_thread
def likely_table(mechanism: InpEM, counts: Counts, attributes: Sequence[str | int]) -> LikelyTable:
    """Return the most likely table of some attributes.

    Guarantees: the gap is proven, whatever the data. Codes that no answer has get no share.

    Edge cases: a maximum that is noise has a note; without reports there is no likelihood.

    Cost: a least-squares problem of 2^b columns, a few times; b is the bits of the attributes.

    Raises:
        InvalidParameter: if an attribute is unknown or repeated, or there are no reports.
    """
    wanted = mechanism.chosen(attributes)
    if counts.n == 0:
        raise InvalidParameter(NO_REPORTS)
    rising = tuple(sorted(wanted))
    places = np.arange(np.prod([mechanism.inner[i] for i in rising]))
    places = places.reshape([mechanism.inner[i] for i in rising])
    kept = places[tuple(slice(0, mechanism.answers[i]) for i in rising)]
    channel = mechanism.channel(rising)[:, kept.reshape(-1)]
    observed = mechanism.observed(counts, rising)
    fitted = fit_mixture(channel, observed)
    # Wilks: twice the log-likelihood ratio is chi-square, a degree for each free share.
    gain = observed @ (np.log(channel @ fitted.weights) - np.log(channel.mean(axis=1)))
    p_value = float(chi2_sf(2 * max(0.0, float(gain)), channel.shape[1] - 1))
    cells = fitted.weights.reshape(kept.shape).transpose([rising.index(i) for i in wanted])
    names, labels = axes_of(mechanism, wanted)
    notes = () if p_value < ALPHA else (NO_INFORMATION,)
    table = Table.smoothed(names, labels, cells, counts.n, notes)
    return LikelyTable(table, fitted.gap, p_value)
