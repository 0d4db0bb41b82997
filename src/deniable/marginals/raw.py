"""Raw tables: unbiased, with their covariance and intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.kernels.one_thread import one_thread
from deniable.marginals.table import Table
from deniable.mechanisms import Counts, ProfileMechanism
from deniable.mechanisms.profile_base import NO_REPORTS, NOT_REPORTED


@one_thread
def raw_table(
    mechanism: ProfileMechanism, counts: Counts, attributes: Sequence[str | int]
) -> Table:
    """Return the unbiased table of some attributes.

    Guarantees: unbiased given the people's values; its intervals are normal ones from the exact
    covariance given how many reports there are on each coefficient or table.

    Edge cases: NaN with a note where some coefficient of the table has no report.

    Args:
        mechanism: of the question.
        counts: of its reports.
        attributes: names or numbers; at most the number that was collected together.

    Raises:
        InvalidParameter: if an attribute is unknown or repeated, or they are more than were
            collected.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import mechanism_for
        >>> from deniable.protocol import Attribute, Boolean, Profile
        >>> profile = Profile(tuple(Attribute(name, Boolean()) for name in ("card", "tip")))
        >>> from deniable.authoring import resolve
        >>> wanted = {"epsilon": 3.0, "order": 2}
        >>> m = mechanism_for(resolve("marg_ps", wanted, profile, False))
        >>> rng = np.random.default_rng(1)
        >>> people = np.repeat(rng.integers(2, size=20_000), 2).reshape(-1, 2)
        >>> counts = m.accumulate(m.simulate(people, rng))
        >>> raw_table(m, counts, [0, 1]).probability.round(1).tolist()
        [[0.5, -0.0], [-0.0, 0.5]]
    """
    chosen = mechanism.chosen(attributes)
    cells, covariance = mechanism.marginal(counts, chosen)
    names, labels = axes_of(mechanism, chosen)
    notes: tuple[str, ...] = ()
    if not np.isfinite(cells).all():
        cells = np.full(cells.shape, np.nan)
        covariance = np.full(covariance.shape, np.nan)
        notes = (NOT_REPORTED if counts.n else NO_REPORTS,)
    told = mechanism.telling(counts, tuple(sorted(chosen)))
    return Table.raw(names, labels, cells, covariance, counts.n, notes, told=told)


def axes_of(
    mechanism: ProfileMechanism, attributes: Sequence[int]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the names of attributes and the labels of their answers."""
    chosen = [mechanism.profile.attributes[i] for i in attributes]
    return tuple(a.name for a in chosen), tuple(a.domain.labels for a in chosen)
