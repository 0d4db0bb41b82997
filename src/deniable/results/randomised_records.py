"""The randomisation of a profile's report, in words for the people who are asked."""

from __future__ import annotations

from fractions import Fraction

from deniable.protocol import (
    CoefficientsParameters,
    InpEMParameters,
    InpHTCMSParameters,
    InpOLHParameters,
    InpPSParameters,
    InpRRParameters,
    MargHTParameters,
    MargPSParameters,
    MargRRParameters,
    ProfileParameters,
    ViewsParameters,
)
from deniable.protocol.profile_sign import SignParameters
from deniable.protocol.thresholds import as_fraction


def how_record(parameters: ProfileParameters) -> str:
    """Return sentences that say how a profile becomes one report."""
    if isinstance(parameters, InpEMParameters):
        return (
            f"Your answers are written as {parameters.width} switches. Each of them is sent as it "
            f"is with probability {percent(parameters.support[0])}, and turned over otherwise."
        )
    if isinstance(parameters, SignParameters):
        return _property(parameters)
    if isinstance(parameters, InpPSParameters | InpRRParameters):
        return _whole(parameters)
    if isinstance(parameters, InpOLHParameters):
        return (
            f"By a recipe picked at random all possible combinations of answers are put into "
            f"{parameters.symbols:,} groups. Your device sends the group of yours with probability "
            f"{percent(as_fraction(parameters.keep))}, and another group otherwise."
        )
    if isinstance(parameters, MargPSParameters | MargRRParameters | ViewsParameters):
        return _table(parameters)
    return f"Your device randomises the answers by the mechanism '{parameters.mechanism}'."


def clear_part(parameters: ProfileParameters) -> str:
    """Return a sentence about the part of a report that is drawn by lot; empty without one."""
    drawn = {
        "marg_rr": "which answers it is about",
        "marg_ps": "which answers it is about",
        "views": "which answers it is about",
        "marg_ht": "which answers, and which property of them, it is about",
        "inp_ht": "which property it is about",
        "coefficients": "which property it is about",
        "inp_ht_cms": "which property it is about",
        "inp_olh": "which recipe was picked",
    }.get(parameters.mechanism)
    if drawn is None:
        return ""
    return f"The report also shows {drawn}. That was drawn by lot and says nothing about you."


def percent(probability: Fraction) -> str:
    """Return a probability in per cent, to a tenth."""
    return f"{float(100 * probability):.1f}%"


def _property(parameters: SignParameters) -> str:
    most = parameters.order
    about = f"of 1 to {most} of your answers" if most > 1 else "of one of your answers"
    if isinstance(parameters, InpHTCMSParameters):
        about = "that half of all combinations of answers have"
    elif isinstance(parameters, MargHTParameters):
        about = f"of {most} of your answers, which are picked at random too"
    words = f"Your device picks a yes-or-no property at random {about}. "
    keep = percent(as_fraction(parameters.keep))
    if isinstance(parameters, CoefficientsParameters) and parameters.basis == "contrasts":
        return (
            words + "It sends whether you have it; properties that you have only partly are sent "
            f"as a yes more or less often, and never is the truth likelier than {keep}."
        )
    return (
        words + f"It sends whether your answers have it: truthfully with probability {keep}, and "
        "the opposite otherwise."
    )


def _whole(parameters: InpPSParameters | InpRRParameters) -> str:
    cells = f"{parameters.cells:,}"
    if isinstance(parameters, InpPSParameters):
        return (
            f"With probability {percent(parameters.support[0])} your device sends your combination "
            f"of answers, and otherwise another one of {cells}, picked at random."
        )
    what = f"a row of {cells} switches, one for each combination of answers"
    return _row(parameters, f"Your device sends {what}")


def _table(parameters: MargPSParameters | MargRRParameters | ViewsParameters) -> str:
    sizes = {parameters.order}
    if isinstance(parameters, ViewsParameters):
        sizes = {len(view) for view in parameters.views}
    few, many = min(sizes), max(sizes)
    which = f"{few}" if few == many else f"{few} to {many}"
    words = f"Your device picks {which} of the {len(parameters.levels)} answers at random. It"
    if len(parameters.levels) == few:
        words = "Your device"
    if isinstance(parameters, MargRRParameters):
        return _row(
            parameters, f"{words} sends a row of switches, one for each combination of them"
        )
    chances = [as_fraction(parameters.keep(cells)) for cells in parameters.sizes]
    low, high = percent(min(chances)), percent(max(chances))
    chance = low if low == high else f"{low} to {high}, by the number of combinations"
    return (
        f"{words} sends their combination truthfully with probability {chance}, and "
        "otherwise another combination of them, picked at random."
    )


def _row(parameters: InpRRParameters | MargRRParameters, words: str) -> str:
    one, zero = parameters.support
    return (
        f"{words}. The switch that is true of you is sent as on with probability "
        f"{percent(one)}, and every other one with probability {percent(zero)}."
    )
