"""The shipped encoder as a black box: many reports of two answers, and what they tell apart.

    answers -> encode, each trial another device -> records -> a lower bound on epsilon
                                                            -> a test against the exact channel

Lower bound: an event is chosen on one half of the trials, by likelihood ratio. On the other half
it happens k1 times in n under one answer and k0 times under the other. With Clopper-Pearson bounds

    L = BetaInv(a/2; k1, n - k1 + 1),    U = BetaInv(1 - a/2; k0 + 1, n - k0)

epsilon is at least ln(L / U), with probability 1 - a (mathematics, section 7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from deniable.audit.answers import per_bit, some_strings, worst_records
from deniable.audit.cells import channel_checks, permanence_checks, pooled_check
from deniable.audit.findings import ALPHA, Audit, Finding
from deniable.audit.ngrams_cells import ngrams_checks, ngrams_ratios
from deniable.audit.reading import Record, bit_table, held_table, records_of, supports
from deniable.audit.record_cells import log_ratios, record_checks
from deniable.client.encode import encode_answers
from deniable.client.randomness import SystemDraws
from deniable.mechanisms.base import Floats
from deniable.protocol import (
    Answer,
    Field,
    NGramsParameters,
    Question,
    RecordParameters,
    Sets,
    Survey,
)
from deniable.protocol.domain import code_key, set_key, string_key
from deniable.protocol.epsilon import as_float
from deniable.protocol.prf import SECRET_BYTES
from deniable.protocol.unary import UnaryParameters
from deniable.testing.statistics import Check

TRIALS = 25_000
FEWEST_DEVICES = 100
REPEATS = 16
"""So many devices report so many times, to see that their response is permanent."""
LEVEL = 0.05
"""1 less the confidence of the lower bound that is shown; what is judged has level ALPHA."""


@dataclass(frozen=True)
class Asked:
    """An answer that a device is given, and the one that its channel is that of.

    `reported` is None for a set of which different members may be drawn.
    """

    answer: Answer
    reported: Answer | None


def worst_pair(field: Field) -> tuple[Asked, Asked]:
    """Return two answers that differ as much as two answers of the field can."""
    domain = field.domain
    if isinstance(field.parameters, RecordParameters):
        one, other = worst_records(field.parameters)
        return Asked(one, one), Asked(other, other)
    if domain.size is None:
        one, other = (Answer(string_key(text)) for text in some_strings(domain)[:2])
        return Asked(one, one), Asked(other, other)
    if isinstance(domain, Sets):
        none = len(domain.values)
        members = tuple(range(min(domain.most, none)))
        full = Answer(set_key(members), members=members)
        empty = Answer(set_key(()))
        if per_bit(field):
            return Asked(full, full), Asked(empty, empty)
        single = Answer(code_key(0), 0) if domain.most == 1 else None
        return Asked(full, single), Asked(empty, Answer(code_key(none), none))
    first, last = (Answer(code_key(code), code) for code in (0, domain.size - 1))
    return Asked(last, last), Asked(first, first)


def audit_sample(
    survey: Survey, *, trials: int = TRIALS, alpha: float = ALPHA, draws: SystemDraws | None = None
) -> Audit:
    """Run the client's encoder on two answers to every question, and judge what it sends.

    Guarantees: a correct encoder fails a finding with probability at most `alpha`.

    Accuracy: an error of 5% in the probability p of supporting one's own answer is 7 standard
    deviations, and so found nearly always, at 9,800 (1 - p)/p trials per answer: from p = 0.28 on
    at the default. Bits that the answer does not set are many, and seen sooner.

    Cost: two encodings per trial; where something is permanent, nearly one more.

    Args:
        survey: whose questions are asked.
        trials: reports per answer, each of another device.
        alpha: the false-alarm probability of each finding.
        draws: where fresh coins and secrets come from; the operating system unless said.
    """
    source = draws or SystemDraws()
    findings: list[Finding] = []
    for question in survey.questions:
        pairs = [worst_pair(field) for field in question.fields]
        sides = [
            _encode(question, [pair[side] for pair in pairs], trials, source) for side in (0, 1)
        ]
        for place, (field, pair) in enumerate(zip(question.fields, pairs, strict=True)):
            about = question.id if question.plain else f"{question.id}.{field.name}"
            records = [records_of(field.parameters, [r[place] for r in side]) for side in sides]
            findings.append(_bound(about, field, pair, records, alpha))
            findings.append(_fit(about, field, pair, records, alpha))
        findings += _permanence(question, pairs, trials, source, alpha)
    return Audit("sample", tuple(findings), (_note(trials, alpha),))


def _encode(
    question: Question, asked: Sequence[Asked], trials: int, draws: SystemDraws
) -> list[list[bytes]]:
    """Return the fields' records of so many devices, all with the same answers."""
    answers = [one.answer for one in asked]
    return [
        question.split_record(encode_answers(question, answers, draws.token(SECRET_BYTES), draws))
        for _ in range(trials)
    ]


def scores(field: Field, pair: tuple[Asked, Asked], records: Sequence[Record]) -> Floats:
    """Return the logarithm of each record's likelihood ratio, up to a positive factor.

    A set of which a member is drawn is scored by the first member: any event gives a valid bound.
    """
    parameters = field.parameters
    one, other = (asked.reported or Answer(code_key(0), 0) for asked in pair)
    if isinstance(parameters, RecordParameters):
        return log_ratios(parameters, one, other, records)
    if isinstance(parameters, NGramsParameters):
        return ngrams_ratios(parameters, one, other, records)
    if not isinstance(parameters, UnaryParameters):
        up = supports(parameters, one, records).astype(np.float64)
        return np.asarray(up - supports(parameters, other, records))
    shown = bit_table(parameters, records)
    mine, theirs = (held_table(parameters, a, records) for a in (one, other))
    q, p = float(parameters.q_star), float(parameters.p_star)
    weight = np.where(shown, math.log(q / p), math.log((1 - q) / (1 - p)))
    signs = mine.astype(np.float64) - theirs
    return np.asarray(np.round((weight * signs).sum(axis=1), 9))


def lower_bound(one: Floats, other: Floats, level: float) -> float:
    """Return the lower bound on epsilon from the scores of two answers; see above.

    The first halves choose the event, the second halves count it.
    """
    half = len(one) // 2
    events = _events(one[:half], other[:half])
    rates = [
        _clopper_pearson(*_counts(event, one[:half], other[:half]), half, level) for event in events
    ]
    best = events[int(np.argmax(rates))]
    rest = len(one) - half
    return _clopper_pearson(*_counts(best, one[half:], other[half:]), rest, level)


Event = tuple[float, int]
"""A threshold of the score, and whether the score is to be above (1) or below (-1) it."""


def _events(one: Floats, other: Floats) -> list[Event]:
    values = np.unique(np.concatenate([one, other]))
    if len(values) > 100:
        values = np.unique(np.quantile(values, np.linspace(0, 1, 100), method="nearest"))
    return [(float(value), way) for value in values for way in (1, -1)]


def _counts(event: Event, one: Floats, other: Floats) -> tuple[int, int]:
    """Return how often the event happens under the answer that it speaks for, and the other."""
    value, way = event
    if way == 1:
        return int((one >= value).sum()), int((other >= value).sum())
    return int((other <= value).sum()), int((one <= value).sum())


def _clopper_pearson(k1: int, k0: int, n: int, level: float) -> float:
    if k1 == 0 or k0 == n:
        return 0.0
    low = float(stats.beta.ppf(level / 2, k1, n - k1 + 1))
    high = float(stats.beta.ppf(1 - level / 2, k0 + 1, n - k0))
    return max(0.0, math.log(low / high))


def _bound(
    about: str,
    field: Field,
    pair: tuple[Asked, Asked],
    records: Sequence[Sequence[Record]],
    alpha: float,
) -> Finding:
    one, other = (scores(field, pair, side) for side in records)
    promised = as_float(field.parameters.epsilon_once)
    judged, shown = (lower_bound(one, other, level) for level in (alpha, LEVEL))
    holds = judged <= promised
    words = (
        f"the reports show an epsilon of at least {shown:.4f} (95% confidence); "
        f"{'promised is' if holds else 'PROMISED WAS'} {promised:.4f}"
    )
    numbers = {"epsilon": promised, "epsilon_lower": shown, "epsilon_lower_judged": judged}
    return Finding(about, "lower bound on epsilon", holds, words, numbers)


def _fit(
    about: str,
    field: Field,
    pair: tuple[Asked, Asked],
    records: Sequence[Sequence[Record]],
    alpha: float,
) -> Finding:
    sides = [
        (asked.reported, side)
        for asked, side in zip(pair, records, strict=True)
        if asked.reported is not None
    ]
    parameters = field.parameters
    if isinstance(parameters, RecordParameters):
        return judged(about, "the exact channel", record_checks(parameters, sides), alpha)
    if isinstance(parameters, NGramsParameters):
        return judged(about, "the exact channel", ngrams_checks(parameters, sides), alpha)
    checks = [c for answer, side in sides for c in channel_checks(parameters, answer, side)]
    checks += pooled_check(parameters, sides)
    return judged(about, "the exact channel", checks, alpha)


def _permanence(
    question: Question,
    pairs: Sequence[tuple[Asked, Asked]],
    trials: int,
    draws: SystemDraws,
    alpha: float,
) -> list[Finding]:
    """Let devices report several times: what is permanent must be the same every time."""
    if not any(f.parameters.memoised for f in question.fields) and question.repeat != "permanent":
        return []
    asked = [pair[0] if pair[0].reported is not None else pair[1] for pair in pairs]
    answers = [one.answer for one in asked]
    devices = []
    for _ in range(max(FEWEST_DEVICES, trials // 20)):
        secret = draws.token(SECRET_BYTES)
        reports = (encode_answers(question, answers, secret, draws) for _ in range(REPEATS))
        devices.append([question.split_record(report) for report in reports])
    if question.repeat == "permanent":
        same = sum(all(report == one[0] for report in one) for one in devices)
        words = f"{same:,} of {len(devices):,} devices sent one report {REPEATS} times"
        return [Finding(question.id, "permanent reports", same == len(devices), words)]
    findings = []
    for place, (field, one) in enumerate(zip(question.fields, asked, strict=True)):
        if one.reported is None or not field.parameters.memoised:
            continue
        read = [records_of(field.parameters, [r[place] for r in reports]) for reports in devices]
        checks = list(permanence_checks(field.parameters, one.reported, read))
        about = question.id if question.plain else f"{question.id}.{field.name}"
        findings.append(judged(about, "permanent response", checks, alpha))
    return findings


def judged(about: str, check: str, checks: Sequence[Check], alpha: float) -> Finding:
    """Return one finding of several checks: it holds unless one of them is too unlikely.

    The smallest p-value times the number of checks (Bonferroni) is compared with alpha.
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


def _note(trials: int, alpha: float) -> str:
    return (
        f"{trials:,} devices per answer, each with a secret of its own; a correct encoder fails a "
        f"finding with probability {alpha:.0e} at most."
    )
