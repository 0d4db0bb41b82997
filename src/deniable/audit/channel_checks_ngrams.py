"""Statistical checks of sampled reports of n-grams, part by part, against the exact channel."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deniable.audit.channel_checks import bit_checks, pooled_check, public_checks
from deniable.audit.hypotheses import Check
from deniable.audit.reading import Record, bit_table, held_table, number
from deniable.mechanisms.base import Floats
from deniable.protocol import Answer, NGramsParameters, RapporParameters

FEWEST = 100
"""The fewest reports of n-grams at one place that are tested."""

Part = tuple[RapporParameters, Answer, list[int], list[Record]]
"""One part of a string: its parameters, the part itself, and its reports with their rows."""


def parts_of(parameters: NGramsParameters, answer: Answer, records: Sequence[Record]) -> list[Part]:
    """Return the parts of reports as reports of RAPPOR: the whole, then each n-gram by place."""
    found: list[Part] = [
        (parameters.whole, answer, list(range(len(records))), [_part(r, 0) for r in records])
    ]
    for part in range(1, parameters.grams + 1):
        at = [parameters.chosen[number(record, "places")][part - 1] for record in records]
        for place in sorted(set(at)):
            rows = [row for row, other in enumerate(at) if other == place]
            gram = parameters.parts(answer, (place,))[1]
            found.append((parameters.gram, gram, rows, [_part(records[row], part) for row in rows]))
    return found


def _part(record: Record, part: int) -> Record:
    return {"cohort": record["cohort"], "bits": record[f"bits_{part}"]}


def ngrams_checks(
    parameters: NGramsParameters, sides: Sequence[tuple[Answer, Sequence[Record]]]
) -> list[Check]:
    """Return the checks of reports of some strings, each report from another device."""
    checks: list[Check] = []
    for answer, records in sides:
        checks += public_checks(parameters, records)
        for shape, own, _, part in parts_of(parameters, answer, records):
            if len(part) >= FEWEST:
                checks += bit_checks(shape, own, part)
    whole = [(answer, [_part(record, 0) for record in records]) for answer, records in sides]
    return [*checks, *pooled_check(parameters.whole, whole)]


def ngrams_ratios(
    parameters: NGramsParameters, one: Answer, other: Answer, records: Sequence[Record]
) -> Floats:
    """Return ln P(report | one string) - ln P(report | other string), report by report."""
    total: Floats = np.zeros(len(records))
    pairs = zip(
        parts_of(parameters, one, records), parts_of(parameters, other, records), strict=True
    )
    for (shape, mine, rows, part), (_, theirs, _, _) in pairs:
        q, p = float(shape.q_star), float(shape.p_star)
        weight = np.where(bit_table(shape, part), math.log(q / p), math.log((1 - q) / (1 - p)))
        held, others = (held_table(shape, answer, part) for answer in (mine, theirs))
        total[rows] += (weight * (held.astype(np.float64) - others)).sum(axis=1)
    return np.asarray(total.round(9))
