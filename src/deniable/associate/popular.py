"""The likelihood of "(other)" where many people hold one string that nobody listed.

Model: such a string's bits stand out of the profile of unlisted people (`other`), the same share in
every cohort. An unlisted person of cohort j holds one of these strings with probability t a_j, and
any string else:

    P(report | other) = (1 - t a_j) P(report | any) + t a_j P(report | the bits that stand out).

a_j is known from the heights of the peaks, up to a factor: all of them are shares of the people who
are left beside the listed, of whose number the counts say less than the likelihood does. So t is
the likeliest one for the field's own reports, whose mixture of listed strings, any, and peaks is
fitted. Where h bits or more stand out a set is made of them alone, each by its height; where fewer
do, with bits anywhere. In sets that are as likely as the product of weights, a bit that is in a
share g of them has a weight near g / (1 - g).

Bits stand out by four times the error of the others, that of where strings fall included: it is
told by the median distance from the median, which a few popular strings do not move. Where some do,
others may belong to the same strings in other cohorts and stand out less, as on the bit of a listed
string, which is known worse. Taken for no peak such a bit makes the listed string's share too
large. So a bit of height y and error s is told by Bayes' rule: with the peaks' mean m and variance
t^2 beyond their errors, the others' variance b^2 beyond theirs, and a share g of all bits,

    P(peak | y) = g A / (g A + (1 - g) B),   A = N(y; m, t^2 + s^2), B = N(y; 0, b^2 + s^2).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from deniable.decode.mixture import fit_rows
from deniable.decode.mixture.rows import Product
from deniable.mechanisms.base import Floats, Reports

Column = Callable[[Reports], Floats]
"""From records to log-likelihoods: one each, or a column per listed string."""

_STANDS_OUT = 4.0
_NORMAL = 1.4826
"""A normal distribution's standard deviation over its median distance from the median."""
_SURE = 0.999
_LEAST = 1e-300
_ROWS, _PART = 2**16, 4
"""Of more reports than this only each fourth, at most, tells the share of popular strings."""
_NUMBERS = 2**22
"""The most likelihoods that are held for that."""


def step_of(reports: int, listed: int) -> int:
    """Return the step between the reports to which the share of popular strings is fitted."""
    return max(min(_PART, max(1, -(-reports // _ROWS))), reports * (listed + 2) // _NUMBERS)


def standing_out(off: Floats, noise: Floats) -> NDArray[np.bool_]:
    """Tell which bits are off the flat profile by more than noise and chance placement explain."""
    apart = np.abs(off - np.median(off))
    spread = (_NORMAL * float(np.median(apart))) ** 2 - float(np.median(noise**2))
    return np.asarray(off > _STANDS_OUT * np.sqrt(noise**2 + max(0.0, spread)))


def as_peaks(off: Floats, noise: Floats, sure: NDArray[np.bool_]) -> Floats:
    """Return the chance of each bit to be one of an unlisted popular string; see the module.

    Args:
        off: how much each bit is above those of strings that are not popular.
        noise: its error.
        sure: which bits stand out.
    """
    variance = noise**2
    mean, between = _spread(off[sure], variance[sure])
    rest = off[~sure]
    apart = _NORMAL * float(np.median(np.abs(rest - np.median(rest)))) if rest.size else 0.0
    around = max(0.0, apart**2 - float(np.median(variance)))
    share = float(sure.mean())
    own, other = variance + between, variance + around
    against = (
        ((off - mean) ** 2 / own - off**2 / other + np.log(own / other)) / 2
        + np.log1p(-share) - np.log(share)
    )  # fmt: skip
    # A bit below 0 is none, however wide the peaks' law is.
    return np.where(off > 0, special.expit(-against), 0.0)


def _spread(raw: Floats, variance: Floats) -> tuple[float, float]:
    """Return the mean of heights, and their variance beyond that of their errors."""
    mean = float(np.average(raw, weights=1 / variance))
    if raw.size < 2:
        return mean, 0.0
    return mean, max(0.0, float(np.sum((raw - mean) ** 2) / (raw.size - 1) - variance.mean()))


def shrunken(raw: Floats, noise: Floats) -> Floats:
    """Return the heights of peaks, as near to their mean as their errors explain.

    With errors s around m, and t^2 what the variance of the peaks has beyond s^2, a peak is
    expected at m + (raw - m) t^2 / (t^2 + s^2) [EM73].
    """
    if raw.size < 2:
        return raw
    variance = noise**2
    mean, between = _spread(raw, variance)
    return np.asarray(mean + (raw - mean) * between / (between + variance))


def parted(heights: Floats, noise: Floats, hashes: int) -> tuple[Floats, Floats]:
    """Return the share a_j of people with popular strings, by cohort, and the weights of bits.

    The strings are the same in all cohorts: a_j differ by their errors, and where strings did not
    stand out.

    Args:
        heights: the shares of unlisted people who have each bit, 0 where it does not stand out.
        noise: their errors.
        hashes: h.
    """
    peak = heights > 0
    enough = peak.sum(axis=1) >= hashes
    part = np.where(enough, heights.sum(axis=1) / hashes, heights.max(axis=1))
    error = np.sqrt(np.where(peak, noise**2, 0.0).sum(axis=1)) / hashes
    some = peak.any(axis=1)
    part[some] = np.maximum(shrunken(part[some], error[some]), 0.0)
    inside = np.minimum(heights / np.maximum(part, 1e-12)[:, None], _SURE)
    rest = np.where(enough, 0.0, np.maximum(hashes - inside.sum(axis=1), 0.0))
    each = rest / np.maximum((~peak).sum(axis=1), 1)
    return np.minimum(part, 1.0), np.where(peak, inside / (1 - inside), each[:, None])


def popular_column(
    part: Floats, anywhere: Column, sets: Column, listed: Column, reports: Reports
) -> Column:
    """Return the log-likelihood of "(other)" with popular strings; see the module.

    Args:
        part: a_j.
        anywhere: that of any string.
        sets: that of the bits that stand out.
        listed: those of the listed strings.
        reports: all of the field.
    """
    shares = part / part.max()

    def mixed(records: Reports, factor: float) -> Floats:
        own = factor * shares[records["cohort"]]
        with np.errstate(divide="ignore"):  # a share of 0, or of all
            logs = np.log1p(-own) + anywhere(records), np.log(own) + sets(records)
        return np.asarray(np.logaddexp(*logs))

    some = reports[:: step_of(reports.size, listed(reports[:1]).shape[1])]
    logs = np.column_stack([listed(some), anywhere(some), mixed(some, 1.0)])
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    lines = np.ascontiguousarray(np.maximum(logs, _LEAST, out=logs).T)
    rows = Product((lines,), np.broadcast_to(np.float64(1 / some.size), some.size), some.size)
    *_, plain, peaks = fit_rows(rows).weights
    factor = float(peaks / (plain + peaks)) if plain + peaks > 0 else float(part.max())
    return lambda records: mixed(records, factor)
