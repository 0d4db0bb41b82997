"""InpEM decoded: the paper's iteration and its stopping rule, and the certified maximum.

Model: the reported codes of some attributes are a mixture over their cells x of P(code | cell), a
known channel L. The likelihood is concave in x: its maximum is one, and can be proven.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from deniable.decode.mixture import fit_mixture
from deniable.mechanisms import Counts
from deniable.mechanisms.base import Floats
from deniable.mechanisms.inp_em import InpEM

STOP = 1e-5
"""The paper's iteration ends when no share moves by more [CKS18, section 5.4]."""
CERTIFIED = 1e-2
"""A table is solved when no other has a log-likelihood larger by more, over all reports."""


@dataclass(frozen=True)
class LikelyTable:
    """The most likely table.

    Attributes:
        cells: the shares, flat in C order.
        certified: whether it is proven to be the maximum, up to CERTIFIED.
        informative: whether it can be told from equal shares at all (likelihood ratio at 5%);
            where not, the maximum itself is noise.
    """

    cells: Floats
    certified: bool
    informative: bool


def likely_table(mechanism: InpEM, counts: Counts, attributes: tuple[int, ...]) -> LikelyTable:
    """Return the most likely table of some yes/no attributes.

    Cost: milliseconds.
    """
    observed, channel = mechanism.observed(counts, attributes), mechanism.channel(attributes)
    fitted = fit_mixture(channel, observed)
    gain = observed @ (np.log(channel @ fitted.weights) - np.log(channel.mean(axis=1)))
    p_value = stats.chi2.sf(2 * max(0.0, float(gain)), channel.shape[1] - 1)
    return LikelyTable(fitted.weights, fitted.gap <= CERTIFIED, bool(p_value < 0.05))


def stops_at_once(observed: Floats, channel: Floats) -> bool:
    """Tell whether the paper's iteration moves no share by more than STOP in its first step.

    x' = x * L'(u / (L x)), from equal shares, with u the shares of the reports.
    """
    cells = np.full(channel.shape[1], 1 / channel.shape[1])
    u = observed / observed.sum()
    step = cells * (channel.T @ (u / (channel @ cells)))
    return bool(np.abs(step - cells).max() < STOP)
