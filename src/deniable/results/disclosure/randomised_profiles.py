"""The randomisation of a profile's report, in words for the people who are asked."""

from __future__ import annotations

from fractions import Fraction

from deniable.protocol import ProfileParameters, ViewsParameters
from deniable.protocol.channel import Bits, Sign, Symbol, unknown_kind


def how_profile(parameters: ProfileParameters) -> str:
    """Return sentences that say how a profile becomes one report."""
    channel = parameters.channel
    rest, names = channel.typical, channel.names
    match rest:
        case Sign():
            return _property(parameters, rest)
        case Bits() if not rest.drawn:
            return (
                f"Your answers are written as {rest.width} switches. Each of them is sent as it "
                f"is with probability {percent(rest.one)}, and turned over otherwise."
            )
        case Bits() if not names:
            what = f"a row of {rest.width:,} switches, one for each combination of answers"
            return _row(rest, f"Your device sends {what}")
        case Bits():
            words = f"{_picked(parameters)} sends a row of switches, one for each combination"
            return _row(rest, f"{words} of them")
        case Symbol() if not names:
            return (
                f"With probability {percent(rest.keep)} your device sends your combination "
                f"of answers, and otherwise another one of {rest.size:,}, picked at random."
            )
        case Symbol() if names == ("seed",):
            return (
                f"By a recipe picked at random all possible combinations of answers are put into "
                f"{rest.size:,} groups. Your device sends the group of yours with probability "
                f"{percent(rest.keep)}, and another group otherwise."
            )
        case Symbol():
            return _table(parameters)
    raise unknown_kind("sentence about a profile", rest)


def percent(probability: Fraction) -> str:
    """Return a probability in per cent, to a tenth."""
    return f"{float(100 * probability):.1f}%"


def _property(parameters: ProfileParameters, rest: Sign) -> str:
    names, most = parameters.channel.names, parameters.order
    about = "of one of your answers" if most == 1 else f"of 1 to {most} of your answers"
    if "row" in names:
        about = "that half of all combinations of answers have"
    elif "marginal" in names:
        about = f"of {most} of your answers, which are picked at random too"
    words = f"Your device picks a yes-or-no property at random {about}. "
    if parameters.published().get("basis") == "contrasts":
        return (
            words + "It sends whether you have it; properties that you have only partly are sent "
            "as a yes more or less often, and never is the truth likelier than "
            f"{percent(rest.keep)}."
        )
    return (
        words + "It sends whether your answers have it: truthfully with probability "
        f"{percent(rest.keep)}, and the opposite otherwise."
    )


def _picked(parameters: ProfileParameters) -> str:
    """Return the beginning of a sentence about some of the answers."""
    sizes, among = {parameters.order}, len(parameters.answers)
    # Views alone may be of different numbers of attributes.
    if isinstance(parameters, ViewsParameters):
        sizes = {len(view) for view in parameters.views}
    few, many = min(sizes), max(sizes)
    if among == few:
        return "Your device"
    which = f"{few}" if few == many else f"{few} to {many}"
    return f"Your device picks {which} of the {among} answers at random. It"


def _table(parameters: ProfileParameters) -> str:
    chances = [rest.keep for rest in parameters.channel.rests if isinstance(rest, Symbol)]
    low, high = percent(min(chances)), percent(max(chances))
    chance = low if low == high else f"{low} to {high}, by the number of combinations"
    return (
        f"{_picked(parameters)} sends their combination truthfully with probability {chance}, and "
        "otherwise another combination of them, picked at random."
    )


def _row(rest: Bits, words: str) -> str:
    return (
        f"{words}. The switch that is true of you is sent as on with probability "
        f"{percent(rest.one)}, and every other one with probability {percent(rest.zero)}."
    )
