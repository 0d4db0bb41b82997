"""The likelihood of a report whose answer is none of the candidates: "Other".

Model: a report of Bloom bits is that of some other string; the other people of cohort j report bit
s with probability r_js. Four profiles r are known:

    flat      r = p* + (q* - p*) d/k, d/k the share of bits that a string sets: what strings that
              nobody knows do on average over hash functions (mechanisms/drawn_bits.py);
    fitted    [FPE16, section 3.2], per cohort, with the known strings' share removed:
              r_js = (c_js - c_js^m) / (N_j (1 - F)),   F = sum of the known frequencies,
              c_js^m = q* T_js + p* (N_j F - T_js),  T_js = N_j (frequencies that set bit s),
              clipped to p*..q* (the paper prints N for N F; that loses the mass of "Other");
    halves    the same, each half of the reports with the profile fitted on the other half;
    peaks     flat, but for the bits whose fitted value stands out by four standard errors: those
              of unlisted strings that many people hold, see `popular`.

A string sets few bits, so that its bits are not independent: `profile_columns` has the likelihood
of a record under a profile. The paper's two profiles, fitted and halves, take bits as independent.

For reports of one symbol, appendix D says the same with symbols for bits: the flat profile is the
uniform distribution over the symbols of a cohort, the fitted one (c - c^m) / (N_j (1 - F)).

Accuracy: a fitted profile is fitted to the noise of the very reports that it explains; one from the
other half claims far too few of them. `benchmarks/associate_other.py` compares their bias with 20%
of the people unlisted: "peaks" has the smallest over all and is the default.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable import _validate
from deniable.associate.other_parts import groups_column, parts_column, whole_strings
from deniable.associate.popular import (
    as_peaks,
    parted,
    popular_column,
    shrunken,
    standing_out,
)
from deniable.associate.profile_columns import (
    MOST_SET,
    NO_SETS,
    LogLikelihood,
    bits_column,
    independent_bits,
    ones_of,
    symbol_column,
)
from deniable.associate.variable import Variable
from deniable.decode.design import Shape, design_of
from deniable.errors import InvalidParameter
from deniable.mechanisms import HCMS, ORR, NGrams, Prefixes, Rappor
from deniable.mechanisms.base import Counts, Floats, Reports
from deniable.mechanisms.closed_form import Pure
from deniable.mechanisms.drawn_bits import unlisted_bits
from deniable.protocol.channel import Bits, Channel, Points, Sign, Subset, Symbol, unknown_kind

PROFILES = ("flat", "peaks", "fitted", "halves")
DEFAULT_PROFILE = "peaks"

_LEAST_MASS = 1e-3


def other_likelihood(variable: Variable, profile: str = DEFAULT_PROFILE) -> LogLikelihood:
    """Return ln P(record | the answer is no candidate) of an open alphabet's field.

    Edge cases: a fitted profile falls back to the flat one where the candidates leave no mass, and
        in cohorts without reports. Reports of local hashing have a hash function each, so that
        only the flat profile exists, as of sketches and of points; symbols by cohort have no
        peaks. Parts of strings: see `other_parts`.

    Raises:
        InvalidParameter: if there is no such profile, or no closed form for the mechanism.
    """
    if profile not in PROFILES:
        raise _validate.invalid("profile", "other_likelihood", f"one of {PROFILES}", profile)
    mechanism = variable.mechanism
    # Other profiles than the flat one are fits to cohorts: of hashed bits, and of symbols.
    if isinstance(mechanism, Rappor):
        if profile not in variable.learned:
            variable.learned[profile] = _by_profile(fit_of_bits(variable, mechanism), profile)
        found: LogLikelihood = variable.learned[profile]
        return found
    # The same of symbols.
    if isinstance(mechanism, ORR):
        return _by_profile(fit_of_symbols(variable, mechanism), profile)
    # Strings share beginnings and n-grams: `other_parts`.
    if isinstance(mechanism, Prefixes):
        return groups_column(mechanism)
    # The same of n-grams.
    if isinstance(mechanism, NGrams):
        return parts_column(variable, mechanism, profile != "flat")
    # The sign of a sketch's coefficient 0 is +1 of every answer, also of unlisted ones.
    if isinstance(mechanism, HCMS):
        return _signs_column(mechanism)
    return flat_column(mechanism.parameters.channel)


def listed_likelihood(variable: Variable) -> LogLikelihood:
    """Return ln P(record | candidate), a column each, where "(other)" stands beside them."""
    mechanism, listed = variable.mechanism, variable.candidates
    # A beginning may be an unlisted string's as well: `other_parts`.
    if isinstance(mechanism, Prefixes):
        return whole_strings(mechanism, listed)
    return lambda records, _: mechanism.likelihood(records, listed, log=True)


def flat_column(channel: Channel) -> LogLikelihood:
    """Return the flat likelihood by the kind of the rest: an unknown answer's own is uniform.

    Where all values are as likely, so are all records, given that the public part is uniform. Of
    bits, each is set with the same chance.

    Raises:
        InvalidParameter: if public parts are not uniform, or values have several probabilities.
    """
    chance, rest = Fraction(1), channel.typical
    for number in channel.numbers:
        law = number.blocks
        if law is None or len(law) > 1:
            raise InvalidParameter(
                f"There is no likelihood of unlisted answers given a report's '{number.name}'.",
                "Leave out the category of all other answers.",
            )
        chance *= law[0][1] / law[0][0]
    match rest:
        case Symbol() | Subset() | Points() | Sign():
            # Every point has as many hyperplanes through it: over all answers it is uniform.
            return _constant(-np.log(float(1 / (chance / rest.count))))
        case Bits() if rest.drawn:
            bits = next(item.name for item in channel.layout.items if item.count)
            pure = Pure.of(rest.one, rest.zero)
            table = math.log(chance) + unlisted_bits(rest.width, rest.drawn, pure)
            return lambda records, _: table[ones_of(records[bits])]
    raise unknown_kind("likelihood of unlisted answers", rest)


class Peaks(NamedTuple):
    """The flat profile with the bits that stand out, a row per cohort.

    `noise` is the error of each bit, and `doubt` its variance that is due to not knowing whether
    it is one of these.
    """

    profile: Floats
    noise: Floats
    doubt: Floats


@dataclass(frozen=True)
class Fit:
    """How a profile is fitted to the cohorts of a mechanism.

    Attributes:
        variable: the field.
        flat: the flat profile, a row per cohort.
        pure: the chances of a bit, or symbol, that is the answer's own, and of one that is not.
        exclusive: True where a report has one symbol: their probabilities sum to 1, and none stands
            out by itself.
        explained: from counts and the known answers' shares to c^m / N_j.
        column: from a profile to log-likelihoods.
        papers: the same for the paper's own profiles, in which bits are independent.
    """

    variable: Variable
    flat: Floats
    pure: Pure
    exclusive: bool
    explained: Callable[[Counts, Floats], Floats]
    column: Callable[[Floats], LogLikelihood]
    papers: Callable[[Floats], LogLikelihood]

    def raw(self, reports: Reports) -> tuple[Floats, Floats, Counts, float] | None:
        """Return the profile that known answers leave, its error, the counts, and what is left.

        None where the known answers leave no mass.
        """
        mechanism = self.variable.mechanism
        counts = mechanism.accumulate(np.ascontiguousarray(reports))
        known = self._known(counts)
        left = 1 - float(known.sum())
        if not left > _LEAST_MASS:
            return None
        people = np.maximum(counts.reports, 1)[:, None]
        seen = counts.table / people
        # r_js = (c - c^m)/(N_j (1 - F)): the binomial error of c/N, over 1 - F as well.
        noise = np.sqrt(np.clip(seen * (1 - seen), 1 / people, None) / people)
        return (seen - self.explained(counts, known)) / left, noise / left, counts, left

    def _known(self, counts: Counts) -> Floats:
        found = self.variable.mechanism.estimate(counts, self.variable.candidates)
        return np.asarray(np.nan_to_num(np.clip(found.frequency, 0.0, 1.0)))

    def fitted(self, reports: Reports) -> Floats:
        """Return the paper's profile, a row per cohort: the part that known answers leave."""
        found = self.raw(reports)
        if found is None:
            return self.flat
        raw, _, counts, _ = found
        fitted = np.clip(raw, self.pure.q, self.pure.p)
        if self.exclusive:
            fitted /= fitted.sum(axis=1, keepdims=True)
        return np.where(counts.reports[:, None] > 0, fitted, self.flat)

    def peaks(self) -> Peaks:
        """Return the flat profile with the bits that stand out as they are fitted.

        What the peaks take of the bits that a string sets is taken from the others, evenly.
        """
        found, flat = None if self.exclusive else self.raw(self.variable.reports), self.flat
        if found is None:
            return Peaks(flat, np.zeros_like(flat), np.zeros_like(flat))
        raw, noise, counts, _ = found
        seen = np.broadcast_to(counts.reports[:, None] > 0, raw.shape)
        peak = standing_out(raw - flat, noise) & seen
        doubt = np.zeros_like(raw)
        if peak.any():
            # Which bits stand out by the same strings as these.
            others = self._with_peaks(raw, noise, peak).min(axis=1, keepdims=True)
            chance = np.where(seen, as_peaks(raw - others, noise, peak), 0.0)
            peak = chance > 1 / 2
            doubt = chance * (1 - chance) * (raw - others) ** 2
        return Peaks(self._with_peaks(raw, noise, peak), noise, doubt)

    def _with_peaks(self, raw: Floats, noise: Floats, peak: NDArray[np.bool_]) -> Floats:
        """Return the profile in which these bits are as they are fitted."""
        low, high = self.pure.q, self.pure.p
        own = np.zeros_like(raw)
        own[peak] = np.clip(shrunken(raw[peak], noise[peak]), low, high) - low
        others = np.maximum((~peak).sum(axis=1, keepdims=True), 1)
        lifted = own.sum(axis=1, keepdims=True)
        spread = np.maximum((self.flat - low).sum(axis=1, keepdims=True) - lifted, 0.0) / others
        return np.asarray(low + np.where(peak, own, spread))


def _by_profile(fit: Fit, profile: str) -> LogLikelihood:
    if profile == "flat":
        return fit.column(fit.flat)
    if profile == "peaks":
        peaks = fit.peaks()
        return fit.column(peaks.profile) if fit.exclusive else _with_peaks(fit, peaks)
    if profile == "fitted":
        return fit.papers(fit.fitted(fit.variable.reports))
    odd, even = (fit.papers(fit.fitted(fit.variable.reports[i::2])) for i in (1, 0))

    def alternating(records: Reports, start: int) -> Floats:
        which = (np.arange(records.size) + start) % 2 == 0
        return np.where(which, odd(records, start), even(records, start))

    return alternating


def _with_peaks(fit: Fit, peaks: Peaks) -> LogLikelihood:
    """Return the likelihood of a profile of bits some of which stand out; see `popular`."""
    variable, mechanism, profile = fit.variable, fit.variable.mechanism, peaks.profile
    heights = (profile - profile.min(axis=1, keepdims=True)) / fit.pure.gap
    rest = mechanism.parameters.channel.typical
    if not isinstance(rest, Bits) or rest.drawn > MOST_SET:
        return fit.column(profile)
    if heights.max() < NO_SETS:
        return fit.column(fit.flat)
    heights[heights < NO_SETS] = 0.0
    part, weights = parted(heights, peaks.noise / fit.pure.gap, rest.drawn)
    anywhere, sets = fit.column(fit.flat), fit.column(fit.pure.q + weights)
    found = popular_column(
        part,
        lambda records: anywhere(records, 0),
        lambda records: sets(records, 0),
        lambda records: mechanism.likelihood(records, variable.candidates, log=True),
        variable.reports,
    )
    return lambda records, _: found(records)


def fit_of_bits(variable: Variable, mechanism: Rappor) -> Fit:
    """Return how a profile is fitted to the bits of Bloom filters."""
    shape, pure = mechanism.parameters, mechanism.pure
    # d/k: a bit is missed by all h hash functions with probability (1 - 1/k)^h.
    filled = 1 - (1 - 1 / shape.bits) ** shape.hashes
    flat = np.full((shape.cohorts, shape.bits), pure.q + pure.gap * filled)

    def explained(_: Counts, known: Floats) -> Floats:
        """Return c^m / N_j = p* F + (q* - p*) T / N_j for every cohort and bit."""
        every = Shape(shape.cohorts, shape.bits, shape.hashes)
        set_by = design_of(every, variable.candidates or ()).matrix().T @ known
        by_bit = np.asarray(set_by).reshape(shape.cohorts, shape.bits)
        return np.asarray(pure.q * known.sum() + pure.gap * by_bit)

    sets, single = bits_column(mechanism), partial(independent_bits, cohorts=shape.cohorts)
    return Fit(variable, flat, pure, False, explained, sets, single)


def fit_of_symbols(variable: Variable, mechanism: ORR) -> Fit:
    """Return the same of the symbols of cohorts."""
    cohorts, symbols = mechanism.parameters.cohorts, mechanism.parameters.symbols
    flat = np.full((cohorts, symbols), 1 / symbols)
    # Symbols have chances of their own, apart from the support of a string that shares one.
    return Fit(variable, flat, mechanism.symbol, True,
                lambda counts, known: _explained_symbols(variable, counts, known),
                symbol_column, symbol_column)  # fmt: skip


def _explained_symbols(variable: Variable, counts: Counts, known: Floats) -> Floats:
    """Return c^m / N_j for every cohort and symbol, from the likelihoods of all records."""
    cohorts, symbols = counts.table.shape
    every = np.zeros(cohorts * symbols, dtype=variable.mechanism.dtype)
    every["cohort"] = np.repeat(np.arange(cohorts), symbols)
    every["symbol"] = np.tile(np.arange(symbols), cohorts)
    table = variable.mechanism.likelihood(every, variable.candidates) * cohorts
    return np.asarray(table @ known).reshape(cohorts, symbols)


def _signs_column(mechanism: HCMS) -> LogLikelihood:
    """Return that of strings in any bucket: either sign, but that of coefficient 0 is +1 (0)."""
    shape, pure = mechanism.parameters, mechanism.pure
    even, least = -np.log(float(shape.rows * shape.width)), np.array([pure.p, 1 - pure.p])

    def column(records: Reports, _: int) -> Floats:
        known = np.where(records["coefficient"] == 0, least[records["sign"]], 0.5)
        return np.asarray(np.log(known) + even)

    return column


def _constant(value: float) -> LogLikelihood:
    return lambda records, _: np.full(records.size, value)
