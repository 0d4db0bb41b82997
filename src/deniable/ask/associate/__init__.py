"""Association: the joint table of several fields of a question, from the reports in a store.

store -> reports of the same people -> variables -> joint table, test -> table
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from deniable.ask.associate.field_reports import FieldReports, read_fields
from deniable.ask.associate.found_apart import find_apart
from deniable.ask.associate.pooled_joint import LevelJoint, pool_joints
from deniable.ask.associate.read_joint import joint_read, read_together, weakened
from deniable.ask.associate.table import Associated, association_table
from deniable.ask.associate.variables import TOP, variable_of
from deniable.ask.candidates import field_candidates, fitted_candidates, is_open
from deniable.ask.estimate import ABSENT_LABEL, about_epochs, epochs_of
from deniable.ask.intervals import of_note
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.several import (
    NAME_ONE,
    AnyCounts,
    Asked,
    Several,
    each_of,
    heading_of,
    newest,
    own_field,
)
from deniable.associate import (
    Independence,
    Joint,
    Pair,
    Variable,
    estimate_joint,
    independence,
    independence_of_pairs,
)
from deniable.associate import associate as fit_two
from deniable.associate.variable import OTHER_LABEL
from deniable.crafted.association import crafted_association
from deniable.crafted.joint import check_size
from deniable.decode.reading import Reading
from deniable.engines.accumulated import Accumulated
from deniable.errors import InvalidParameter
from deniable.protocol import Field, Profile, Question
from deniable.protocol.epsilon import as_float
from deniable.results.table import About, Table, interval_name

__all__ = ["associate", "chosen_fields", "weakened"]

NOT_SUMS = (
    "The table is the likeliest one: no share is below 0, so that small ones are biased upwards. "
    "Intervals are {intervals}s of each cell by itself."
)
SAMPLED = (
    "A random sample of {n:,} of the {all:,} reports was read: every number is of the sample, and "
    "every interval allows for its size."
)
PAPERS_OTHER = (
    "The profile of (other) is fitted to the very reports that it explains, as in [FPE16, section "
    "3.2]: its shares are biased, and intervals do not allow for that."
)
HALVES_OTHER = (
    "The profile of (other) is fitted, for each half of the reports, to the other half: (other) is "
    "too small and all else too large, by much where reports are few, and intervals do not allow "
    "for that."
)
SAID_OF_OTHER = {"fitted": PAPERS_OTHER, "halves": HALVES_OTHER}
"""The costs of those profiles of "(other)" whose intervals do not hold."""


def associate(store: Source, asked: Asked, options: Options = DEFAULTS) -> Table:
    """Return which answers of several fields go together: a row per combination.

    Guarantees: where the same devices report in several epochs, intervals are widened and tests
    weakened so that neither claims more than independent reports would.

    Cost: linear in the reports, which are held in memory until their likelihoods are known; then
    that of the fit; with `crafted`, of four fits and more per cell of the table.

    Args:
        store: where the reports are, or their counts.
        asked: the question with the version that is wanted, or several levels and versions of it.
        options: this reads `fields` (two or more; by default all), `candidates` (the answers to
            tell apart), `folder`, `top`, `other`, `of`, `confidence`, `solver`, `method`,
            `profile`, `given`, `discovered` and `crafted`, which adds a second interval to every
            share and odds ratio, and a range to every p-value.

    Raises:
        InvalidParameter: if a field is not the question's, if there are fewer than two, if there
            are no reports, if a field's answers cannot be told apart, or unless `crafted` is a
            share from 0 to 1 and the table has at most 2,048 cells or is of k-RR alone.
        StoreError: if the store cannot be read.
    """
    question = newest(asked)
    chosen = chosen_fields(question, options.fields)
    if unknown := options.candidates.keys() - {field.name for field in chosen}:
        raise InvalidParameter(
            f"Candidates are given for {', '.join(sorted(unknown))!r:.80}, which is not among the "
            "fields to associate. Name it with --fields too, or leave its candidates out."
        )
    each = [
        (read, own)
        for one in each_of(asked)
        if (own := _own_fields(one, chosen, question)) is not None
        and ((read := read_fields(store, one, own, options)).n or one is question)
    ]
    with_reports = [(read, own) for read, own in each if read.n] or each[-1:]
    if len(with_reports) == 1:
        return associated(*with_reports[0], options)
    return _associated_together(with_reports, options)


def _own_fields(question: Question, chosen: Sequence[Field], newer: Question) -> list[Field] | None:
    """Return the fields as a version or level asks them; None if one has other answers."""
    own = [own_field(question, field, newer) for field in chosen]
    return None if any(one is None for one in own) else [one for one in own if one is not None]


def chosen_fields(question: Question, names: Sequence[str] | None) -> list[Field]:
    """Return two or more fields of a question, in the order in which they are named.

    Raises:
        InvalidParameter: if there are fewer than two, one is named twice, or one is not there.
    """
    known = {field.name: field for field in question.fields}
    if len(known) == 1 and isinstance(question.fields[0].domain, Profile):
        raise InvalidParameter(
            f"Question {question.id!r} is a profile of attributes, whose tables and tests are "
            f"those of another command.",
            f"Run: deniable marginals {question.id} --pairs, or --attributes with two of them.",
        )
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
    accumulated, crafted = read.accumulated, options.crafted
    _check_reports(read)
    found_notes = _sampled(read)
    if options.discovered:
        apart = find_apart(read, fields, options, options.top or TOP)
        read.spend()
        read, accumulated = apart.read, apart.read.accumulated
        found_notes += apart.notes
        options = replace(options, candidates={**options.candidates, **apart.candidates})
    variables = [variable_of(read, field, options, _listed(field, options)) for field in fields]
    if crafted is not None:  # said before the work is done
        check_size(variables)
        _check_crafted(options)
    if crafted is None:  # the variables take the reports with them, and let go of them when read
        read.spend()
    one, factor, reading = _one_level(accumulated, variables, fields, options, read.drawn_from)
    shifted = None
    if crafted is not None:
        told = options.stage("searching")
        shifted = crafted_association(variables, one.pairs, crafted, factor, told)
    notes = [*found_notes, *one.notes, *_about_lists(fields, options)]
    if options.profile in SAID_OF_OTHER and any(variable.other for variable in variables):
        notes.append(SAID_OF_OTHER[options.profile])
    about = replace(_about(accumulated, fields, options), of=reading.of)
    found = Associated(one.joint, one.pairs, shifted, one.mutual, tuple(options.given))
    return association_table(about, found, notes)


def _sampled(read: FieldReports) -> tuple[str, ...]:
    """Return what is said where reports were drawn from more."""
    if read.drawn_from is None:
        return ()
    return (SAMPLED.format(n=read.n, all=read.drawn_from),)


def _check_reports(read: FieldReports) -> None:
    if read.n == 0:
        asked = read.accumulated.question.id
        raise InvalidParameter(
            f"There are no reports to question {asked!r} yet, so nothing can be associated."
        )


def _one_level(
    accumulated: Accumulated,
    variables: list[Variable],
    fields: Sequence[Field],
    options: Options,
    drawn_from: int | None,
) -> tuple[LevelJoint, float, Reading]:
    """Return the association of one level, with the errors of its epochs."""
    reading = read_together(options, accumulated.question, fields, accumulated.epochs)
    joint, pairs, mutual = _fitted(variables, options)
    joint, factor = joint_read(joint, reading, drawn_from)
    pairs, mutual = weakened(pairs, factor), weakened(mutual, factor)
    notes = _notes(accumulated, joint, (*pairs, *mutual), reading)
    return LevelJoint(accumulated, joint, pairs, mutual, notes), factor, reading


def _associated_together(
    each: Sequence[tuple[FieldReports, Sequence[Field]]], options: Options
) -> Table:
    """Return the association of several levels and versions together."""
    if options.crafted is not None or options.discovered:
        wish = "--crafted" if options.crafted is not None else "--candidates discovered"
        raise InvalidParameter(
            f"{wish} holds for the reports of one level of one version.", NAME_ONE
        )
    # The answers to tell apart are those of the level with the most reports, for all of them.
    read, fields = max(each, key=lambda one: one[0].n)
    first = [variable_of(read, field, options, _listed(field, options)) for field in fields]
    told = {
        one.name: [name for name in one.categories if name not in (OTHER_LABEL, ABSENT_LABEL)]
        for one in first
        if one.candidates is not None
    }
    alike = replace(options, candidates=told, top=None)
    parts = []
    for read, fields in each:
        variables = [variable_of(read, field, alike) for field in fields]
        one = _one_level(read.accumulated, variables, fields, options, read.drawn_from)[0]
        parts.append(replace(one, notes=(*_sampled(read), *one.notes)))
    joint, pairs, mutual, said = pool_joints(
        parts, of_population=options.of == "population", new_people=options.people == "new"
    )
    read, fields = each[-1]
    counted = Several(tuple(read.accumulated for read, _ in each))
    about = replace(_about(counted, fields, options), of=options.of)
    epsilons = [sum(f.parameters.epsilon_once for f in own) for _, own in each]
    about = replace(about, epsilon_once=as_float(max(epsilons)))
    notes = [*said, *dict.fromkeys(note for part in parts for note in part.notes)]
    found = Associated(joint, pairs, None, mutual, tuple(options.given))
    return association_table(about, found, [*notes, *_about_lists(fields, options)])


def _listed(field: Field, options: Options) -> Sequence[str] | None:
    return None if field.name in options.candidates else field_candidates(field, options.folder)


def _about_lists(fields: Sequence[Field], options: Options) -> Iterator[str]:
    """Yield what became of the candidates of fields of strings, where they had to be fitted."""
    for field in fields:
        given = options.candidates.get(field.name, _listed(field, options))
        if given is not None and is_open(field):
            for note in fitted_candidates(given, field).notes:
                yield f"{field.name}: {note}"


def _check_crafted(options: Options) -> None:
    """Refuse what the search for crafted reports cannot follow: it refits by the defaults."""
    if (options.method, options.profile) != (DEFAULTS.method, DEFAULTS.profile):
        raise InvalidParameter(
            "Crafted reports are searched for by the default test and the default likelihood of "
            "other answers.",
            "Leave out --crafted, or --method and --other-profile.",
        )


def _about(accumulated: AnyCounts, fields: Sequence[Field], options: Options) -> About:
    question = accumulated.question
    how = ", ".join(f"{field.name} by {field.parameters.mechanism}" for field in fields)
    return About(
        "association",
        question=question.id,
        version=question.version,
        digest=question.digest.hex(),
        description=heading_of(accumulated),
        field=", ".join(field.name for field in fields),
        mechanism=f"of these fields together; {how}",
        n=accumulated.n,
        simulated=accumulated.simulated,
        epsilon_once=as_float(sum(field.parameters.epsilon_once for field in fields)),
        epochs=epochs_of(accumulated),
        crafted=options.crafted,
        more={
            "level": options.confidence,
            "fields": [field.name for field in fields],
            "mechanisms": {field.name: field.parameters.mechanism for field in fields},
        },
    )


def _fitted(
    variables: list[Variable], options: Options
) -> tuple[Joint, tuple[Pair, ...], tuple[Pair, ...]]:
    """Return the table of all variables, a test of every pair, and of more than two one of all."""
    solver, level = options.solver, options.confidence
    method, profile = options.method, options.profile
    rng = np.random.default_rng(0)  # the same reports have the same drawn populations
    if len(variables) > 2:
        joint = estimate_joint(variables, solver=solver, level=level, profile=profile)
        pairs = independence_of_pairs(variables, method=method, profile=profile, rng=rng)
        whole = independence(variables, method=method, profile=profile, rng=rng)
        return joint, pairs, (_alone(("", ""), whole),)
    spend = options.crafted is None
    joint, found = fit_two(
        variables, solver=solver, level=level, method=method, profile=profile, rng=rng, spend=spend
    )
    one, two = variables
    return joint, (_alone((one.name, two.name), found),), ()


def _alone(names: tuple[str, str], test: Independence) -> Pair:
    return Pair(names, test, test.p_value, test.p_value)


def _notes(
    accumulated: Accumulated, joint: Joint, pairs: tuple[Pair, ...], reading: Reading
) -> tuple[str, ...]:
    notes = [*joint.notes, *(note for pair in pairs for note in pair.test.notes)]
    notes += about_epochs(reading, len(accumulated.epochs))
    notes += accumulated.ignored_words
    not_sums = NOT_SUMS.format(intervals=interval_name(joint.level))
    return tuple(dict.fromkeys([*notes, not_sums, of_note(reading.of)]))
