"""The randomisation of an answer, in words for the people who are asked.

The words follow from the channel: the kind of the rest, and the numbers that a report shows.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

from deniable.errors import InvalidParameter
from deniable.protocol import Field, ProfileParameters, Sets, StringSets
from deniable.protocol.channel import (
    Bits,
    Channel,
    Number,
    Points,
    Product,
    Rest,
    Sign,
    Subset,
    Symbol,
    unknown_kind,
)
from deniable.results.disclosure.language import Language, english
from deniable.results.disclosure.randomised_profiles import how_profile, percent

SHOWN = (
    "cohort",
    "seed",
    "row",
    "coefficient",
    "marginal",
    "view",
    "group",
    "places",
)
"""The numbers that reports of our mechanisms show in clear, and for which there are words."""


def how(field: Field, say: Language | None = None) -> list[str]:
    """Return sentences that say how a field's answer is randomised, one thought each.

    Raises:
        InvalidParameter: if a report shows a number, or is of a kind, that has no words yet: a page
            for the people asked may not leave it out.
    """
    say = say or english()
    parameters, channel = field.parameters, field.parameters.channel
    for number in channel.numbers:
        if not shown(number, say):
            raise InvalidParameter(
                f"A report of {parameters.mechanism} shows its '{number.name}' in clear, and there "
                "are no words for it.",
                f"Say what it means (Number.means), or call it one of {', '.join(SHOWN)}.",
            )
    # A profile's words say how many of its answers a report is about.
    if isinstance(parameters, ProfileParameters):
        return [how_profile(parameters, say), *clear_part(channel, say)]
    sentences = []
    if isinstance(field.domain, Sets | StringSets) and not parameters.per_member:
        sentences.append(say("how.member", most=f"{field.domain.most:,}"))
    step = _step(channel, channel.typical, parameters.per_member, say)
    sentences += [step, *clear_part(channel, say)]
    if parameters.memoised:
        sentences.append(say("how.memoised"))
    return sentences


def shown(number: Number, say: Language) -> str:
    """Return what a number in clear says, in words; none if nobody said it."""
    return number.means or (say(f"shown.{number.name}") if number.name in SHOWN else "")


def clear_part(channel: Channel, say: Language) -> list[str]:
    """Return a sentence about the part of a report that is drawn by lot; none without one."""
    if channel.names == ("marginal", "coefficient"):
        drawn = say("shown.answers_and_property")
    else:
        words = dict.fromkeys(shown(number, say) for number in channel.numbers)
        drawn = reduce(lambda a, b: say("shown.and", first=a, second=b), words) if words else ""
    return [say("shown.sentence", what=drawn)] if drawn else []


def _step(channel: Channel, rest: Rest, per_member: bool, say: Language) -> str:
    match rest:
        case Symbol() if channel.numbers:
            return say("how.hashed_symbol", size=f"{rest.size:,}", keep=percent(rest.keep))
        case Symbol(size=2):
            return say("how.opposite", keep=percent(rest.keep))
        case Symbol():
            return say("how.symbol", size=f"{rest.size:,}", keep=percent(rest.keep))
        case Bits():
            return _switches(channel, rest, per_member, say)
        case Subset():
            listed = {"take": f"{rest.take:,}", "of": f"{rest.of:,}"}
            return say("how.subset", **listed, include=percent(rest.include))
        case Sign():
            return say("how.sign", keep=percent(rest.keep))
        case Points():
            return _points(channel, rest, say)
        case Product(parts=(Bits() as whole, Bits() as piece, *_)):
            return say(
                "how.pieces",
                pieces=len(rest.parts) - 1,
                most=whole.most,
                width=f"{whole.width:,}",
                one=percent(whole.one),
                zero=percent(whole.zero),
                piece_one=percent(piece.one),
                piece_zero=percent(piece.zero),
            )
    raise unknown_kind("sentence for the people asked", rest)


def _points(channel: Channel, rest: Points, say: Language) -> str:
    counted = {
        "count": f"{rest.count:,}",
        "inner": f"{rest.inner:,}",
        "inside": percent(rest.inside),
    }
    if "group" not in channel.names:
        return say("how.points", **counted)
    groups = channel.numbers[channel.names.index("group")].given(())
    share: Fraction = groups[-1][1]
    return say("how.beginnings", groups=f"{len(groups):,}", share=percent(share), **counted)


def _switches(channel: Channel, rest: Bits, per_member: bool, say: Language) -> str:
    chances = {"one": percent(rest.one), "zero": percent(rest.zero)}
    width = f"{rest.width:,}"
    if not channel.direct:
        recipes = f"{channel.sizes[0]:,}"
        return say("how.bloom", most=rest.most, width=width, recipes=recipes, **chances)
    if rest.width == 1:
        return say("how.one_switch", **chances)
    kind = "name" if per_member else "answer"
    return say(f"how.switch_each_{kind}", width=width, **chances)
