"""The randomisation of an answer, in words for the people who are asked."""

from __future__ import annotations

from fractions import Fraction

from deniable.protocol import (
    Field,
    HadamardParameters,
    HCMSParameters,
    KRRParameters,
    NGramsParameters,
    OLHParameters,
    ORRParameters,
    PGRParameters,
    PrefixesParameters,
    ProfileParameters,
    RapporParameters,
    Sets,
    SubsetParameters,
)
from deniable.protocol.thresholds import as_fraction
from deniable.protocol.unary import UnaryParameters
from deniable.results.randomised_records import clear_part, how_record, percent


def how(field: Field) -> list[str]:
    """Return sentences that say how a field's answer is randomised, one thought each."""
    sentences = []
    parameters = field.parameters
    if isinstance(parameters, ProfileParameters):
        clear = clear_part(parameters)
        return [how_record(parameters), *([clear] if clear else [])]
    per_bit = isinstance(parameters, UnaryParameters) and parameters.members > 0
    if isinstance(field.domain, Sets) and not per_bit:
        sentences.append(
            f"Of the up to {field.domain.most:,} names that apply to you, one is picked at random."
        )
    sentences.append(_step(field))
    if parameters.memoised:
        sentences.append(
            "The first part of this chance is decided once for each of your answers and then kept, "
            "so that asking you again and again does not wear the protection down."
        )
    return sentences


def _step(field: Field) -> str:
    parameters = field.parameters
    if isinstance(parameters, KRRParameters):
        if parameters.categories == 2:
            return (
                f"With probability {percent(parameters.keep)} your device sends the true answer, "
                "and otherwise the opposite."
            )
        return (
            f"With probability {percent(parameters.keep)} your device sends the true answer, and "
            f"otherwise another one of the {parameters.categories:,} possible answers, picked at "
            "random."
        )
    if isinstance(parameters, UnaryParameters):
        return _switches(parameters)
    if isinstance(parameters, SubsetParameters):
        return (
            f"Your device sends a list of {parameters.size:,} of the {parameters.categories:,} "
            "possible answers. The true one is on the list with probability "
            f"{percent(as_fraction(parameters.include))}; the others are picked at random."
        )
    if isinstance(parameters, HadamardParameters | HCMSParameters):
        return (
            "Your device picks a yes-or-no property at random that half of all answers have. It "
            "sends whether your answer has it: truthfully with probability "
            f"{percent(as_fraction(parameters.keep))}, and the opposite otherwise."
        )
    if isinstance(parameters, OLHParameters | ORRParameters):
        return (
            f"By a recipe picked at random all answers are put into {parameters.symbols:,} groups. "
            f"Your device sends the group of your answer with probability "
            f"{percent(as_fraction(parameters.keep))}, and another group otherwise."
        )
    if isinstance(parameters, PrefixesParameters):
        shares = Fraction(parameters.weights[-1], parameters.total_weight)
        return (
            "Your device belongs to one of "
            f"{parameters.groups:,} groups, drawn by lot once. The group says which beginning of "
            f"your text is reported; in one of them ({percent(shares)} of all devices) the whole "
            f"text is. The beginning becomes one of {parameters.oracle.points:,} numbers by a "
            f"recipe that many beginnings share, and the number sent is one of "
            f"{parameters.oracle.inner:,} that belong to it with probability "
            f"{percent(as_fraction(parameters.inside))}."
        )
    if isinstance(parameters, NGramsParameters):
        whole, gram = parameters.whole, parameters.gram
        return (
            f"Your text and {parameters.grams} short pieces of it, at places drawn by lot once, "
            f"become at most {parameters.hashes} of {parameters.bits:,} switches each, which many "
            "texts and pieces share. A switch of the text that is on is sent as on with "
            f"probability {percent(whole.q_star)}, any other with probability "
            f"{percent(whole.p_star)}; those of the pieces with {percent(gram.q_star)} and "
            f"{percent(gram.p_star)}."
        )
    if isinstance(parameters, PGRParameters):
        return (
            f"Your device sends one of {parameters.points:,} numbers. {parameters.inner:,} of them "
            "belong to your answer, and many other answers share them; the number sent is one of "
            f"these with probability {percent(as_fraction(parameters.inside))}."
        )
    return f"Your device randomises the answer by the mechanism '{parameters.mechanism}'."


def _switches(parameters: UnaryParameters) -> str:
    bits, q, p = parameters.bits, parameters.q_star, parameters.p_star
    chances = (
        f"is sent as on with probability {percent(q)}, and every other switch with probability "
        f"{percent(p)}"
    )
    if isinstance(parameters, RapporParameters) and parameters.form != "basic":
        recipe = f"one of {parameters.cohorts:,} fixed recipes, which your device keeps"
        return (
            f"Your answer is turned into at most {parameters.hashes} of {bits:,} switches by "
            f"{recipe}; many other answers give the same ones. Each of these switches {chances}."
        )
    if bits == 1:
        return (
            "Your device sends a single switch. It is on with probability "
            f"{percent(q)} if your answer is yes, and with probability {percent(p)} if it is no."
        )
    kind = "name" if parameters.members else "possible answer"
    return (
        f"Your device sends a row of {bits:,} switches, one for each {kind}. A switch that is "
        f"true of you {chances}."
    )
