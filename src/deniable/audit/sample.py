"""The shipped encoder as a black box: many reports of two answers, and what they tell apart.

    answers -> encode, each trial another device -> records -> a lower bound on epsilon
                                                            -> a test against the exact channel
                                                            -> how far each probability is off

Three looks: a lower bound on epsilon (`bound.py`), cells against their exact chances (`cells.py`,
`record_cells.py`, `ngrams_cells.py`), and each probability by itself (`probabilities.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

import numpy as np

from deniable.audit.bound import lower_bound
from deniable.audit.cells import channel_checks, permanence_checks, pooled_check
from deniable.audit.findings import ALPHA, Audit, Finding
from deniable.audit.ngrams_cells import ngrams_checks
from deniable.audit.pairs import Asked, scores, worst_pair
from deniable.audit.probabilities import Error, Tally
from deniable.audit.reading import Record, records_of
from deniable.audit.record_cells import record_checks
from deniable.audit.record_reading import BITS
from deniable.client.encode import encode_answers
from deniable.client.randomness import SystemDraws
from deniable.mechanisms.base import Floats
from deniable.protocol import (
    Field,
    NGramsParameters,
    ORRParameters,
    Parameters,
    Question,
    RecordParameters,
    SubsetParameters,
    Survey,
)
from deniable.protocol.epsilon import as_float
from deniable.protocol.prf import SECRET_BYTES
from deniable.protocol.unary import UnaryParameters
from deniable.testing.statistics import Check

KEPT = 25_000
"""So many devices per answer report at least, and so many reports are compared cell by cell."""
STEPS = 11_000_000
"""What an answer's reports may cost where nobody says how many: about half a minute."""
PER_REPORT = 10
"""A report costs so much more than the coins that it is made of."""
BATCH = 5_000
ERROR = 0.05
"""The error of a probability, as a share of it, for which there are enough devices."""
FEWEST_DEVICES = 100
REPEATS = 16
"""So many devices report so many times, to see that their response is permanent."""
LEVEL = 0.05
"""1 less the confidence of the lower bound that is shown; what is judged has level ALPHA."""

Progress = Callable[[str, int, int], None]
"""Called with a question's id, how many devices per answer have reported, and of how many."""


def audit_sample(
    survey: Survey,
    *,
    trials: int | None = None,
    alpha: float = ALPHA,
    draws: SystemDraws | None = None,
    least: int = KEPT,
    progress: Progress | None = None,
) -> Audit:
    """Run the client's encoder on two answers to every question, and judge what it sends.

    Guarantees: a correct encoder fails a finding with probability at most `alpha`.

    Accuracy: as many devices report as it takes to find an error of 5% in any threshold 99 times
    in 100, where it decides an outcome of probability p about 25,000 (1 - p)/p reports of both
    answers together; but no more than `most_devices`. The finding says which error would be found.

    Cost: two encodings per device and answer; where something is permanent, some more.

    Args:
        survey: whose questions are asked.
        trials: reports per answer, each of another device; as above unless said.
        alpha: the false-alarm probability of each finding.
        draws: where fresh coins and secrets come from; the operating system unless said.
        least: the fewest devices per answer where `trials` are not said.
        progress: called after every batch of devices.
    """
    source, findings = draws or SystemDraws(), list[Finding]()
    devices: list[int] = []
    for question in survey.questions:
        sampled = [Sampled(field, worst_pair(field)) for field in question.fields]
        done, wanted = 0, trials or min(least, most_devices(question))
        while done < wanted:
            size = min(BATCH, wanted - done)
            _report(question, sampled, size, source)
            done += size
            if trials is None and done == wanted:
                wanted = max(done, min(most_devices(question), _enough(sampled, done, alpha)))
            if progress is not None:
                progress(question.id, done, wanted)
        for field, one in zip(question.fields, sampled, strict=True):
            about = question.id if question.plain else f"{question.id}.{field.name}"
            findings += one.findings(about, alpha)
        findings += _permanence(question, [one.pair for one in sampled], done, source, alpha)
        devices.append(done)
    return Audit("sample", tuple(findings), (_note(devices, alpha),))


def most_devices(question: Question) -> int:
    """Return how many devices report at most where nobody says how many: time is bounded."""
    coins = sum(coins_of(field.parameters) for field in question.fields)
    return STEPS // (PER_REPORT * len(question.fields) + coins)


def coins_of(parameters: Parameters) -> int:
    """Return about how many coins, or steps that cost as much, a report takes."""
    names = ("bits", "width", "categories", "answers", "cells", "most_cells")
    if isinstance(parameters, NGramsParameters):
        return parameters.bits * (parameters.grams + 1)
    if isinstance(parameters, (UnaryParameters, SubsetParameters, ORRParameters, *BITS)):
        sizes = (getattr(parameters, name, 0) for name in names)
        return max(size for size in sizes if isinstance(size, int))
    return 1


def _enough(sampled: Sequence[Sampled], done: int, alpha: float) -> int:
    """Return how many devices an error of 5% needs in every probability of every field."""
    wanted = 0
    for one in sampled:
        errors = one.tally.errors()
        for error in errors.values():
            ratio = error.seen(alpha / len(errors)) / ERROR
            wanted = max(wanted, math.ceil(1.02 * done * ratio**2))
    return wanted


@dataclass
class Sampled:
    """The reports of one field so far: some of them whole, and what was counted of all.

    Attributes:
        field: of the question.
        pair: two answers.
        kept: the first reports of each answer.
        scored: scores of all reports of each answer, in batches.
        tally: outcomes of all reports.
    """

    field: Field
    pair: tuple[Asked, Asked]
    kept: tuple[list[Record], list[Record]] = dataclass_field(default_factory=lambda: ([], []))
    scored: tuple[list[Floats], list[Floats]] = dataclass_field(default_factory=lambda: ([], []))
    tally: Tally = dataclass_field(init=False)

    def __post_init__(self) -> None:
        self.tally = Tally(self.field.parameters)

    def add(self, side: int, sent: Sequence[bytes]) -> None:
        """Count reports of one of the two answers."""
        records = records_of(self.field.parameters, sent)
        self.kept[side].extend(records[: KEPT - len(self.kept[side])])
        self.scored[side].append(scores(self.field, self.pair, records))
        reported = self.pair[side].reported
        if reported is not None:
            self.tally.add(reported, records)

    def findings(self, about: str, alpha: float) -> list[Finding]:
        """Return what all reports say."""
        one, other = (np.concatenate(parts) for parts in self.scored)
        return [
            _bound(about, self.field, one, other, alpha),
            _fit(about, self.field, self.pair, self.kept, alpha),
            _probabilities(about, self.tally, alpha),
        ]


def _report(
    question: Question, sampled: Sequence[Sampled], devices: int, draws: SystemDraws
) -> None:
    """Let so many devices report each answer."""
    for side in (0, 1):
        answers = [one.pair[side].answer for one in sampled]
        sent = [
            question.split_record(
                encode_answers(question, answers, draws.token(SECRET_BYTES), draws)
            )
            for _ in range(devices)
        ]
        for place, one in enumerate(sampled):
            one.add(side, [record[place] for record in sent])


def _bound(about: str, field: Field, one: Floats, other: Floats, alpha: float) -> Finding:
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


def _probabilities(about: str, tally: Tally, alpha: float) -> Finding:
    """Test each probability by itself, on all reports, and say which errors would be found."""
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
    """Say which errors would have been found: more than 5% where there are too few reports."""
    large = [f"{name} from {share:.1%}" for name, share in seen.items() if share > ERROR]
    found = f"An error of {ERROR:.0%} would be found"
    return f"{found}; but of {', '.join(large)} on" if large else found


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


def _note(devices: Sequence[int], alpha: float) -> str:
    fewest, most = min(devices, default=0), max(devices, default=0)
    how = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return (
        f"{how} devices per answer, each with a secret of its own; a correct encoder fails a "
        f"finding with probability {alpha:.0e} at most, and an error that is said to be found is "
        "found 99 times in 100."
    )
