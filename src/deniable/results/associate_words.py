"""An association in plain words: what goes together, how sure it is, and what cannot be seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from deniable.associate import OTHER_LABEL, Derived, Pair
from deniable.results.associate_attackers import AttackedTest
from deniable.results.associate_result import ALPHA, Association, cells_of
from deniable.results.labels import shortened
from deniable.results.words import percent

NAMED = 3
"""So many combinations are named in a sentence."""
METHODS = {
    "moments": "moment test",
    "score": "score test",
    "wald": "maximum-likelihood Wald test",
    "bootstrap": "parametric bootstrap",
}


@dataclass(frozen=True)
class AssociationWords:
    """An association in words.

    Attributes:
        learned: what the reports say.
        not_learned: what they cannot say.
    """

    learned: tuple[str, ...]
    not_learned: tuple[str, ...]


def association_in_words(association: Association) -> AssociationWords:
    """Say what an association means."""
    learned = [pair_sentence(pair) for pair in association.pairs]
    if association.attacked is not None:
        tests = zip(association.pairs, association.attacked.tests, strict=True)
        share = association.attacked.attackers
        learned.extend(attacked_sentence(pair, test, share) for pair, test in tests)
    found = any(pair.holm < ALPHA for pair in association.pairs)
    if association.odds is not None and found:  # else what stands out does so by chance
        learned.extend(_together(association.odds))
    return AssociationWords(tuple(learned), _not_learned(association))


def pair_sentence(pair: Pair) -> str:
    """Say what a test of independence found."""
    one, two = pair.names
    test = pair.test
    if not math.isfinite(test.p_value):
        return f"Whether {one} and {two} go together cannot be told from these reports."
    found = f"({METHODS.get(test.method, test.method)}: {test.statistic:.4g} on {test.dof} degrees "
    found += f"of freedom, {p_words(test.p_value)}"
    corrected = pair.holm
    if corrected != test.p_value:
        found += f", {p_words(corrected)} corrected for the number of pairs"
    if corrected < ALPHA:
        return f"{one} and {two} depend on each other {found})."
    return f"There is no evidence that {one} and {two} depend on each other {found})."


def attacked_sentence(pair: Pair, test: AttackedTest, attackers: float) -> str:
    """Say whether what a test found still holds if a share of the reports is crafted."""
    names, (least, most) = " and ".join(pair.names), test.holm
    crafted = f"With {attackers:.3g} of the reports crafted"
    if most < ALPHA:
        return f"{crafted}, {names} still depend on each other: yes (p at most {most:.2g})."
    if pair.holm < ALPHA:
        return f"{crafted}, {names} still depend on each other: not for sure (p up to {most:.2g})."
    if least < ALPHA:
        return f"{crafted}, {names} may depend on each other unseen (p down to {least:.2g})."
    return f"{crafted}, there is no evidence for {names} either (p at least {least:.2g})."


def p_words(p_value: float) -> str:
    """Return a p-value with its sign."""
    return "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.4f}"


def _together(odds: Derived) -> list[str]:
    """Name the combinations whose interval of the odds ratio leaves out 1."""
    cells = [c for c in cells_of(odds) if OTHER_LABEL not in c.values and c.learned]
    often = [c for c in cells if c.interval[0] > 1]
    seldom = [c for c in cells if c.interval[1] < 1]
    sentences = []
    for found, words, sign in ((often, "more", -1), (seldom, "less", 1)):
        if not found:
            continue
        top = sorted(found, key=lambda c: sign * c.probability)[:NAMED]
        named = "; ".join(
            " with ".join(f"“{shortened(value, 30)}”" for value in c.values)
            + f" (odds ratio {c.probability:.2g}, {c.interval[0]:.2g} to {c.interval[1]:.2g})"
            for c in top
        )
        more = f"; and {len(found) - len(top)} more" if len(found) > len(top) else ""
        sentences.append(f"Together {words} often than by chance: {named}{more}.")
    return sentences


def _not_learned(association: Association) -> tuple[str, ...]:
    errors = [cell.std_error for cell in association.cells if cell.learned]
    sentences = []
    if errors:
        smallest = 1.96 * median(errors)
        sentences.append(
            f"A combination below about {percent(smallest, smallest / 10)} of the people cannot "
            "be told from none. Four times as many people halve that."
        )
    if association.attackers is not None:
        sentences.append(
            f"If as many as {association.attackers:.3g} of the reports were crafted, only the "
            "attacked intervals hold, and of the test what is said for so many."
        )
    if not association.joint.informative:
        sentences.append(
            "These reports hold no information about which answers go together, at this epsilon "
            "and number of reports: the table says no more than the fields do one by one."
        )
    if any(OTHER_LABEL in labels for labels in association.joint.labels):
        sentences.append(
            f"{OTHER_LABEL} is everything that is not named, taken together: what goes on inside "
            "it stays unseen."
        )
    sentences.append("Going together is not causing: a third thing may stand behind both.")
    return tuple(sentences)
