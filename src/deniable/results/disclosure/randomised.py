"""The randomisation of an answer, in words for the people who are asked.

The words follow from the channel: the kind of the rest, and the numbers that a report shows.
"""

from __future__ import annotations

from fractions import Fraction

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
from deniable.results.disclosure.randomised_profiles import how_profile, percent

SHOWN = {
    "cohort": "which recipe your device keeps",
    "seed": "which recipe was picked",
    "row": "which recipe was picked",
    "coefficient": "which property it is about",
    "marginal": "which answers it is about",
    "view": "which answers it is about",
    "group": "which group your device belongs to",
    "places": "which places of your text it is about",
}
"""The words for the numbers that reports of our mechanisms show in clear."""


def how(field: Field) -> list[str]:
    """Return sentences that say how a field's answer is randomised, one thought each.

    Raises:
        InvalidParameter: if a report shows a number, or is of a kind, that has no words yet: a page
            for the people asked may not leave it out.
    """
    parameters, channel = field.parameters, field.parameters.channel
    for number in channel.numbers:
        if not shown(number):
            raise InvalidParameter(
                f"A report of {parameters.mechanism} shows its '{number.name}' in clear, and there "
                "are no words for it.",
                f"Say what it means (Number.means), or call it one of {', '.join(SHOWN)}.",
            )
    # A profile's words say how many of its answers a report is about.
    if isinstance(parameters, ProfileParameters):
        return [how_profile(parameters), *clear_part(channel)]
    sentences = []
    if isinstance(field.domain, Sets | StringSets) and not parameters.per_member:
        sentences.append(
            f"Of the up to {field.domain.most:,} names that apply to you, one is picked at random."
        )
    sentences += [_step(channel, channel.typical, parameters.per_member), *clear_part(channel)]
    if parameters.memoised:
        sentences.append(
            "The first part of this chance is decided once for each of your answers and then kept, "
            "so that asking you again and again does not wear the protection down."
        )
    return sentences


def shown(number: Number) -> str:
    """Return what a number in clear says, in words; none if nobody said it."""
    return number.means or SHOWN.get(number.name, "")


def clear_part(channel: Channel) -> list[str]:
    """Return a sentence about the part of a report that is drawn by lot; none without one."""
    if channel.names == ("marginal", "coefficient"):
        drawn = "which answers, and which property of them, it is about"
    else:
        drawn = " and ".join(dict.fromkeys(map(shown, channel.numbers)))
    if not drawn:
        return []
    return [f"The report also shows {drawn}. That was drawn by lot and says nothing about you."]


def _step(channel: Channel, rest: Rest, per_member: bool) -> str:
    match rest:
        case Symbol() if channel.numbers:
            return (
                f"By a recipe picked at random all answers are put into {rest.size:,} groups. "
                f"Your device sends the group of your answer with probability "
                f"{percent(rest.keep)}, and another group otherwise."
            )
        case Symbol():
            return _kept(rest)
        case Bits():
            return _switches(channel, rest, per_member)
        case Subset():
            return (
                f"Your device sends a list of {rest.take:,} of the {rest.of:,} possible answers. "
                "The true one is on the list with probability "
                f"{percent(rest.include)}; the others are picked at random."
            )
        case Sign():
            return (
                "Your device picks a yes-or-no property at random that half of all answers have. "
                "It sends whether your answer has it: truthfully with probability "
                f"{percent(rest.keep)}, and the opposite otherwise."
            )
        case Points() if "group" in channel.names:
            return _beginnings(channel, rest)
        case Points():
            return (
                f"Your device sends one of {rest.count:,} numbers. {rest.inner:,} of them belong "
                "to your answer, and many other answers share them; the number sent is one of "
                f"these with probability {percent(rest.inside)}."
            )
        case Product(parts=(Bits() as whole, Bits() as piece, *_)):
            return _pieces(whole, piece, len(rest.parts) - 1)
    raise unknown_kind("sentence for the people asked", rest)


def _kept(rest: Symbol) -> str:
    sends = f"With probability {percent(rest.keep)} your device sends the true answer, and"
    if rest.size == 2:
        return f"{sends} otherwise the opposite."
    return f"{sends} otherwise another one of the {rest.size:,} possible answers, picked at random."


def _beginnings(channel: Channel, rest: Points) -> str:
    groups = channel.numbers[channel.names.index("group")].given(())
    share: Fraction = groups[-1][1]
    return (
        "Your device belongs to one of "
        f"{len(groups):,} groups, drawn by lot once. The group says which beginning of "
        f"your text is reported; in one of them ({percent(share)} of all devices) the whole "
        f"text is. The beginning becomes one of {rest.count:,} numbers by a "
        f"recipe that many beginnings share, and the number sent is one of "
        f"{rest.inner:,} that belong to it with probability "
        f"{percent(rest.inside)}."
    )


def _pieces(whole: Bits, piece: Bits, pieces: int) -> str:
    return (
        f"Your text and {pieces} short pieces of it, at places drawn by lot once, "
        f"become at most {whole.most} of {whole.width:,} switches each, which many "
        "texts and pieces share. A switch of the text that is on is sent as on with "
        f"probability {percent(whole.one)}, any other with probability "
        f"{percent(whole.zero)}; those of the pieces with {percent(piece.one)} and "
        f"{percent(piece.zero)}."
    )


def _switches(channel: Channel, rest: Bits, per_member: bool) -> str:
    chances = (
        f"is sent as on with probability {percent(rest.one)}, and every other switch with "
        f"probability {percent(rest.zero)}"
    )
    if not channel.direct:
        recipe = f"one of {channel.sizes[0]:,} fixed recipes, which your device keeps"
        return (
            f"Your answer is turned into at most {rest.most} of {rest.width:,} switches by "
            f"{recipe}; many other answers give the same ones. Each of these switches {chances}."
        )
    if rest.width == 1:
        return (
            "Your device sends a single switch. It is on with probability "
            f"{percent(rest.one)} if your answer is yes, and with probability "
            f"{percent(rest.zero)} if it is no."
        )
    kind = "name" if per_member else "possible answer"
    return (
        f"Your device sends a row of {rest.width:,} switches, one for each {kind}. A switch that "
        f"is true of you {chances}."
    )
