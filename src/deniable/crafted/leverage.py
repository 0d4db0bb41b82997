"""Leverage of one crafted report on an estimate: the number of honest people it counts for.

Model: estimates are linear in the reports. A report that supports an answer adds (1 - q)/(p - q)
to the answer's estimated number of holders, one that does not adds -q/(p - q); honest holders add
1 on average, other honest people 0. So a crafted report, chosen instead of drawn, counts for

    up = (1 - q)/(p - q)        honest holders, or takes away        down = q/(p - q)

of them (docs/mathematics.md, section 7). A share beta of crafted reports shifts a frequency by at
most beta times the larger of up and down + 1, because each stands in the place of an honest one
that would have counted for 0 to 1 (`Leverage.shift`). That shift is the second error bar.
"""

from __future__ import annotations

from dataclasses import replace

from deniable.crafted.cells import profile_leverage
from deniable.crafted.worth import Leverage
from deniable.mechanisms import mechanism_for
from deniable.protocol import Field, Parameters, ProfileParameters, Sets, StringSets
from deniable.protocol.rest import Bits, Points, Product, Sign, Subset, Symbol, unknown_kind


def leverage(parameters: Parameters) -> Leverage:
    """Return the leverage of a crafted report, for an answer by itself.

    Guarantees: exact for estimates that count support (all closed domains but O-RR, and hashed
    mechanisms on average over hash functions).

    Accuracy: where strings are fitted together (Bloom filters, O-RR) the value is the leverage on
    one string fitted beside an intercept. Its regression weights sum to 0: a report that sets the
    string's d of k bits and no other gives (1 - d/k) / ((1 - d/k) (q* - p*)) = 1/(q* - p*), either
    way. Other strings in the fit can increase the leverage, as they increase the variance; so can
    other answers of a count-mean sketch, which are solved for.

    Edge cases: a single bit (a plain yes or no) has the larger leverage of its two answers; a
    profile that of the attribute whose answers shift most (`crafted/cells.py`); a report of several
    parts that of the first, which is about the whole answer; prefixes that of a whole string, which
    the verification group alone decides.

    Example:
        >>> from deniable.protocol import Boolean, KRRParameters
        >>> from deniable.authoring import resolve
        >>> round(leverage(resolve(KRRParameters, {"epsilon": 1.0}, Boolean(), False)).up, 3)
        1.582
    """
    # Of a profile no answer by itself is estimated, but tables of its attributes.
    if isinstance(parameters, ProfileParameters):
        return profile_leverage(parameters)
    channel = parameters.channel
    rest, (p, q) = channel.typical, parameters.support
    rest = rest.parts[0] if isinstance(rest, Product) else rest
    if not isinstance(rest, Bits | Symbol | Sign | Subset | Points):
        raise unknown_kind("leverage", rest)
    if isinstance(rest, Bits) and _share_bits(parameters, rest):
        # One string beside an intercept: see "Accuracy" above.
        gap = rest.one - rest.zero
        return Leverage(float(1 / gap), float(1 / gap))
    # A supporting report adds (1 - q)/(p - q), any other -q/(p - q): docs/mathematics.md, section 7
    gap = p - q
    up, down = (1 - q) / gap, q / gap
    if "group" in channel.names:
        # Only the last group tests whole strings, and a crafted report chooses to be in it.
        _, chance = channel.numbers[channel.names.index("group")].given(())[-1]
        about = float(chance)
        return Leverage(float(up) / about, float(down) / about, about)
    if isinstance(rest, Bits) and rest.width == 1:
        # "no" has the frequency 1 - f: it gains 1 + q/(p - q) = p/(p - q) by a 0.
        up, down = max(up, p / gap), max(down, (1 - p) / gap)
    return Leverage(float(up), float(down))


def _share_bits(parameters: Parameters, rest: Bits) -> bool:
    """Tell whether answers are hashed into bits, so that several set the same ones."""
    numbers = parameters.channel.numbers
    several = rest.drawn > 1 or any(number.given(())[0][0] > 1 for number in numbers)
    return (rest.drawn > 0 and several) or mechanism_for(parameters).hashed


def leverage_of(field: Field) -> Leverage:
    """Return the leverage of a crafted report on a field, scaled as the field's shares are.

    Where a set reports one sampled member, that member stands for `most` of them, and so does a
    crafted one.
    """
    found = leverage(field.parameters)
    domain, parameters = field.domain, field.parameters
    if not isinstance(domain, Sets | StringSets) or parameters.per_member:
        return found
    return replace(found, up=found.up * domain.most, down=found.down * domain.most)
