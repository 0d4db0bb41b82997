"""From the reports in a store to an association of several fields of a question.

store -> reports of the same people -> variables -> joint table, test -> association
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from deniable._distributions import chi2_sf
from deniable.associate import (
    Derived,
    Joint,
    Pair,
    Variable,
    associate,
    attacked_conditional,
    attacked_odds,
    conditional,
    estimate_joint,
    independence_of_pairs,
    odds_ratios,
)
from deniable.associate.crafted import check_size
from deniable.associate.independence import bh_adjusted, holm_adjusted
from deniable.engines.local import Accumulated, Progress
from deniable.errors import InvalidParameter
from deniable.protocol import Field, Question
from deniable.protocol.epsilon import as_float
from deniable.results.associate_attackers import Attacked, attacked_association
from deniable.results.associate_candidates import variable_of
from deniable.results.associate_reports import FieldReports, read_fields
from deniable.results.associate_result import Association
from deniable.results.candidates import field_candidates
from deniable.results.estimate import epochs_of, repeats_of
from deniable.store.base import Store

NOT_SUMS = (
    "The table is the likeliest one: no share is below 0, so that small ones are biased upwards. "
    "Intervals are 95% intervals of each cell by itself."
)


def associate_question(
    store: Store,
    question: Question,
    fields: Sequence[str] | None = None,
    *,
    candidates: Mapping[str, Sequence[str]] | None = None,
    candidates_folder: Path | None = None,
    top: int | None = None,
    other: bool | None = None,
    attackers: float | None = None,
    attacking: Progress | None = None,
    first_epoch: int | None = None,
    last_epoch: int | None = None,
    progress: Progress | None = None,
) -> Association:
    """Return which answers of these fields go together.

    Guarantees: where the same devices report in several epochs, intervals are widened and tests
    weakened so that neither claims more than independent reports would.

    Cost: linear in the reports, which are held in memory; then that of the fit; with `attackers`,
    of four fits and more per cell of the table.

    Args:
        store: where the reports are.
        question: the question, with the version that is wanted.
        fields: two or more of its fields; all of them unless said.
        candidates: the answers to tell apart, by field name; all of them unless `top` is given.
        candidates_folder: where to look for the fields' own candidate files.
        top: of each field, at most so many of the answers that stand out.
        other: False leaves out the category of all other answers.
        attackers: the share of reports that may be crafted; adds a second interval to every cell,
            conditional share and odds ratio, and a range to every p-value.
        attacking: called with how much of that is done.
        first_epoch: leave out the epochs before this one.
        last_epoch: leave out the epochs after this one.
        progress: called with the number of reports read.

    Raises:
        InvalidParameter: if a field is not the question's, if there are fewer than two, if there
            are no reports, if a field's answers cannot be told apart, or unless `attackers` is a
            share from 0 to 1 and the table has at most 2,048 cells or is of k-RR alone.
        StoreError: if the store cannot be read.
    """
    chosen = chosen_fields(question, fields)
    given = dict(candidates or {})
    if unknown := given.keys() - {field.name for field in chosen}:
        raise InvalidParameter(
            f"Candidates are given for {', '.join(sorted(unknown))!r:.80}, which is not among the "
            "fields to associate. Name it with --fields too, or leave its candidates out."
        )
    read = read_fields(
        store, question, chosen, first_epoch=first_epoch, last_epoch=last_epoch, progress=progress
    )
    return association_of(
        read,
        chosen,
        candidates=given,
        candidates_folder=candidates_folder,
        top=top,
        other=other,
        attackers=attackers,
        attacking=attacking,
    )


def chosen_fields(question: Question, names: Sequence[str] | None) -> list[Field]:
    """Return two or more fields of a question, in the order in which they are named.

    Raises:
        InvalidParameter: if there are fewer than two, one is named twice, or one is not there.
    """
    known = {field.name: field for field in question.fields}
    if len(known) < 2:
        raise InvalidParameter(
            f"Question {question.id!r} has one field. Only what one report says together can be "
            "associated: ask a question with several [[questions.fields]]."
        )
    wanted = list(known) if names is None else list(names)
    if unknown := [name for name in wanted if name not in known]:
        raise InvalidParameter(
            f"Question {question.id!r} has no field {unknown[0]!r:.80}. Its fields are: "
            f"{', '.join(known)}. Fields of different questions cannot be associated: nothing "
            "tells which of their reports come from the same person."
        )
    if len(wanted) < 2 or len(set(wanted)) < len(wanted):
        raise InvalidParameter(
            f"An association needs two or more different fields of: {', '.join(known)}. "
            f"Got {', '.join(wanted) or 'none'}."
        )
    return [known[name] for name in wanted]


def association_of(
    read: FieldReports,
    fields: Sequence[Field],
    *,
    candidates: Mapping[str, Sequence[str]] | None = None,
    candidates_folder: Path | None = None,
    top: int | None = None,
    other: bool | None = None,
    attackers: float | None = None,
    attacking: Progress | None = None,
) -> Association:
    """Return the association of fields whose reports are in memory; as `associate_question`."""
    accumulated = read.accumulated
    question = accumulated.question
    if read.n == 0:
        raise InvalidParameter(
            f"There are no reports to question {question.id!r} yet, so nothing can be associated."
        )
    given = candidates or {}
    variables = [
        variable_of(
            read,
            field,
            given=given.get(field.name),
            listed=None if field.name in given else field_candidates(field, candidates_folder),
            top=top,
            other=other,
        )
        for field in fields
    ]
    factor = max(repeats_of(question, field, accumulated.epochs) for field in fields)
    if attackers is not None:  # said before the work is done
        check_size(variables)
    joint, pairs = _fitted(variables)
    joint, pairs = widened(joint, factor), weakened(pairs, factor)
    attacked = None
    if attackers is not None:
        attacked = attacked_association(variables, pairs, attackers, factor, attacking)
    return Association(
        question=question.id,
        version=question.version,
        description=question.description,
        fields=tuple(field.name for field in fields),
        mechanisms={field.name: field.parameters.mechanism for field in fields},
        n=read.n,
        simulated=accumulated.simulated,
        epsilon_once=as_float(sum(field.parameters.epsilon_once for field in fields)),
        epochs=epochs_of(accumulated),
        joint=joint,
        conditionals=_conditionals(joint, attacked),
        pairs=pairs,
        odds=_odds(joint, attacked) if len(fields) == 2 else None,
        notes=(
            *_notes(accumulated, joint, pairs, factor),
            *(() if attacked is None else attacked.notes),
        ),
        attacked=attacked,
    )


def _fitted(variables: list[Variable]) -> tuple[Joint, tuple[Pair, ...]]:
    """Return the table of all variables, and a test of every pair."""
    if len(variables) > 2:
        return estimate_joint(variables), independence_of_pairs(variables)
    joint, test = associate(variables)
    one, two = variables
    return joint, (Pair((one.name, two.name), test, test.p_value, test.p_value),)


def _conditionals(joint: Joint, attacked: Attacked | None) -> tuple[Derived, ...]:
    *given, last = joint.names
    found = [conditional(joint, last, given)]
    if len(given) == 1:
        found.append(conditional(joint, given[0], last))
    if attacked is None:
        return tuple(found)
    return tuple(attacked_conditional(joint, one, attacked.shifts) for one in found)


def _odds(joint: Joint, attacked: Attacked | None) -> Derived:
    found = odds_ratios(joint)
    return found if attacked is None else attacked_odds(joint, found, attacked.shifts)


def widened(joint: Joint, factor: float) -> Joint:
    """Return the table with errors and intervals larger by a factor.

    Guarantees: the centres stay, and ends that were cut at 0 or 1 stay there.
    """
    if factor == 1:
        return joint
    centre = joint.unbounded if joint.unbounded.size else joint.probability
    low, high = centre - factor * (centre - joint.low), centre + factor * (joint.high - centre)
    scale = factor**2
    wide = joint.unbounded_covariance
    return replace(
        joint,
        std_error=joint.std_error * factor,
        low=np.maximum(low, np.minimum(joint.low, 0)),
        high=np.minimum(high, np.maximum(joint.high, 1)),
        covariance=None if joint.covariance is None else joint.covariance * scale,
        unbounded_covariance=None if wide is None else wide * scale,
    )


def weakened(pairs: tuple[Pair, ...], factor: float) -> tuple[Pair, ...]:
    """Return the tests as if all standard errors were larger by a factor.

    A statistic is a quadratic form in standardised contrasts: it shrinks by the factor's square.
    """
    if factor == 1:
        return pairs
    tests = []
    for pair in pairs:
        statistic = pair.test.statistic / factor**2
        p_value = float(chi2_sf(statistic, max(1, pair.test.dof)))
        weaker = max(p_value, pair.test.p_value)
        tests.append(replace(pair.test, statistic=statistic, p_value=weaker))
    values = np.array([test.p_value for test in tests])
    holm, bh = holm_adjusted(values), bh_adjusted(values)
    return tuple(
        replace(pair, test=test, holm=float(holm[i]), bh=float(bh[i]))
        for i, (pair, test) in enumerate(zip(pairs, tests, strict=True))
    )


def _notes(
    accumulated: Accumulated, joint: Joint, pairs: tuple[Pair, ...], factor: float
) -> tuple[str, ...]:
    notes = [*joint.notes, *(note for pair in pairs for note in pair.test.notes)]
    if factor > 1:
        notes.append(
            f"The same devices report in each of {len(accumulated.epochs)} epochs, with the same "
            f"permanent noise: standard errors are {factor:.2f} times those of as many "
            "independent reports. One epoch by itself has no such factor."
        )
    if accumulated.ignored:
        notes.append(
            f"{accumulated.ignored:,} reports under this id and version carry another digest and "
            "were not counted: the question was changed without a new version."
        )
    return tuple(dict.fromkeys([*notes, NOT_SUMS]))
