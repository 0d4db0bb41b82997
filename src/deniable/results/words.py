"""A table of shares in plain English: the conclusions it allows, and those it does not."""

from __future__ import annotations

import math
from statistics import NormalDist

from deniable.results.labels import shortened
from deniable.results.table.columns import Row
from deniable.results.table.table import LEVEL, Table, Words
from deniable.results.table.text import percent, typical_error

Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
"""Standard errors on each side of an estimate: 1.96 for 95%."""

NAMED = 3
"""The number of values that a sentence names; the table has the rest."""

FINDING = ("prefixes", "ngrams")
"""Mechanisms whose strings nobody listed."""


def in_words(table: Table) -> Words:
    """Say what a table of shares means."""
    if table.about.n == 0:
        return Words(("There are no reports yet, so nothing is known.",), (), _promise(table))
    return Words(_learned(table), _not_learned(table), _promise(table))


def smallest_visible(table: Table) -> float | None:
    """Return the detection limit: the share whose interval half of the time lies above 0.

    It is the half width of a typical interval: 1.96 median standard errors.

    Edge cases: None if no standard error is known.
    """
    error = typical_error(table)
    return Z * error if math.isfinite(error) else None


def _learned(table: Table) -> tuple[str, ...]:
    visible = [row for row in table.rows if row.stands_out]
    sentences = [
        f"{table.about.reports}, each randomised before it left its device, give the shares "
        f"below. Each true share lies in its interval with {LEVEL:.0%} confidence."
    ]
    if visible:
        top = sorted(visible, key=lambda row: -row.frequency)[:NAMED]
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
    if any(row.storey is None for row in visible) or table.about.domain == "boolean":
        return []
    surest, false = sum(bool(row.holm) for row in visible), table.about.more["expected_false"]
    return [
        f"About {false:.1f} of these are expected to be false (Storey's procedure, "
        f"at most 5%). {surest:,} of them hold even where not one false one is wanted (Holm's)."
    ]


def _with_share(row: Row, error: float) -> str:
    half = (row.interval[1] - row.interval[0]) / 2
    share = f"{percent(row.frequency, error)} ± {percent(half, error)}"
    return f"“{shortened(row.value, 40)}” ({share})"


def _not_learned(table: Table) -> tuple[str, ...]:
    sentences = []
    smallest = smallest_visible(table)
    if smallest is not None:
        sentences.append(
            f"A share below about {percent(smallest, smallest / 10)} (about "
            f"{math.ceil(smallest * table.about.n):,} of the reports) cannot be told from zero. "
            "Four times as many people halve that."
        )
    hidden = sum(row.learned and not row.stands_out for row in table.rows)
    if hidden:
        rows = "1 row has" if hidden == 1 else f"{hidden:,} rows have"
        sentences.append(f"{rows} not enough evidence: these answers may be rare, or nobody's.")
    if table.about.mechanism in FINDING:
        sentences.append("Rare strings were not found: they stay unseen.")
    elif table.about.domain == "strings":
        sentences.append("Only the candidates were looked for: other strings stay unseen.")
    sentences.extend(_unlisted(table))
    if table.about.attackers is not None:
        sentences.append(
            f"If as many as {table.about.attackers:.3g} of the reports were crafted, only the "
            "attacked intervals hold."
        )
    sentences.append("Nothing can be said about any single person: that is the point.")
    return tuple(sentences)


def _unlisted(table: Table) -> list[str]:
    other = table.about.more["unlisted"]
    if other is None or not math.isfinite(other["frequency"]):
        return []
    error = other["std_error"]
    share = f"{percent(other['frequency'], error)} ± {percent(Z * error, error)}"
    sign = " The residuals say that there are such strings." if other["suspected"] else ""
    return [f"Strings that no candidate names are {share} of the reports.{sign}"]


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


def epsilon_text(value: float) -> str:
    """Return an epsilon with three digits, rounded up: a promise is not rounded down."""
    return f"{math.ceil(round(value * 1000, 6)) / 1000:g}"
