"""Leverage of one crafted report on an estimate: the number of honest people it counts for.

Model: estimates are linear in the reports. A report that supports an answer adds (1 - q)/(p - q)
to the answer's estimated number of holders, one that does not adds -q/(p - q); honest holders add
1 on average, other honest people 0. So a liar who chooses the report instead of drawing it counts
for

    up = (1 - q)/(p - q)        honest holders, or takes away        down = q/(p - q)

of them (docs/mathematics.md, section 7). A share beta of liars shifts a frequency by at most beta
times the larger of up and down + 1, because each liar stands in the place of an honest person who
would have counted for 0 to 1 (`Leverage.shift`). That shift is the second error bar.
"""

from __future__ import annotations

from deniable.privacy.leverage.profiles import profile_leverage
from deniable.privacy.leverage.worth import Leverage
from deniable.protocol import (
    Field,
    NGramsParameters,
    Parameters,
    PrefixesParameters,
    ProfileParameters,
    RapporParameters,
    Sets,
)
from deniable.protocol.unary import UnaryParameters

__all__ = ["Leverage", "leverage", "leverage_of"]


def leverage(parameters: Parameters) -> Leverage:
    """Return the leverage of a crafted report, for an answer by itself.

    Guarantees: exact for estimates that count support (all closed domains but O-RR, and hashed
    mechanisms on average over hash functions).

    Accuracy: where strings are fitted together (Bloom filters, O-RR) the value is the leverage on
    one string fitted beside an intercept. Its regression weights sum to 0: a report that sets the
    string's d of k bits and no other gives (1 - d/k) / ((1 - d/k) (q* - p*)) = 1/(q* - p*), either
    way. Other strings in the fit can increase the leverage, as they increase the variance.

    Edge cases: a single bit (a plain yes or no) has the larger leverage of its two answers; a
    profile that of the attribute whose levels shift most (`leverage/profiles.py`); prefixes that of
    a whole string, which the verification group alone decides; n-grams that of the whole string.

    Example:
        >>> from deniable.protocol import Boolean, KRRParameters
        >>> round(leverage(KRRParameters.resolve({"epsilon": 1.0}, Boolean(), False)).up, 3)
        1.582
    """
    if isinstance(parameters, ProfileParameters):
        return profile_leverage(parameters)
    if isinstance(parameters, NGramsParameters):
        return leverage(parameters.whole)
    p, q = parameters.support
    gap = p - q
    if isinstance(parameters, RapporParameters) and parameters.form != "basic":
        # One string beside an intercept: see "Accuracy" above.
        return Leverage(float(1 / gap), float(1 / gap))
    # A supporting report adds (1 - q)/(p - q), any other -q/(p - q): docs/mathematics.md, section 7
    up, down = (1 - q) / gap, q / gap
    if isinstance(parameters, PrefixesParameters):
        # Only the verification group tests whole strings, and a liar chooses to be in it.
        about = parameters.weights[-1] / parameters.total_weight
        return Leverage(float(up) / about, float(down) / about, about)
    if isinstance(parameters, UnaryParameters) and parameters.bits == 1:
        # "no" has the frequency 1 - f: it gains 1 + q/(p - q) = p/(p - q) by a 0.
        up, down = max(up, p / gap), max(down, (1 - p) / gap)
    return Leverage(float(up), float(down))


def leverage_of(field: Field) -> Leverage:
    """Return the leverage of a crafted report on a field, scaled as the field's shares are.

    Where a set reports one sampled member, that member stands for `most` of them, and so does a
    crafted one.
    """
    found = leverage(field.parameters)
    domain, parameters = field.domain, field.parameters
    per_bit = isinstance(parameters, UnaryParameters) and parameters.members > 0
    if not isinstance(domain, Sets) or per_bit:
        return found
    return Leverage(found.up * domain.most, found.down * domain.most)
