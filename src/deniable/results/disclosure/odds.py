"""An observer's belief before and after reports, as a part of a sentence."""

from __future__ import annotations

from fractions import Fraction

from deniable.protocol.odds import EXAMPLES, believed, in_parts, parts_of
from deniable.results.disclosure.language import Language, english

__all__ = ["EXAMPLES", "believed", "in_parts", "sentence"]


def sentence(micros: int, before: Fraction, say: Language | None = None) -> str:
    """Return an observer's belief before and after the reports, as a part of a sentence."""
    say = say or english()
    after = believed(micros, before)
    verb = "odds.becomes" if parts_of(after) is None else "odds.believes"
    return say(verb, before=_parts(before, say), after=_parts(after, say))


def _parts(probability: Fraction, say: Language) -> str:
    parts = parts_of(probability)
    if parts is None:
        return say("odds.certain")
    return say("odds.parts", share=f"{parts[0]:,}", parts=f"{parts[1]:,}")
