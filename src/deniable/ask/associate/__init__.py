"""Association: the joint table of several fields of a question, from the reports in a store.

store -> reports of the same people -> variables -> joint table, test -> table
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deniable._distributions import chi2_sf
from deniable.ask.associate.crafted import attacked_association
from deniable.ask.associate.field_reports import FieldReports, read_fields
from deniable.ask.associate.table import Associated, association_table
from deniable.ask.associate.variables import variable_of
from deniable.ask.candidates import field_candidates
from deniable.ask.estimate import epochs_of, repeats_of
from deniable.ask.options import DEFAULTS, Options
from deniable.associate import (
    Joint,
    Pair,
    Variable,
    estimate_joint,
    independence_of_pairs,
)
from deniable.associate import associate as fit_two
from deniable.associate.crafted import check_size
from deniable.associate.independence import bh_adjusted, holm_adjusted
from deniable.engines.local import Accumulated
from deniable.errors import InvalidParameter
from deniable.protocol import Field, Question
from deniable.protocol.epsilon import as_float
from deniable.results.table import About, Table
from deniable.store.base import Store

NOT_SUMS = (
    "The table is the likeliest one: no share is below 0, so that small ones are biased upwards. "
    "Intervals are 95% intervals of each cell by itself."
)


def associate(store: Store, question: Question, options: Options = DEFAULTS) -> Table:
    """Return which answers of several fields go together: a row per combination.

    Guarantees: where the same devices report in several epochs, intervals are widened and tests
    weakened so that neither claims more than independent reports would.

    Cost: linear in the reports, which are held in memory; then that of the fit; with `attackers`,
    of four fits and more per cell of the table.

    Args:
        store: where the reports are.
        question: the question, with the version that is wanted.
        options: this reads `fields` (two or more; by default all), `candidates` (the answers to
            tell apart), `folder`, `top`, `other` and `attackers`, which adds a second interval to
            every share and odds ratio, and a range to every p-value.

    Raises:
        InvalidParameter: if a field is not the question's, if there are fewer than two, if there
            are no reports, if a field's answers cannot be told apart, or unless `attackers` is a
            share from 0 to 1 and the table has at most 2,048 cells or is of k-RR alone.
        StoreError: if the store cannot be read.
    """
    chosen = chosen_fields(question, options.fields)
    if unknown := options.candidates.keys() - {field.name for field in chosen}:
        raise InvalidParameter(
            f"Candidates are given for {', '.join(sorted(unknown))!r:.80}, which is not among the "
            "fields to associate. Name it with --fields too, or leave its candidates out."
        )
    read = read_fields(store, question, chosen, options)
    return associated(read, chosen, options)


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


def associated(read: FieldReports, fields: Sequence[Field], options: Options = DEFAULTS) -> Table:
    """Return the table that `associate` returns, from reports that are in memory already."""
    accumulated, attackers = read.accumulated, options.attackers
    question = accumulated.question
    if read.n == 0:
        raise InvalidParameter(
            f"There are no reports to question {question.id!r} yet, so nothing can be associated."
        )
    variables = [variable_of(read, field, options, _listed(field, options)) for field in fields]
    factor = max(repeats_of(question, field, accumulated.epochs) for field in fields)
    if attackers is not None:  # said before the work is done
        check_size(variables)
    joint, pairs = _fitted(variables)
    joint, pairs = widened(joint, factor), weakened(pairs, factor)
    attacked = None
    if attackers is not None:
        told = options.stage("attacking")
        attacked = attacked_association(variables, pairs, attackers, factor, told)
    notes = _notes(accumulated, joint, pairs, factor)
    about = _about(accumulated, fields, attackers)
    return association_table(about, Associated(joint, pairs, attacked), notes)


def _listed(field: Field, options: Options) -> Sequence[str] | None:
    return None if field.name in options.candidates else field_candidates(field, options.folder)


def _about(accumulated: Accumulated, fields: Sequence[Field], attackers: float | None) -> About:
    question = accumulated.question
    how = ", ".join(f"{field.name} by {field.parameters.mechanism}" for field in fields)
    return About(
        "association",
        question=question.id,
        version=question.version,
        digest=question.digest.hex(),
        description=question.description,
        field=", ".join(field.name for field in fields),
        mechanism=f"of these fields together; {how}",
        n=accumulated.n,
        simulated=accumulated.simulated,
        epsilon_once=as_float(sum(field.parameters.epsilon_once for field in fields)),
        epochs=epochs_of(accumulated),
        attackers=attackers,
        more={
            "fields": [field.name for field in fields],
            "mechanisms": {field.name: field.parameters.mechanism for field in fields},
        },
    )


def _fitted(variables: list[Variable]) -> tuple[Joint, tuple[Pair, ...]]:
    """Return the table of all variables, and a test of every pair."""
    if len(variables) > 2:
        return estimate_joint(variables), independence_of_pairs(variables)
    joint, test = fit_two(variables)
    one, two = variables
    return joint, (Pair((one.name, two.name), test, test.p_value, test.p_value),)


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
