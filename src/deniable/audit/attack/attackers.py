"""The three attackers of [EPK14, section 6], for a survey's own parameters.

The three see one report, a window of n reports, and everything that a device ever sends. For each
there is the epsilon that bounds all attackers, beside the success of particular attacks: averaging,
the posterior of a holder, false discoveries, linking, and detecting a change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deniable._words import epsilon_text
from deniable.audit.attack.averaging import bound, epsilon_of_window, right_guesses
from deniable.audit.attack.crafted import crafted_finding
from deniable.audit.attack.linking import linkable
from deniable.audit.findings import ALPHA, Audit, Finding
from deniable.audit.hypotheses import Check, proportion
from deniable.privacy.posteriors import false_discovery_rate, marks_of, posterior
from deniable.protocol import Field, Profile, Question, Survey
from deniable.protocol.epsilon import as_float
from deniable.protocol.parameters import cohorts_of

WINDOWS = (1, 2, 4, 7, 14, 30, 90)
"""Numbers of reports of one value that an attacker sees."""
SIDES = (1, 2, 4, 7, 14)
"""Numbers of reports before and after, for linking and changes."""
DEVICES = 4_000
_SHARES = 51

Rows = list[dict[str, str | float | int | None]]


@dataclass(frozen=True)
class Attacked:
    """The attacks on one field: the tables behind its charts."""

    about: str
    mechanism: str
    windows: Rows
    posteriors: Rows
    links: Rows

    def as_json(self) -> dict[str, object]:
        """Return the tables as JSON."""
        return {
            "about": self.about,
            "mechanism": self.mechanism,
            "windows": self.windows,
            "posteriors": self.posteriors,
            "links": self.links,
        }


@dataclass(frozen=True)
class Attacks:
    """The findings about all fields, and their tables."""

    audit: Audit
    fields: tuple[Attacked, ...]

    def beside(self, findings: Sequence[Finding], notes: Sequence[str]) -> Attacks:
        """Return these attacks with more findings and notes after them."""
        audit = self.audit
        more = Audit(audit.name, (*audit.findings, *findings), (*audit.notes, *notes))
        return Attacks(more, self.fields)

    def as_json(self) -> dict[str, object]:
        """Return findings and tables as JSON."""
        return {**self.audit.as_json(), "fields": [one.as_json() for one in self.fields]}


def audit_attack(
    survey: Survey, *, devices: int = DEVICES, seed: int = 0, alpha: float = ALPHA
) -> Attacks:
    """Attack every field of a survey.

    Guarantees: a finding holds if attackers do no better than epsilon allows; correct parameters
    fail one with probability at most `alpha`.

    Cost: seconds per field, whatever its size.

    Args:
        survey: whose questions are attacked.
        devices: simulated per point of a curve.
        seed: of the simulation.
        alpha: the false-alarm probability of each finding.
    """
    rng = np.random.default_rng(seed)
    findings: list[Finding] = []
    fields: list[Attacked] = []
    for question in survey.questions:
        for field in question.fields:
            about = question.title if question.plain else f"{question.title}.{field.name}"
            attacked = Attacked(
                about,
                field.parameters.mechanism,
                _windows(question, field, devices, rng),
                _posteriors(field),
                _links(question, field, devices // 2, rng),
            )
            fields.append(attacked)
            findings += _findings(question, field, attacked, devices, alpha)
            findings.append(crafted_finding(about, question, field, rng))
    return Attacks(Audit("attack", tuple(findings), NOTES), tuple(fields))


def _windows(question: Question, field: Field, devices: int, rng: np.random.Generator) -> Rows:
    """Return, per number of reports, epsilon and the averaging attack's share of right guesses."""
    rows: Rows = []
    asked = right_guesses(field.parameters, 1, True, devices, rng)
    for n in WINDOWS:
        micros = epsilon_of_window(question, field.parameters, n)
        if n > 1 and question.repeat == "epoch":  # else nothing new is ever sent
            asked = right_guesses(field.parameters, n, True, devices, rng)
        fresh = right_guesses(field.parameters, n, False, devices, rng)
        rows.append(
            {
                "reports": n,
                "epsilon": as_float(micros),
                "bound": bound(micros),
                "right": asked,
                "right_without_permanence": fresh,
            }
        )
    return rows


def _posteriors(field: Field) -> Rows:
    """Return the curves of [EPK14] figures 7 and 8 for the field's own parameters."""
    shares = np.linspace(0, 1, _SHARES)
    marks = marks_of(field.parameters)
    curves = {ones: posterior(field.parameters, shares, ones) for ones in range(marks + 1)}
    wrong = false_discovery_rate(field.parameters, shares)
    return [
        {
            "frequency": float(share),
            "false_discovery_rate": float(wrong[i]),
            **{f"posterior_{ones}_of_{marks}": float(c[i]) for ones, c in curves.items()},
        }
        for i, share in enumerate(shares)
    ]


def _links(question: Question, field: Field, pairs: int, rng: np.random.Generator) -> Rows:
    rows: Rows = []
    for n in SIDES:
        linked = linkable(question, field.parameters, n, pairs, rng)
        rows.append({"reports": n, "area": linked.area, "alike": linked.alike})
    return rows


def _findings(
    question: Question, field: Field, attacked: Attacked, devices: int, alpha: float
) -> list[Finding]:
    about, rows = attacked.about, attacked.windows
    return [
        _three_attackers(question, field, about, rows),
        _averaging(about, rows, devices, alpha),
        _targeting(about, field, attacked.posteriors),
        _linking(question, field, about, attacked.links),
    ]


def _three_attackers(question: Question, field: Field, about: str, rows: Rows) -> Finding:
    once, forever = field.parameters.epsilon_once, field.parameters.epsilon_forever
    if question.repeat in ("once", "permanent"):
        forever = once
    last = "no bound" if forever is None else epsilon_text(as_float(forever))
    month = _at(rows, 30, "epsilon")
    words = (
        f"epsilon {epsilon_text(as_float(once))} of one report, {epsilon_text(month)} of "
        f"30, {last} of all for ever"
    )
    numbers = {
        "epsilon_once": as_float(once),
        "epsilon_30": month,
        "epsilon_forever": None if forever is None else as_float(forever),
    }
    return Finding(about, "three attackers", month <= 30 * as_float(once) + 1e-9, words, numbers)


def _averaging(about: str, rows: Rows, devices: int, alpha: float) -> Finding:
    checks = [
        _no_better(float(row["right"] or 0), float(row["bound"] or 0), devices) for row in rows
    ]
    p_value = min(1.0, min(check.p_value for check in checks) * len(checks))
    one, month = _at(rows, 1, "right"), _at(rows, 30, "right")
    words = (
        f"a guess between two values is right {one:.1%} of the time after one report, {month:.1%} "
        f"after 30 ({_at(rows, 30, 'right_without_permanence'):.1%} if nothing were permanent); "
        f"epsilon allows {_at(rows, 30, 'bound'):.1%}"
    )
    return Finding(about, "averaging", p_value >= alpha, words, {"p_value": p_value})


def _no_better(right: float, most: float, devices: int) -> Check:
    """Test that the share of right guesses is at most the bound."""
    # The band from 0 to the bound, as a centre and a tolerance.
    middle = most / 2
    return proportion(round(right * devices), devices, middle, middle)


def _targeting(about: str, field: Field, rows: Sequence[Mapping[str, object]]) -> Finding:
    wrong = float(str(rows[_SHARES // 10]["false_discovery_rate"]))
    what = "an answer that 10% hold"
    if isinstance(field.domain, Profile):
        what = "what one report says (a property, a cell or a bit) that is true of 10%"
    words = f"who targets the holders of {what} is wrong about {wrong:.1%} of them"
    return Finding(about, "targeting", True, words, {"false_discovery_rate_at_10": wrong})


def _linking(question: Question, field: Field, about: str, rows: Rows) -> Finding:
    one, week = _at(rows, 1, "area"), _at(rows, 7, "area")
    cohorts = cohorts_of(field.parameters)
    known = (
        "is asked once: there is nothing to link"
        if question.repeat == "once"
        else f"two reports of one device are told from two devices' with area {one:.3f}, a week "
        f"before and after a change of value with {week:.3f} (1/2 is blind); the cohort, one of "
        f"{cohorts:,}, is in clear"
    )
    numbers = {"area_1": one, "area_7": week, "alike_1": _at(rows, 1, "alike"), "cohorts": cohorts}
    return Finding(about, "linking and change", True, known, numbers)


def _at(rows: Rows, reports: int, name: str) -> float:
    """Return a number from the row of a window of `reports` reports."""
    (found,) = (row[name] for row in rows if row["reports"] == reports)
    return float(found or 0)


NOTES = (
    "The attackers are given what the collector is not: that reports belong to one device. The "
    "store keeps no such thing; the operating system's addresses could give it to whoever "
    "listens.",
    "Targeting and linking are measured, not judged: no epsilon promises that a device cannot be "
    "known again. What it promises is the first line and the bound of the second.",
    "A changed value has a permanent response of its own, so that a change costs another epsilon "
    "for ever and shows as a new response.",
)
