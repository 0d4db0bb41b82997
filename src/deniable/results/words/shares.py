"""A table of shares in plain English: the conclusions it allows, and those it does not."""

from __future__ import annotations

import math
from statistics import NormalDist

from deniable._words import epsilon_text, plural
from deniable.results.labels import shortened
from deniable.results.table.columns import Row
from deniable.results.table.table import LEVEL, Table, Words
from deniable.results.table.text import limit_sentence, percent, typical_error

Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
"""Standard errors on each side of an estimate: 1.96 for 95%."""

_NAMED = 3
"""The number of values that a sentence names; the table has the rest."""

_FINDING = ("prefixes", "ngrams")
"""Mechanisms whose strings nobody listed."""


def in_words(table: Table) -> Words:
    """Say what a table of shares means."""
    if table.about.n == 0:
        return Words(("There are no reports yet, so nothing is known.",), (), _promise(table))
    return Words(_learned(table), _not_learned(table), _promise(table))


NOTHING_LEARNED = (
    "Nothing was learned: at this epsilon and number of reports every share may be anything from "
    "0% to 100%."
)


HALVED = " Four times as many people halve that."


def nothing_learned(table: Table) -> bool:
    """Tell whether all intervals of a table together say nothing: each goes from 0 to 1.

    A discovery that shows no string says something: that none is as frequent as its limit.
    """
    _, _, interval, _ = table.columns.main
    if interval is None or not table.about.n or not table.rows:
        return False
    ends = [row[interval] for row in table.rows if row.learned and row[interval] is not None]
    return not any(low > 0 or high < 1 for low, high in ends)


def of_sentence(of: str) -> str:
    """Say what intervals are of."""
    if of == "reporters":
        return "Intervals are of those who reported, not of the population that they come from."
    return (
        "Intervals are of the population: people like those who take part, not those who did not "
        "agree to report."
    )


def bounded(share: float) -> float:
    """Return a share within 0..1, as sentences say it."""
    return min(1.0, max(0.0, share))


def _learned(table: Table) -> tuple[str, ...]:
    if nothing_learned(table):
        return (NOTHING_LEARNED,)
    if not table.rows:
        return ("No string stands out from zero: each may be rarer than the detection limit.",)
    visible = [row for row in table.rows if row.stands_out]
    level = f"{100 * table.about.level:.6g}%"
    sentences = [
        f"{table.about.reports}, each randomised before it left its device, give the shares "
        f"below. Each true share lies in its interval with {level} confidence. "
        f"{of_sentence(table.about.of)}"
    ]
    if visible:
        top = sorted(visible, key=lambda row: -row.frequency)[:_NAMED]
        named = ", ".join(_with_share(row, typical_error(table)) for row in top)
        more = f", and {len(visible) - len(top):,} more" if len(visible) > len(top) else ""
        count = f"{len(visible):,} of {len(table.rows):,} answers"
        stand = "stands" if len(visible) == 1 else "stand"
        sentences.append(f"{count} {stand} out from zero: {named}{more}.")
        sentences.extend(_sureness(table, visible))
    else:
        sentences.append("No answer stands out from zero: there are too few reports yet.")
    return tuple(sentences)


def _sureness(table: Table, visible: list[Row]) -> list[str]:
    """Return a sentence about false discoveries among the detected answers."""
    if any(row.get("storey") is None for row in visible) or table.about.domain == "boolean":
        return []
    surest, false = sum(bool(row.holm) for row in visible), table.about.more["expected_false"]
    return [
        f"About {false:.1f} of these are expected to be false (Storey's procedure, "
        f"at most {100 * (1 - table.about.level):.3g}%). {surest:,} of them hold even where not "
        "one false one is wanted (Holm's)."
    ]


def _with_share(row: Row, error: float) -> str:
    low, high = (percent(bounded(end), error) for end in row.interval)
    share = percent(bounded(row.frequency), error)
    return f"“{shortened(row.value, 40)}” ({share}, {low} to {high})"


def _not_learned(table: Table) -> tuple[str, ...]:
    sentences = []
    limit = table.about.more.get("limit", math.nan)
    if math.isfinite(limit):
        sentences.append(limit_sentence(limit) + (HALVED if limit < 1 else ""))
    hidden = sum(row.learned and not row.stands_out for row in table.rows)
    if hidden:
        rows = plural(hidden, "row has", "rows have")
        sentences.append(f"{rows} not enough evidence: these answers may be rare, or nobody's.")
    if table.about.mechanism in _FINDING:
        sentences.append("Rare strings were not found: they stay unseen.")
    elif table.about.domain == "strings":
        sentences.append("Only the candidates were looked for: other strings stay unseen.")
    sentences.extend(_unlisted(table))
    if table.about.crafted is not None:
        sentences.append(
            f"If as many as {table.about.crafted:.3g} of the reports were crafted, only the "
            "second intervals hold."
        )
    sentences.append("Nothing can be said about any single person: that is the point.")
    return tuple(sentences)


def _unlisted(table: Table) -> list[str]:
    other = table.about.more["unlisted"]
    if other is None or not math.isfinite(other["frequency"]):
        return []
    error = other["std_error"]
    low, high = (percent(bounded(end), error) for end in other["interval"])
    share = f"{percent(bounded(other['frequency']), error)} ({low} to {high})"
    sign = " The residuals say that there are such strings." if other["suspected"] else ""
    return [f"Strings that no candidate names are {share} of the people.{sign}"]


def _promise(table: Table) -> tuple[str, ...]:
    once = (
        f"One report has epsilon {epsilon_text(table.about.epsilon_once)}: whoever reads it can "
        "multiply the odds of any guess about one person's answer by at most "
        f"{odds(table.about.epsilon_once)}."
    )
    if table.about.epsilon_forever is None:
        return (once, "Every further report of a device adds as much again.")
    if table.about.epsilon_forever == table.about.epsilon_once and not table.about.memoised:
        return (once, "A device answers once, ever.")
    forever = table.about.epsilon_forever
    return (
        once,
        f"All reports of one value together, for ever, have epsilon {epsilon_text(forever)} (odds "
        f"times {odds(forever)}).",
    )


def odds(epsilon: float) -> str:
    """Return e^epsilon as people say it, rounded up."""
    ratio = math.exp(epsilon)
    return f"{math.ceil(ratio * 100) / 100:,.2f}" if ratio < 100 else f"{math.ceil(ratio):,}"
