"""The plain sentence that stands first: what the crowd says, in one number and its interval."""

from __future__ import annotations

from deniable.results.glance import Glance
from deniable.results.labels import shortened

_WHO = "of people like those who take part"


def glance_sentence(glance: Glance) -> str:
    """Return an answer at a glance as a sentence.

    >>> glance_sentence(Glance("yes", "true", 0.333, 0.3261, 0.3399))
    '33% say yes, between 32.6% and 34.0% of people like those who take part.'
    """
    value, low, high = glance.shown
    name = f"“{shortened(glance.label, 60)}”"
    between = f"between {low} and {high}"
    if glance.kind == "yes":
        return f"{value} say yes, {between} {_WHO}."
    if glance.kind == "leading":
        return f"{value} answer {name}, the most frequent answer: {between} {_WHO}."
    if glance.kind == "member":
        return f"{value} have {name}, more than any other: {between} {_WHO}."
    if glance.kind == "found":
        return f"{value} say {name}, the most frequent string found: {between} {_WHO}."
    if glance.kind == "median":
        return f"The median is {value}, {between}: half {_WHO} lie below it."
    return glance.problem


def glance_label(glance: Glance) -> str:
    """Return the name of the large number, in a word or two."""
    names = {"yes": "yes", "median": "median"}
    return names.get(glance.kind) or shortened(glance.label, 40)
