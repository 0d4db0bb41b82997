"""The likelihood of a report whose answer is none of the candidates: "Other".

Model: reports of Bloom bits are independent bits; of the other people, those of cohort j report bit
s with probability r_js. Three profiles r are known:

    flat      r = p* + (q* - p*) d/k, d/k the share of bits that a string sets: what strings that
              nobody knows do on average over hash functions;
    fitted    [FPE16, section 3.2], per cohort, with the known strings' share removed:
              r_js = (c_js - c_js^m) / (N_j (1 - F)),   F = sum of the known frequencies,
              c_js^m = q* T_js + p* (N_j F - T_js),  T_js = N_j (frequencies that set bit s),
              clipped to p*..q* (the paper prints N for N F; that loses the mass of "Other");
    halves    the same, each half of the reports with the profile fitted on the other half.

For reports of one symbol, appendix D says the same with symbols for bits: the flat profile is the
uniform distribution over the symbols of a cohort, the fitted one (c - c^m) / (N_j (1 - F)).

Accuracy: a fitted profile is fitted to the noise of the very reports that it explains, so that it
claims too many of them or, from the other half, too few. Measured with 20% of the people outside
five known strings (N = 1e5, k = 128, h = 2, 16 cohorts, epsilon 3; docs/associate.md), the flat
profile has the smallest bias: it is the default.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable import _validate
from deniable.associate.variable import Variable
from deniable.decode.design import Shape, design_of
from deniable.mechanisms import OLH, ORR, Rappor
from deniable.mechanisms.base import Candidate, Counts, Floats, Reports

PROFILES = ("flat", "fitted", "halves")
DEFAULT_PROFILE = "flat"

LogLikelihood = Callable[[Reports, int], Floats]
"""From records, and the place of the first of them among all reports, to log-likelihoods."""

_DECOYS = 256
_LEAST_MASS = 1e-3


def other_likelihood(variable: Variable, profile: str = DEFAULT_PROFILE) -> LogLikelihood:
    """Return ln P(record | the answer is no candidate) of an open alphabet's field.

    Edge cases: a fitted profile falls back to the flat one where the candidates leave no mass, and
        in cohorts without reports. Reports of local hashing have a hash function each, so that
        only the flat profile exists. Mechanisms whose reports are neither bits nor symbols have
        the mean over 256 made-up strings, whatever the profile.

    Raises:
        InvalidParameter: if there is no such profile.
    """
    if profile not in PROFILES:
        raise _validate.invalid("profile", "other_likelihood", f"one of {PROFILES}", profile)
    mechanism = variable.mechanism
    if isinstance(mechanism, OLH):
        shape = mechanism.parameters
        return _constant(-np.log(float(shape.seeds * shape.symbols)))
    if isinstance(mechanism, Rappor):
        return _by_profile(
            variable, mechanism, profile, _flat_bits(mechanism), _bits_column(mechanism)
        )
    if isinstance(mechanism, ORR):
        shares = np.full((mechanism.parameters.cohorts, mechanism.parameters.symbols),
                         1 / mechanism.parameters.symbols)  # fmt: skip
        return _by_profile(variable, mechanism, profile, shares, _symbol_column)
    return _made_up(variable)


def _by_profile(
    variable: Variable,
    mechanism: Rappor | ORR,
    profile: str,
    flat: Floats,
    column: Callable[[Floats], LogLikelihood],
) -> LogLikelihood:
    if profile == "flat":
        return column(flat)
    if profile == "fitted":
        return column(_fitted(variable, mechanism, variable.reports, flat))
    odd, even = (column(_fitted(variable, mechanism, variable.reports[i::2], flat)) for i in (1, 0))

    def alternating(records: Reports, start: int) -> Floats:
        which = (np.arange(records.size) + start) % 2 == 0
        return np.where(which, odd(records, start), even(records, start))

    return alternating


def _fitted(variable: Variable, mechanism: Rappor | ORR, reports: Reports, flat: Floats) -> Floats:
    """Return the paper's profile, a row per cohort: what known answers do not explain."""
    counts = mechanism.accumulate(np.ascontiguousarray(reports))
    frequency = mechanism.estimate(counts, variable.candidates).frequency
    known = np.nan_to_num(np.clip(frequency, 0.0, 1.0))
    left = 1 - float(known.sum())
    if not left > _LEAST_MASS:
        return flat
    seen = counts.table / np.maximum(counts.reports, 1)[:, None]
    if isinstance(mechanism, ORR):
        pure, explained = mechanism.symbol, _explained_symbols(variable, counts, known)
    else:
        pure, explained = mechanism.pure, _explained_bits(variable, mechanism, known)
    fitted = np.clip((seen - explained) / left, pure.q, pure.p)
    if isinstance(mechanism, ORR):  # one symbol per report: their probabilities sum to 1
        fitted /= fitted.sum(axis=1, keepdims=True)
    return np.where(counts.reports[:, None] > 0, fitted, flat)


def _flat_bits(mechanism: Rappor) -> Floats:
    shape = mechanism.parameters
    filled = 1 - (1 - 1 / shape.bits) ** shape.hashes
    return np.full((shape.cohorts, shape.bits), mechanism.pure.q + mechanism.pure.gap * filled)


def _explained_bits(variable: Variable, mechanism: Rappor, known: Floats) -> Floats:
    """Return c^m / N_j = p* F + (q* - p*) T / N_j for every cohort and bit."""
    shape = mechanism.parameters
    design = design_of(Shape(shape.cohorts, shape.bits, shape.hashes), variable.candidates or ())
    set_by = np.asarray(design.matrix().T @ known).reshape(shape.cohorts, shape.bits)
    return np.asarray(mechanism.pure.q * known.sum() + mechanism.pure.gap * set_by)


def _explained_symbols(variable: Variable, counts: Counts, known: Floats) -> Floats:
    """Return c^m / N_j for every cohort and symbol, from the likelihoods of all records."""
    cohorts, symbols = counts.table.shape
    every = np.zeros(cohorts * symbols, dtype=variable.mechanism.dtype)
    every["cohort"] = np.repeat(np.arange(cohorts), symbols)
    every["symbol"] = np.tile(np.arange(symbols), cohorts)
    table = variable.mechanism.likelihood(every, variable.candidates) * cohorts
    return np.asarray(table @ known).reshape(cohorts, symbols)


def _bits_column(mechanism: Rappor) -> Callable[[Floats], LogLikelihood]:
    def column(profile: Floats) -> LogLikelihood:
        # Imported here because Numba takes most of a second to load and few commands need it.
        from deniable.kernels.matching_bits import summed_bits

        odds = np.log(profile) - np.log1p(-profile)
        base = np.log1p(-profile).sum(axis=1) - np.log(mechanism.parameters.cohorts)
        return lambda records, _: np.asarray(
            summed_bits(records["bits"], records["cohort"], odds) + base[records["cohort"]]
        )

    return column


def _symbol_column(profile: Floats) -> LogLikelihood:
    logs = np.log(profile) - np.log(len(profile))
    return lambda records, _: np.asarray(logs[records["cohort"], records["symbol"]])


def _constant(value: float) -> LogLikelihood:
    return lambda records, _: np.full(records.size, value)


def _made_up(variable: Variable) -> LogLikelihood:
    """Return the mean likelihood over strings that nobody holds."""
    decoys: list[Candidate] = [f"(no answer of anybody, {number})" for number in range(_DECOYS)]

    def column(records: Reports, _: int) -> Floats:
        table = variable.mechanism.likelihood(records, decoys)
        return np.asarray(np.log(table.mean(axis=1)))

    return column
