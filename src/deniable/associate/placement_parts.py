"""The hashed parts of reports: how far the unlisted people at a place may be from even, and why.

A string that nobody listed falls on some place of each cohort: a bit, a symbol, a bucket. The
likelihood of "(other)" holds for the average over places, so that the share t of all people who are
unlisted and at a place is off by

    r = t - (what the likelihood says),    t = (c/N - q) / (p - q) - (listed people at the place),

of which e = c/N's binomial error is noise. The variance of t over places is what the squares of r
have beyond those of e, over all places and cohorts: strings have the same shares in each. A place
whose share was fitted to the reports themselves (a peak, see `other`) has the error e.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.associate.other import Fit, Peaks, fit_of_bits, fit_of_symbols
from deniable.associate.popular import step_of
from deniable.associate.variable import Variable
from deniable.mechanisms import HCMS, ORR, NGrams, Rappor
from deniable.mechanisms.base import Counts, Floats, Mechanism, Reports
from deniable.mechanisms.candidates import open_keys
from deniable.mechanisms.hashing import fingerprints

Ratios = Callable[[Reports], Floats]
"""From records to P(record | place) / P(record | anywhere) - 1, a column per place."""


@dataclass(frozen=True)
class Part:
    """A part of a field's reports that says where a string falls.

    Attributes:
        cohort: the name of the records' column that chooses the hash functions.
        variance: of the share of all people who are unlisted and at a place: cohorts x places.
        ratios: see `Ratios`.
        chosen: from records to those that have this part.
    """

    cohort: str
    variance: Floats
    ratios: Ratios
    chosen: Callable[[Reports], NDArray[np.bool_]] | None = None


def parts_of(variable: Variable, profile: str) -> Iterator[Part]:
    """Yield the hashed parts of a field with "(other)"; none where hash functions are many.

    Local hashing has one for each report, or thousands; points of projective planes have as many
    hyperplanes in common whichever two they are, and so have no collisions but of the same point.
    """
    mechanism = variable.mechanism
    if not variable.other or not mechanism.hashed:
        return
    # Cohorts of few hash functions have these mechanisms alone, and places of four kinds.
    for kind, parts in _KINDS.items():
        if isinstance(mechanism, kind):
            yield from parts(variable, mechanism, profile)


def _bits(variable: Variable, mechanism: Rappor, profile: str = "flat") -> Part:
    fit, shape = fit_of_bits(variable, mechanism), mechanism.parameters
    up, down = fit.pure.p / fit.pure.q, (1 - fit.pure.p) / (1 - fit.pure.q)

    def ratios(records: Reports) -> Floats:
        ones = np.unpackbits(records["bits"], axis=1, count=shape.bits, bitorder="little")
        # One bit of the string is at a place, its others anywhere: to first order in theirs.
        each = down + (up - down) * ones.astype(np.float64)
        return np.asarray(each / each.mean(axis=1, keepdims=True) - 1)

    used = fit.peaks() if profile == "peaks" else _no_peaks(fit)
    return Part("cohort", _variance(fit, used), ratios)


def _symbols(variable: Variable, mechanism: ORR) -> Part:
    fit, symbols = fit_of_symbols(variable, mechanism), mechanism.parameters.symbols

    def ratios(records: Reports) -> Floats:
        own = records["symbol"][:, None] == np.arange(symbols)
        return np.where(own, symbols * fit.pure.p - 1, symbols * fit.pure.q - 1)

    return Part("cohort", _variance(fit, _no_peaks(fit)), ratios)


def _grams(variable: Variable, mechanism: NGrams) -> Iterator[Part]:
    """Yield the whole string and the n-grams of each place of each part of the report."""
    shape, listed = mechanism.parameters, variable.candidates or ()
    whole = Variable(
        variable.name, mechanism.whole, mechanism.part(variable.reports, 0), listed, other=True
    )
    yield _named(_bits(whole, mechanism.whole), "bits_0")
    for place in range(shape.places):
        grams = [shape.gram_of(one, place) if isinstance(one, str) else one for one in listed]
        distinct = tuple(dict.fromkeys(grams))
        for number in range(1, shape.grams + 1):
            column = mechanism.chosen[:, number - 1]

            def chosen(
                records: Reports, column: NDArray[np.int64] = column, place: int = place
            ) -> NDArray[np.bool_]:
                return np.asarray(column[records["places"]] == place)

            mine = variable.reports[chosen(variable.reports)]
            part = mechanism.part(mine, number)
            if not part.size:
                continue
            gram = Variable(variable.name, mechanism.gram, part, distinct, other=True)
            yield _named(_bits(gram, mechanism.gram), f"bits_{number}", chosen)


def _named(
    part: Part, name: str, chosen: Callable[[Reports], NDArray[np.bool_]] | None = None
) -> Part:
    """Return the part with its bits in the column of that name."""

    def ratios(records: Reports) -> Floats:
        own = np.empty(records.size, dtype=[("bits", records.dtype[name])])
        own["bits"] = records[name]
        return part.ratios(own)

    return Part(part.cohort, part.variance, ratios, chosen)


def _no_peaks(fit: Fit) -> Peaks:
    return Peaks(fit.flat, np.zeros_like(fit.flat), np.zeros_like(fit.flat))


def _variance(fit: Fit, peaks: Peaks) -> Floats:
    """Return the variance of the unlisted people's share at each place of each cohort."""
    found, used = fit.raw(fit.variable.reports), peaks.profile
    if found is None:
        return np.zeros_like(used)
    raw, noise, counts, left = found
    # From the profile among unlisted people to the share of all people.
    scale = left / fit.pure.gap
    off, error = (raw - used) * scale, noise * scale
    seen = np.broadcast_to(counts.reports[:, None] > 0, used.shape)
    fitted = seen & (used > used.min(axis=1, keepdims=True))
    # A peak has the error of its height, times that of the part of the reports that told it.
    listed = len(fit.variable.candidates or ())
    own = np.where(fitted, error**2 * step_of(fit.variable.n, listed), 0.0)
    # Whether a place is a peak may be in doubt; of the others these are not typical.
    even = seen & ~fitted & (peaks.doubt <= noise**2)
    return own + peaks.doubt * scale**2 + _excess(off**2 - error**2, even, listed)


def _excess(squares: Floats, places: NDArray[np.bool_], listed: int) -> Floats:
    """Return the mean of squares without their noise, at the places that they are of."""
    # Shares of listed strings were fitted: so many squares are lost.
    degrees = max(1, int(places.sum()) - listed)
    return np.where(places, max(0.0, float(squares[places].sum())) / degrees, 0.0)


def _buckets(variable: Variable, mechanism: HCMS) -> Part:
    shape, gap = mechanism.parameters, 2 * mechanism.pure.p - 1
    coefficients = np.arange(shape.width)

    def ratios(records: Reports) -> Floats:
        parity = np.bitwise_count(records["coefficient"][:, None] & coefficients) & 1
        signs = np.where(parity == records["sign"][:, None], gap, -gap)
        # Coefficient 0 has the same sign in every bucket.
        return np.where(records["coefficient"][:, None] == 0, 0.0, signs)

    counts = mechanism.accumulate(variable.reports)
    return Part("row", _bucket_variance(variable, mechanism, counts), ratios)


def _bucket_variance(variable: Variable, mechanism: HCMS, counts: Counts) -> Floats:
    shape, gap, listed = mechanism.parameters, 2 * mechanism.pure.p - 1, variable.candidates or ()
    known = np.clip(np.nan_to_num(mechanism.estimate(counts, listed).frequency), 0.0, 1.0)
    people = np.maximum(counts.reports, 1)[:, None]
    # A bucket's agreement is N gap times its share, with a variance of N at most.
    off = mechanism.agreement(counts) / (people * gap)
    words, rows = fingerprints(open_keys(listed)), np.arange(shape.rows)[:, None]
    places = mechanism.buckets(words[None, :, :], rows.astype(np.uint64))
    np.subtract.at(off, (rows, places), known[None, :])
    off -= max(0.0, 1 - float(known.sum())) / shape.width
    seen = np.broadcast_to(counts.reports[:, None] > 0, off.shape)
    return _excess(off**2 - 1 / (people * gap**2), seen, len(listed))


_Parts = Callable[[Variable, Any, str], Iterable[Part]]
_KINDS: dict[type[Mechanism], _Parts] = {
    Rappor: lambda variable, mechanism, profile: [_bits(variable, mechanism, profile)],
    ORR: lambda variable, mechanism, _: [_symbols(variable, mechanism)],
    NGrams: lambda variable, mechanism, _: _grams(variable, mechanism),
    HCMS: lambda variable, mechanism, _: [_buckets(variable, mechanism)],
}
