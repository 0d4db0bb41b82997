"""The findings about sampled reports: one per look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deniable.audit.channel_checks import channel_checks, permanence_checks
from deniable.audit.findings import Finding
from deniable.audit.hypotheses import Check
from deniable.audit.reading import Report, reports_of
from deniable.audit.sample import size
from deniable.audit.sample.answer_pairs import Asked
from deniable.audit.sample.epsilon_bound import lower_bound
from deniable.audit.sample.probability_scores import Error, Tally
from deniable.client.encode import encode_answers
from deniable.client.randomness import SystemDraws
from deniable.mechanisms.base import Floats
from deniable.protocol import Field, Question
from deniable.protocol.epsilon import as_float
from deniable.protocol.prf import SECRET_BYTES

FEWEST_DEVICES, MOST_DEVICES = 100, 2_500
REPEATS = 16
"""The number of reports of each device in the check that its response is permanent."""
LEVEL = 0.05
"""1 less the confidence of the lower bound that is shown; the verdict has level alpha."""


def bound(about: str, field: Field, one: Floats, other: Floats, alpha: float) -> Finding:
    """Bound epsilon from below, from the scores of both answers' reports."""
    promised = as_float(field.parameters.epsilon_once)
    judged, shown = (lower_bound(one, other, level) for level in (alpha, LEVEL))
    holds = judged <= promised
    words = (
        f"the reports show an epsilon of at least {shown:.4f} (95% confidence); "
        f"{'promised is' if holds else 'PROMISED WAS'} {promised:.4f}"
    )
    numbers = {"epsilon": promised, "epsilon_lower": shown, "epsilon_lower_judged": judged}
    return Finding(about, "lower bound on epsilon", holds, words, numbers)


def fit(
    about: str,
    field: Field,
    pair: tuple[Asked, Asked],
    reports: Sequence[Sequence[Report]],
    alpha: float,
) -> Finding:
    """Compare whole reports with their exact chances, cell by cell."""
    sides = [
        (asked.reported, side)
        for asked, side in zip(pair, reports, strict=True)
        if asked.reported is not None
    ]
    return judged(about, "the exact channel", channel_checks(field.parameters, sides), alpha)


def probabilities(about: str, tally: Tally, alpha: float) -> Finding:
    """Test each probability by itself, on all reports, and name the errors that would be found."""
    check, errors = "every probability", tally.errors()
    if not errors:
        return Finding(about, check, True, "nothing to compare: no answer has one fixed law", {})
    each = alpha / len(errors)
    wrong = [error for error in errors.values() if error.check().p_value < each]
    seen = {name: error.seen(each) for name, error in errors.items()}
    shown = "; ".join(_off(error) for error in wrong or errors.values())
    words = f"REJECTED: {shown}" if wrong else f"{shown}. {_found(seen)}"
    numbers = {
        name: {"off": error.off, "std_error": error.std_error, "found_from": seen[name]}
        for name, error in errors.items()
    }
    return Finding(about, check, not wrong, words, {"probabilities": numbers})


def _off(error: Error) -> str:
    return f"{error.name} is off by {error.off:+.2%} ± {error.std_error:.2%}"


def _found(seen: Mapping[str, float]) -> str:
    """Return a sentence on the errors that would be found; above 5% where reports are too few."""
    error = size.ERROR
    large = [f"{name} from {share:.1%}" for name, share in seen.items() if share > error]
    if len(large) == len(seen):
        return f"An error would be found of {', '.join(large)} on"
    found = f"An error of {error:.0%} would be found"
    return f"{found}; but of {', '.join(large)} on" if large else found


def repeated(question: Question, trials: int) -> int:
    """Return the number of devices that report several times; 0 where nothing is permanent."""
    if not any(f.parameters.memoised for f in question.fields) and question.repeat != "permanent":
        return 0
    return min(MOST_DEVICES, max(FEWEST_DEVICES, trials // 20))


def permanence(
    question: Question,
    pairs: Sequence[tuple[Asked, Asked]],
    trials: int,
    draws: SystemDraws,
    alpha: float,
) -> list[Finding]:
    """Let devices report several times, and check that their permanent response stays the same."""
    count = repeated(question, trials)
    if not count:
        return []
    asked = [pair[0] if pair[0].reported is not None else pair[1] for pair in pairs]
    answers = [one.answer for one in asked]
    devices = []
    for _ in range(count):
        secret = draws.token(SECRET_BYTES)
        reports = (encode_answers(question, answers, secret, draws) for _ in range(REPEATS))
        devices.append([question.split_record(report) for report in reports])
    if question.repeat == "permanent":
        same = sum(all(report == one[0] for report in one) for one in devices)
        words = f"{same:,} of {len(devices):,} devices sent one report {REPEATS} times"
        return [Finding(question.title, "permanent reports", same == len(devices), words)]
    findings = []
    for place, (field, one) in enumerate(zip(question.fields, asked, strict=True)):
        if one.reported is None or not field.parameters.memoised:
            continue
        read = [reports_of(field.parameters, [r[place] for r in reports]) for reports in devices]
        checks = list(permanence_checks(field.parameters, one.reported, read))
        about = question.title if question.plain else f"{question.title}.{field.name}"
        findings.append(judged(about, "permanent response", checks, alpha))
    return findings


def judged(about: str, check: str, checks: Sequence[Check], alpha: float) -> Finding:
    """Return one finding for several checks: it holds unless one of them is too unlikely.

    The smallest p-value times the number of checks is compared with alpha (Bonferroni), so that
    the family-wise error is at most alpha.
    """
    if not checks:
        return Finding(about, check, True, "nothing to compare: no answer has one fixed law", {})
    worst = min(checks, key=lambda one: one.p_value)
    p_value = min(1.0, worst.p_value * len(checks))
    holds = p_value >= alpha
    words = f"{len(checks)} comparisons, smallest corrected p-value {p_value:.3g}"
    if not holds:
        words = f"{worst.hypothesis}: REJECTED, corrected p-value {p_value:.3g}"
    return Finding(about, check, holds, words, {"p_value": p_value, "comparisons": len(checks)})
