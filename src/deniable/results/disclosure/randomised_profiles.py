"""The randomisation of a profile's report, in words for the people who are asked."""

from __future__ import annotations

from fractions import Fraction

from deniable.protocol import ProfileParameters, ViewsParameters
from deniable.protocol.channel import Bits, Sign, Symbol, unknown_kind
from deniable.results.disclosure.language import Language


def how_profile(parameters: ProfileParameters, say: Language) -> str:
    """Return sentences that say how a profile becomes one report."""
    channel = parameters.channel
    rest, names = channel.typical, channel.names
    match rest:
        case Sign():
            return _property(parameters, rest, say)
        case Bits() if not rest.drawn:
            return say("profiles.written", width=rest.width, one=percent(rest.one))
        case Bits():
            chances = {"one": percent(rest.one), "zero": percent(rest.zero)}
            if not names:
                return say("profiles.whole_row", width=f"{rest.width:,}", **chances)
            return say("profiles.row", device=_picked(parameters, say), **chances)
        case Symbol() if not names:
            return say("profiles.combination", keep=percent(rest.keep), size=f"{rest.size:,}")
        case Symbol() if names == ("seed",):
            return say("profiles.hashed", keep=percent(rest.keep), size=f"{rest.size:,}")
        case Symbol():
            return _table(parameters, say)
    raise unknown_kind("sentence about a profile", rest)


def percent(probability: Fraction) -> str:
    """Return a probability in per cent, to a tenth."""
    return f"{float(100 * probability):.1f}%"


def _property(parameters: ProfileParameters, rest: Sign, say: Language) -> str:
    names, most = parameters.channel.names, parameters.order
    if "row" in names:
        about = say("profiles.property_half")
    elif "marginal" in names:
        about = say("profiles.property_picked", most=most)
    elif most == 1:
        about = say("profiles.property_one")
    else:
        about = say("profiles.property_some", most=most)
    partly = parameters.published().get("basis") == "contrasts"
    key = "profiles.contrast" if partly else "profiles.property"
    return say(key, about=about, keep=percent(rest.keep))


def _picked(parameters: ProfileParameters, say: Language) -> str:
    """Return the beginning of a sentence about some of the answers."""
    sizes, among = {parameters.order}, len(parameters.answers)
    # Views alone may be of different numbers of attributes.
    if isinstance(parameters, ViewsParameters):
        sizes = {len(view) for view in parameters.views}
    few, many = min(sizes), max(sizes)
    if among == few:
        return say("profiles.device")
    if few == many:
        return say("profiles.device_some", some=few, among=among)
    return say("profiles.device_few", few=few, many=many, among=among)


def _table(parameters: ProfileParameters, say: Language) -> str:
    chances = [rest.keep for rest in parameters.channel.rests if isinstance(rest, Symbol)]
    low, high = percent(min(chances)), percent(max(chances))
    chance = low if low == high else say("profiles.chances", low=low, high=high)
    return say("profiles.table", device=_picked(parameters, say), chance=chance)
