"""Over epochs: a table of every epoch, a test of "no change", the largest step; and by segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from deniable.ask.candidates import require_candidates
from deniable.ask.estimate import asked_of, chosen, labels_of
from deniable.ask.grouped import (
    EPOCH,
    MOST_TESTED,
    Group,
    Make,
    OneReport,
    Pool,
    Split,
    as_groups,
    group_rows,
    groups_by,
    key_columns,
    listed_of,
    of_population,
    pool_of,
    shown_columns,
    smoothed,
)
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.several import AnyCounts, Asked, agreeing, alone, newest, parts_of
from deniable.ask.string_sets import has_absent
from deniable.ask.together import any_table
from deniable.errors import InvalidParameter
from deniable.groups import Change, Groups, change_over_epochs
from deniable.mechanisms import mechanism_of
from deniable.protocol import Field, Profile, Sets, StringSets
from deniable.results.charts.lines import caption, described, lines
from deniable.results.table import Cell, Column, Table, Tables, Words
from deniable.results.table.text import p_text
from deniable.results.words.over_time import SAME, TOO_FEW, UNRELATED, change_sentence

MOST_SILENT = 60
"""The most epochs, and the most answers, that are compared without being asked."""


def over_time(
    source: Source, asked: Asked, by: Sequence[str], options: Options = DEFAULTS
) -> Tables:
    """Return a table per field, with the shares of every group: epochs, segments, or both.

    Guarantees: the interval of a single epoch is exact; the level of the test of "no change" is
    that of `groups.change_over_epochs`.

    Args:
        source: where the reports are, or their counts.
        asked: the question with the version that is wanted, or several levels and versions of it.
        by: "epoch", the name of a segment, or both.
        options: as of `estimate`, and `people`.

    Raises:
        InvalidParameter: if there is no such segment, or a field of strings has no candidates.
        StoreError: if the store cannot be read.
    """
    counted = options.counted_all(source, asked, apart=True)
    fields = chosen(newest(asked), options.fields)
    return Tables(field_over_time(counted, field, by, options) for field in fields)


def field_over_time(
    counted: AnyCounts,
    field: Field,
    by: Sequence[str],
    options: Options = DEFAULTS,
    split: Split | None = None,
) -> Table:
    """Return the table of one field by group, from counts that were kept apart.

    With `split` the groups are its own, as `groups_by` takes it.

    Raises:
        InvalidParameter: as `over_time`.
    """
    listed, counted = listed_of(field, options), agreeing(counted, field)
    made: dict[tuple[object, ...], Table] = {}

    def made_once(part: AnyCounts, asked: Options) -> Table:
        key = (asked.of, asked.crafted, *part.cells)
        if key not in made:
            made[key] = any_table(part, field, listed, asked, points=False)
        return made[key]

    def make(part: AnyCounts) -> Table:
        return made_once(part, options)

    def compared(part: AnyCounts) -> Table:
        return made_once(part, of_population(options))

    noise = noise_of(counted, field, listed, make(counted))
    pool = pool_of(counted, field, listed, options)
    return grouped_table(counted, by, make, compared, field, options, noise, pool, split)


def grouped_table(
    counted: AnyCounts,
    by: Sequence[str],
    make: Make,
    compared: Make,
    field: Field,
    options: Options,
    noise: OneReport | None = None,
    pool: Pool | None = None,
    split: Split | None = None,
) -> Table:
    """Return the shares of every group as one table, with the change over epochs.

    Args:
        counted: counts that were kept apart.
        by: "epoch", a segment, or both.
        make: makes the table of a group.
        compared: makes the table by which groups are compared, of the population.
        field: the field.
        options: the options of the ask.
        noise: that of one report.
        pool: pools levels and versions of some counts; None where there is one of each.
        split: divides counts into groups, where neither epochs nor a segment do.
    """
    if not by:
        raise InvalidParameter("Name what to group by: --by epoch, or a segment.")
    whole, groups = make(counted), groups_by(counted, by, make, split)
    columns = shown_columns(whole)
    rows = list(group_rows(groups, whole, columns))
    changes: dict[str, Change] = {}
    all_columns = [*key_columns(by), *columns]
    if EPOCH in by:
        told = _series(counted, by, compared, field, options, noise, pool)
        found = {name: change_over_epochs(one, people=options.people) for name, one in told.items()}
        changes = {name: one for name, one in found.items() if one is not None}
        all_columns.append(Column("smoothed", "share"))
        rows = _with_lines(rows, all_columns, by, told)
    first, *others = changes.values() or (None,)
    more: dict[str, object] = {"by": by[0] if len(by) == 1 else list(by)}
    more |= {"groups": [group.as_json() for group in groups]}
    more |= {"change": None if first is None or others else first.as_json()}
    if others:
        more["changes"] = {name: one.as_json() for name, one in changes.items()}
    sentences = [
        change_sentence(one, name, counted.question.epoch) for name, one in changes.items()
    ]
    about = replace(whole.about, kind="trend" if EPOCH in by else "groups", more=more)
    about = replace(about, what=(*about.what, *sentences))
    agree = [note for note in whole.notes if "pooled" in note]
    notes = [*agree, *_about_change(changes, options), *whole.notes[-2:]]
    form: dict[str, Any] = {"picture": lines, "described": described, "caption": caption}
    stamps = tuple(one for one in whole.stamps if one.name != "n")
    form |= {"stamps": stamps, "words": Words(learned=tuple(sentences))}
    return Table.of(about, all_columns, rows, notes=tuple(notes), **form)


def _series(
    counted: AnyCounts,
    by: Sequence[str],
    compared: Make,
    field: Field,
    options: Options,
    noise: OneReport | None,
    pool: Pool | None,
) -> dict[str, Groups]:
    """Return the epochs of every value of the segment that is asked for, or of all reports."""
    segments = [name for name in by if name != EPOCH]
    parts = counted.by_segment(segments[0]) if segments else {"": counted}
    series = {}
    for name, part in parts.items():
        whole, groups = compared(part), groups_by(part, [EPOCH], compared)
        if groups:
            series[name] = as_groups(groups, whole, field, options, noise, pool)
    return series


def _with_lines(
    rows: list[tuple[Cell, ...]],
    columns: Sequence[Column],
    by: Sequence[str],
    series: dict[str, Groups],
) -> list[tuple[Cell, ...]]:
    """Return the rows with the smoothed line behind."""
    places = {column.name: i for i, column in enumerate(columns)}
    labels = [
        i
        for i, column in enumerate(columns)
        if column.kind == "label" and column.name not in ("from", "to", *by)
    ]
    segment = next((places[name] for name in by if name != EPOCH), None)
    level = {name: smoothed(groups) for name, groups in series.items()}
    found = []
    for row in rows:
        of = "" if segment is None else str(row[segment])
        name = ", ".join(str(row[i]) for i in labels)
        found.append((*row, level[of].get((cast(int, row[places[EPOCH]]), name))))
    return found


def noise_of(
    counted: AnyCounts, field: Field, listed: Sequence[str] | None, whole: Table
) -> OneReport | None:
    """Return the noise of one report, in the order of a table's rows.

    Edge cases: None of strings, sets and profiles, whose answers are tested one by one, and of
    more than MOST_TESTED answers.
    """
    if isinstance(field.domain, Sets | StringSets | Profile) or field.domain.size is None:
        return None
    if (one := alone(counted)) is None:  # levels and versions: every group's own (`as_groups`)
        return None
    counted, question = one, one.question
    mechanism = mechanism_of(field, question.absent)
    absent = has_absent(field.domain, question.absent)
    names = require_candidates(question, field, listed)
    found = mechanism.estimate(
        counted.counts[field.name], asked_of(mechanism, names, field, absent)
    )
    if found.covariance is None or found.frequency.size > MOST_TESTED:
        return None
    if not np.isfinite(found.covariance).all():
        return None
    label = {name: i for i, name in enumerate(labels_of(found.candidates, field, absent))}
    order = [label[value] for value in whole.column("value")]
    held = np.clip(found.frequency, 0.0, 1.0)
    supported = None if found.chances is None else found.chances.supported(held)[order]
    return OneReport(found.n * found.covariance[np.ix_(order, order)], supported)


def _about_change(changes: dict[str, Change], options: Options) -> list[str]:
    if not changes:
        return []
    few = any(change.few for change in changes.values())
    notes = [TOO_FEW] if few else []
    notes.append(SAME if options.people == "same" and not few else UNRELATED)
    if any(change.alone for change in changes.values()):
        notes.append(
            "Answers were tested one by one, and the least p-value counts as many times as there "
            "are answers (Bonferroni)."
        )
    return notes


DIFFERENT_EPOCHS = (
    "Whether the epochs differ was not tested: the versions have epochs of different lengths."
)


def _different_epochs(counted: AnyCounts) -> bool:
    return len({part.question.epoch for part in parts_of(counted)}) > 1


def change_note(
    counted: AnyCounts, field: Field, listed: Sequence[str] | None, options: Options
) -> list[str]:
    """Return what a pooled table says about its epochs: that they differ, and by how much.

    Edge cases: nothing where there is one epoch, or no difference that chance does not explain.
    """
    counted = agreeing(counted, field)
    if len(counted.epochs) < 2 or isinstance(field.domain, Profile):
        return []
    answers = len(listed) if listed is not None else field.domain.size or 0
    if _different_epochs(counted):
        return [DIFFERENT_EPOCHS]
    if not counted.cells or len(counted.epochs) > MOST_SILENT or answers > MOST_SILENT:
        return ["Whether the epochs differ was not tested here: --by epoch does."]

    def compared(part: AnyCounts) -> Table:
        return any_table(part, field, listed, of_population(options), points=False)

    whole = compared(counted)
    groups: list[Group] = groups_by(counted, [EPOCH], compared)
    noise, pool = noise_of(counted, field, listed, whole), pool_of(counted, field, listed, options)
    series = as_groups(groups, whole, field, options, noise, pool)
    change = change_over_epochs(series, people=options.people)
    if change is None:
        return []
    told = change_sentence(change, "", counted.question.epoch)
    if change.p_value >= 0.05:
        return [f"No change over these epochs is to be seen (p = {p_text(change.p_value)})."]
    return [f"{told} The pooled shares are means over changing ones: look at --by epoch."]
