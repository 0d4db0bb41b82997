"""Warnings of parameters that are allowed and hardly ever meant: filters that cannot tell.

A Bloom filter of k bits with h hash functions in m cohorts tells strings apart by the bits that
they set. k-RR over k answers keeps the true one with probability E / (E + k - 1), E = e^epsilon.
"""

from __future__ import annotations

import math

from deniable.authoring.problems import Notes
from deniable.protocol import KRRParameters, Parameters, RapporParameters
from deniable.protocol.epsilon import as_float

BITS_PER_STRING = 32
"""Bits of a filter per listed string beyond which more of them add nothing."""
IDENTIFYING = 1_024
"""Bits of a permanent response from which it is as good as a name, seen in many reports."""
WORSE = 10.0
"""Times the variance of a bit per answer from which k-RR cannot carry a list."""


def warn_of_shape(parameters: Parameters, notes: Notes, listed: int, repeated: bool) -> None:
    """Warn of a shape that tells little, or too much.

    Args:
        parameters: of a field.
        notes: at its parameters.
        listed: the number of candidate strings; 0 if it is not known.
        repeated: whether a device reports again and again.
    """
    # Bits, hash functions and cohorts that a survey chooses are RAPPOR's.
    if isinstance(parameters, RapporParameters) and parameters.form == "bloom":
        _warn_of_filter(parameters, notes, listed, repeated)
    # Every other mechanism's error stays as the list grows.
    elif isinstance(parameters, KRRParameters):
        _warn_of_list(parameters, notes)


def _warn_of_filter(
    parameters: RapporParameters, notes: Notes, listed: int, repeated: bool
) -> None:
    bits, hashes = parameters.bits, parameters.hashes
    if hashes > bits:
        notes.warn(
            f"h = {hashes} hash functions for k = {bits} bits: nearly every string sets every bit, "
            "and none can be told from another.",
            "use h = 1 or 2, and k of at least 16.",
        )
    if parameters.cohorts == 1:
        notes.warn(
            "m = 1: strings that share bits share them for everybody, and are never told apart.",
            "use several cohorts, such as m = 16.",
        )
    if listed and bits > BITS_PER_STRING * hashes * listed:
        notes.warn(
            f"k = {bits:,} bits for a list of {listed:,} strings: most bits are nobody's, and "
            "every report carries them.",
            f"use k of at most {BITS_PER_STRING * hashes * listed:,}.",
        )
    if repeated and parameters.memoised and bits >= IDENTIFYING:
        notes.warn(
            f"k = {bits:,} bits: the permanent response of a device is as good as a name, for "
            "whoever sees many of its reports.",
            f"use k below {IDENTIFYING:,}.",
        )


def _warn_of_list(parameters: KRRParameters, notes: Notes) -> None:
    keep, move = parameters.support
    # A report that is not kept is one of the k - 1 others, alike: 1 - keep = (k - 1) move.
    answers, e = round((1 - keep) / move) + 1, math.exp(as_float(parameters.epsilon_once))
    # n Var of a rare answer: (E + k - 2)/(E - 1)^2 of k-RR, 4E/(E - 1)^2 of a bit per answer.
    times = (e + answers - 2) / (4 * e)
    if times > WORSE:
        notes.warn(
            f"krr cannot carry {answers:,} answers at epsilon {math.log(e):.3g}: errors of rare "
            f"answers are {math.sqrt(times):.1f} times those of a mechanism made for so many.",
            'use mechanism = "auto", a larger epsilon or fewer answers.',
        )
