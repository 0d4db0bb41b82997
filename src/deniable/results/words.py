"""What the numbers mean, in plain English: what can be concluded, and what cannot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from deniable.results.intervals import LEVEL, Z
from deniable.results.labels import shortened
from deniable.results.result import Result, Row
from deniable.results.simulated import reports_text

NAMED = 3
"""So many values are named in a sentence; the table has the rest."""

FINDING = ("prefixes", "ngrams")
"""Mechanisms whose strings nobody listed."""


@dataclass(frozen=True)
class Words:
    """A result in words.

    Attributes:
        learned: what the reports say about the crowd.
        not_learned: what they do not say, and how large a share must be to be seen.
        promise: what each person was promised.
    """

    learned: tuple[str, ...]
    not_learned: tuple[str, ...]
    promise: tuple[str, ...]


def in_words(result: Result) -> Words:
    """Say what a result means."""
    if result.n == 0:
        return Words(("There are no reports yet, so nothing is known.",), (), _promise(result))
    return Words(_learned(result), _not_learned(result), _promise(result))


def smallest_visible(result: Result) -> float | None:
    """Return the smallest share whose interval would usually lie above 0; None if unknown.

    It is the half width of a typical interval: 1.96 median standard errors. A share of exactly
    this size stands out every second time.
    """
    error = typical_error(result)
    return Z * error if math.isfinite(error) else None


def typical_error(result: Result) -> float:
    """Return the median standard error of a result's rows; NaN if nothing was learned."""
    errors = [row.std_error for row in result.rows if row.learned]
    return median(errors) if errors else math.nan


def percent(share: float, error: float) -> str:
    """Return a share in per cent, with the digits that a standard error leaves meaningful.

    Give all numbers of a table the same error, so that they have the same digits.
    """
    if not math.isfinite(share):
        return "n/a"
    known = math.isfinite(error) and error > 0
    digits = min(4, max(0, 1 - math.floor(math.log10(100 * error)))) if known else 1
    text = f"{100 * share:.{digits}f}"
    return f"{text if float(text) != 0 else text.removeprefix('-')}%"


def _learned(result: Result) -> tuple[str, ...]:
    visible = [row for row in result.rows if row.stands_out]
    reports = reports_text(result.n, result.simulated)
    sentences = [
        f"{reports}, each randomised before it left its device, give the shares below. "
        f"Each true share lies in its interval with {LEVEL:.0%} confidence."
    ]
    if visible:
        top = sorted(visible, key=lambda row: -row.frequency)[:NAMED]
        named = ", ".join(_with_share(row, typical_error(result)) for row in top)
        more = f", and {len(visible) - len(top):,} more" if len(visible) > len(top) else ""
        count = f"{len(visible):,} of {len(result.rows):,} answers"
        stand = "stands" if len(visible) == 1 else "stand"
        sentences.append(f"{count} {stand} out from zero: {named}{more}.")
        sentences.extend(_sureness(result, visible))
    else:
        sentences.append("No answer stands out from zero: there are too few reports yet.")
    return tuple(sentences)


def _sureness(result: Result, visible: list[Row]) -> list[str]:
    """Say how many of the detected answers may be there by chance."""
    if any(row.storey is None for row in visible) or result.domain == "boolean":
        return []
    surest = sum(bool(row.holm) for row in visible)
    return [
        f"About {result.expected_false:.1f} of these are expected to be false (Storey's procedure, "
        f"at most 5%). {surest:,} of them hold even where not one false one is wanted (Holm's)."
    ]


def _with_share(row: Row, error: float) -> str:
    half = (row.interval[1] - row.interval[0]) / 2
    share = f"{percent(row.frequency, error)} ± {percent(half, error)}"
    return f"“{shortened(row.value, 40)}” ({share})"


def _not_learned(result: Result) -> tuple[str, ...]:
    sentences = []
    smallest = smallest_visible(result)
    if smallest is not None:
        sentences.append(
            f"A share below about {percent(smallest, smallest / 10)} (about "
            f"{math.ceil(smallest * result.n):,} of the reports) cannot be told from zero. Four "
            "times as many people halve that."
        )
    hidden = sum(row.learned and not row.stands_out for row in result.rows)
    if hidden:
        rows = "1 row has" if hidden == 1 else f"{hidden:,} rows have"
        sentences.append(f"{rows} not enough evidence: these answers may be rare, or nobody's.")
    if result.mechanism in FINDING:
        sentences.append("Rare strings were not found: they stay unseen.")
    elif result.domain == "strings":
        sentences.append("Only the candidates were looked for: other strings stay unseen.")
    sentences.extend(_unlisted(result))
    if result.attackers is not None:
        sentences.append(
            f"If as many as {result.attackers:.3g} of the reports were crafted, only the attacked "
            "intervals hold."
        )
    sentences.append("Nothing can be said about any single person: that is the point.")
    return tuple(sentences)


def _unlisted(result: Result) -> list[str]:
    other = result.unlisted
    if other is None or not math.isfinite(other.frequency):
        return []
    error = other.std_error
    share = f"{percent(other.frequency, error)} ± {percent(Z * error, error)}"
    sign = " The residuals say that there are such strings." if other.suspected else ""
    return [f"Strings that no candidate names are {share} of the reports.{sign}"]


def _promise(result: Result) -> tuple[str, ...]:
    once = (
        f"One report has epsilon {epsilon_text(result.epsilon_once)}: whoever reads it can "
        "multiply the odds of any guess about one person's answer by at most "
        f"{odds(result.epsilon_once)}."
    )
    if result.epsilon_forever is None:
        return (once, "Every further report of a device adds as much again.")
    if result.epsilon_forever == result.epsilon_once and not result.memoised:
        return (once, "A device answers once, ever.")
    return (
        once,
        f"All reports of one value together, for ever, have epsilon "
        f"{epsilon_text(result.epsilon_forever)} (odds times {odds(result.epsilon_forever)}).",
    )


def odds(epsilon: float) -> str:
    """Return e^epsilon as people say it, rounded up."""
    ratio = math.exp(epsilon)
    return f"{math.ceil(ratio * 100) / 100:,.2f}" if ratio < 100 else f"{math.ceil(ratio):,}"


def epsilon_text(value: float) -> str:
    """Return an epsilon with three digits, rounded up: a promise is not rounded down."""
    return f"{math.ceil(round(value * 1000, 6)) / 1000:g}"
