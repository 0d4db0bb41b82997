"""P(report | the answer is no candidate) where reports are of parts of strings.

Unlisted strings are many, so that what is particular to one of them is spread evenly: a part that
no candidate has gives the flat profile, in closed form. But strings share beginnings and n-grams:
a part that candidates have may be common among the unlisted as well. Of beginnings, whole strings
are reported beside them, and decide alone. Of n-grams, the share among the unlisted,

    w = (share of the part among all - share of the candidates that have it) / (1 - F),

F the share of all candidates, is estimated from the reports of that part alone; where it stands out
from noise the profile is the mixture of those parts, with weights w, and of the flat one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from deniable.associate.variable import Variable
from deniable.mechanisms import NGrams, Prefixes
from deniable.mechanisms.base import Candidate, Counts, Floats, Reports

_STANDS_OUT = 4.0
_LEAST_MASS = 1e-3

Column = Callable[[Reports, int], Floats]


def groups_column(mechanism: Prefixes) -> Column:
    """Return that of prefixes: a group by its weight, its cohorts and points alike."""
    flat = _of_groups(mechanism)
    return lambda records, _: np.asarray(flat[records["group"]])


def whole_strings(mechanism: Prefixes, listed: Sequence[Candidate] | None) -> Column:
    """Return the log-likelihoods of candidates of prefixes, beside unlisted strings.

    Only the verification group says something about them. A beginning that a candidate has may be
    an unlisted string's as well, and of which of them it is nothing but the whole string tells:
    taken for the candidate's it makes its cells too large, and a share of it among the unlisted
    would have to be known better than its own reports tell.
    """
    flat, last = _of_groups(mechanism), mechanism.parameters.verification

    def columns(records: Reports, _: int) -> Floats:
        logs = np.repeat(flat[records["group"]][:, None], len(listed or ()), axis=1)
        rows = np.flatnonzero(records["group"] == last)
        if rows.size:
            logs[rows] = mechanism.likelihood(records[rows], listed, log=True)
        return logs

    return columns


def _of_groups(mechanism: Prefixes) -> Floats:
    """Return ln P(record | nothing is known of the string), by the record's group."""
    shape = mechanism.parameters
    weights = np.array(shape.weights) / shape.total_weight / shape.cohorts
    return np.asarray(np.log(weights / shape.oracle.points))


def parts_column(variable: Variable, mechanism: NGrams, peaks: bool) -> Column:
    """Return that of n-grams: flat in every part, but for n-grams that others share."""
    shape, listed = mechanism.parameters, list(variable.candidates or ())
    counts = mechanism.accumulate(variable.reports) if peaks else None
    common = [_grams(mechanism, counts, listed, place) for place in range(shape.places)]

    def column(records: Reports, _: int) -> Floats:
        logs = mechanism.unlisted(mechanism.part(records, 0), whole=True) - np.log(shape.choices)
        for number in range(1, shape.grams + 1):
            part = mechanism.part(records, number)
            places = mechanism.chosen[records["places"], number - 1]
            own = mechanism.unlisted(part)
            for place, (grams, held) in enumerate(common):
                rows = np.flatnonzero(places == place)
                if held.any() and rows.size:
                    table = mechanism.gram.likelihood(part[rows], grams, log=True)
                    own[rows] = _mixed(table, held, own[rows])
            # One cohort for all parts: 1/m, which every part has, counts once.
            logs += own + np.log(shape.cohorts)
        return np.asarray(logs)

    return column


def _grams(
    mechanism: NGrams, counts: Counts | None, listed: Sequence[Candidate], place: int
) -> tuple[list[Candidate], Floats]:
    """Return the candidates' n-grams at a place, and their shares among unlisted strings."""
    gram_of = mechanism.parameters.gram_of
    every = [gram_of(one, place) if isinstance(one, str) else one for one in listed]
    first, same = _distinct(every)
    grams = [every[i] for i in first]
    if counts is None:
        return grams, np.zeros(len(grams))
    known = _known(mechanism.estimate(counts, listed).frequency)
    found = mechanism.gram.estimate(mechanism.place_counts(counts, place), grams)
    return grams, _among_others(found.frequency, found.std_error, known, same)


def _distinct(parts: Sequence[object]) -> tuple[list[int], Floats]:
    """Return where each distinct part occurs first, and which candidates have it, a row each."""
    places: dict[object, int] = {}
    for i, part in enumerate(parts):
        places.setdefault(part, i)
    order = {part: row for row, part in enumerate(places)}
    same = np.zeros((len(places), len(parts)))
    same[[order[part] for part in parts], np.arange(len(parts))] = 1.0
    return list(places.values()), same


def _known(frequency: Floats) -> Floats:
    return np.asarray(np.nan_to_num(np.clip(frequency, 0.0, 1.0)))


def _among_others(share: Floats, error: Floats, known: Floats, same: Floats) -> Floats:
    """Return the shares of parts among unlisted strings, 0 where they do not stand out."""
    left = 1 - float(known.sum())
    rest = np.nan_to_num(share - same @ known)
    if not left > _LEAST_MASS:
        return np.zeros_like(rest)
    held = np.where(rest > _STANDS_OUT * np.nan_to_num(error, nan=np.inf), rest / left, 0.0)
    return np.asarray(held / max(1.0, float(held.sum())))


def _mixed(table: Floats, held: Floats, flat: Floats) -> Floats:
    """Return ln of the mixture of the parts' likelihoods and of the flat one."""
    parts = held > 0
    rest = max(1 - float(held.sum()), 1e-9)
    logs = np.column_stack([table[:, parts] + np.log(held[parts]), flat + np.log(rest)])
    return np.asarray(special.logsumexp(logs, axis=1))
