"""An observer's belief before and after reports, as a part of a sentence."""

from __future__ import annotations

from fractions import Fraction

from deniable.protocol.odds import EXAMPLES, believed, in_parts

__all__ = ["EXAMPLES", "believed", "in_parts", "sentence"]


def sentence(micros: int, before: Fraction) -> str:
    """Return an observer's belief before and after the reports, as a part of a sentence."""
    after = in_parts(believed(micros, before))
    if " in " not in after:
        return f"somebody who thought {in_parts(before)} could become {after}"
    return f"somebody who thought {in_parts(before)} could at most come to believe {after}"
