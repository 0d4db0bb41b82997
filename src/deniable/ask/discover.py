"""Strings nobody listed, as a table that people read: from the reports in a store.

store -> accumulate -> counts -> discover -> table

The n-grams of [FPE16] are looked at in pairs, which counts do not hold: there the reports
themselves are read, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from deniable._words import plural
from deniable.ask.beginnings import tree_of
from deniable.ask.estimate import (
    ABSENT_LABEL,
    COLUMNS,
    about_of,
    answer_row,
    chosen,
    finished,
    shares_table,
)
from deniable.ask.intervals import of_note, reading_of
from deniable.ask.options import DEFAULTS, Options, Source, store_of
from deniable.ask.several import NAME_ONE, AnyCounts, Asked, alone, newest, only
from deniable.ask.string_sets import has_absent, of_people
from deniable.decode.reading import Reading, read
from deniable.discover import Discovery, Found
from deniable.discover import discover as discover_prefixes
from deniable.discover.ngrams.discovery import discover_ngrams
from deniable.engines.accumulated import Accumulated
from deniable.engines.records import read_field
from deniable.errors import InvalidParameter
from deniable.mechanisms import Counts, Mechanism, NGrams, Prefixes, mechanism_for
from deniable.mechanisms.base import Reports
from deniable.protocol import (
    ABSENT,
    Field,
    Question,
    Strings,
    StringSets,
)
from deniable.results.table import LEVEL, About, Cell, Column, Table, Tables
from deniable.results.table.text import limit_sentence

OF_FOUND = (
    "The second interval is about the shares of what was found. Crafted reports can also keep a "
    "string from being found, or bring one in that nobody holds."
)


NOT_POOLED = (
    "Strings are searched for in the reports of one level of one version: others split people and "
    "strings in another way."
)


def instead(question: Question) -> str:
    """Return what to do where several levels or versions are asked about."""
    return (
        f"{NAME_ONE} The strings that it finds can be estimated from all of them: deniable "
        f"estimate {question.id} --candidates FILE"
    )


FOUND_COLUMNS = (*COLUMNS, Column("uncorrected", "p_value"))
LEVEL_COLUMNS = tuple(Column(name, "count", name) for name in ("n", "tested", "kept"))


def is_discovered(field: Field) -> bool:
    """Tell whether a field's strings are found, not listed."""
    return field.parameters.finds


def discover(store: Source, asked: Asked, options: Options = DEFAULTS) -> Tables:
    """Return the strings that were found, a table for each field of a question that is searched.

    Guarantees: reads the store only; doing it again costs nobody any privacy.

    Args:
        store: where the reports are, or their counts.
        asked: the question, with the version and the level that are wanted.
        options: this reads `fields`, `beam`, `search`, `of`, `interval` and `crafted`.

    Raises:
        InvalidParameter: if the question has no such field, `crafted` is no share from 0 to 1, or
            several levels or versions are asked about.
        StoreError: if the store cannot be read.
    """
    question = only(asked, NOT_POOLED, instead(newest(asked)))
    fields = [field for field in chosen(question, options.fields) if is_discovered(field)]
    if not fields:
        raise InvalidParameter(
            f"Question {question.id!r} has no strings to discover.",
            'Ask it with mechanism = "prefixes" or "ngrams"; estimate what is listed with '
            "deniable estimate.",
        )
    counted = options.counted(store, question)
    return Tables(found_table(counted, field, store, options) for field in fields)


def found_table(
    counted: AnyCounts, field: Field, store: Source, options: Options = DEFAULTS
) -> Table:
    """Return the strings of one field, from counts that are there already.

    Its parts are `levels`, where strings were grown, and `tree`, the beginnings that they grew
    from. The store is read again only for n-grams.

    Raises:
        InvalidParameter: if the field's strings are not found from reports, or they are of several
            levels or versions.
    """
    accumulated = alone(counted)
    if accumulated is None:
        raise InvalidParameter(NOT_POOLED, instead(counted.question))
    question = accumulated.question

    def reports() -> Reports:
        there = store_of(store, "n-grams are looked at in pairs, which only reports hold")
        return read_field(there, question, field.name, options.selection)

    found = found_strings(accumulated, field, reports, options)
    rows = [_row(row) for row in found.rows if row.storey or row.holm]
    mechanism, counts = mechanism_for(field.parameters), accumulated.counts[field.name]
    if has_absent(field.domain, question.absent) and counts.n:
        reading = reading_of(options, question, field, accumulated.epochs)
        rows.append(_absent_row(mechanism, counts, reading))
    about_sets: list[str] = []
    if isinstance(field.domain, StringSets) and counts.n:
        rows, about_sets = of_people(rows, field.domain)
        most, of_draws = field.domain.most, found
        found = replace(found, limit=lambda: most * of_draws.learnable)
    about = about_of(
        accumulated,
        field,
        "discovery",
        expected_false=found.expected_false,
        unlisted=None,
        tested=len(found.rows),
        verifiers=found.verifiers,
        limit=found.learnable,
    )
    about = replace(about, of=options.of)
    notes = [*about_sets, *_notes(accumulated, found), of_note(options.of)]
    parts = _parts(about, found)
    table = shares_table(about, rows, notes, FOUND_COLUMNS, parts=parts)
    return finished(table, field, options.crafted, OF_FOUND)


def found_strings(
    accumulated: Accumulated, field: Field, reports: Callable[[], Reports], options: Options
) -> Discovery:
    """Return what a field's own search finds; `reports` is called where counts are not enough.

    Raises:
        InvalidParameter: if the field's strings are not found from reports.
    """
    mechanism, domain = mechanism_for(field.parameters), field.domain
    absent = has_absent(domain, accumulated.question.absent)
    progress = options.stage("finding")
    reading = reading_of(options, accumulated.question, field, accumulated.epochs)
    # Each of the two searches is an algorithm for one mechanism.
    if isinstance(mechanism, Prefixes) and isinstance(domain, Strings):
        counts, beam = accumulated.counts[field.name], options.beam
        return discover_prefixes(
            mechanism,
            counts,
            domain,
            beam=beam,
            absent=absent,
            progress=progress,
            reading=reading,
            accepts=options.search.accepts if options.search else None,
        )
    # n-grams need the reports themselves.
    if isinstance(mechanism, NGrams) and isinstance(domain, Strings):
        search = options.search
        return discover_ngrams(
            mechanism,
            reports(),
            domain,
            search=search,
            absent=absent,
            progress=progress,
            reading=reading,
        )
    raise InvalidParameter(f"The strings of field {field.name!r} are not found from reports.")


def _parts(about: About, found: Discovery) -> dict[str, Table]:
    """Return the levels and the tree of grown strings; empty if found without levels."""
    if not found.levels and found.rows:
        return {}
    levels = [(level.n, level.tested, len(level.kept)) for level in found.levels]
    return {"levels": Table.of(about, LEVEL_COLUMNS, levels), "tree": tree_of(about, found)}


def _absent_row(mechanism: Mechanism, counts: Counts, reading: Reading) -> Sequence[Cell]:
    """Return the share of reports without an answer: known beforehand, and so not tested."""
    estimate = mechanism.estimate(counts, [ABSENT])
    shares = read(estimate, reading)
    ends = tuple(float(end[0]) for end in shares.interval(1 - LEVEL))
    share, error = float(estimate.frequency[0]), float(shares.std_error[0])
    return (*answer_row(ABSENT_LABEL, share, error, (ends[0], ends[1])), None)


def _row(row: Found) -> Sequence[Cell]:
    cells = answer_row(
        row.value,
        row.frequency,
        row.std_error,
        row.interval,
        z=row.frequency / row.std_error,
        p_value=row.corrected,
        holm=row.holm,
        storey=row.storey,
        selected_interval=row.selected_interval,
    )
    return (*cells, row.p_value)


def _notes(accumulated: Accumulated, found: Discovery) -> list[str]:
    notes = list(found.notes)
    if accumulated.n and not (found.found or found.likely):
        notes.append("No string stands out from the noise.")
    if found.rows:
        tested = plural(len(found.rows), "string was", "strings were")
        notes.append(
            f"{tested} tested on the {found.verifiers:,} people "
            f"{'of the verification group' if found.levels else 'who all report whole strings'}; "
            "p-values are corrected for all of them (Holm)."
        )
    if math.isfinite(found.learnable):
        notes.append(limit_sentence(found.learnable))
    notes += accumulated.ignored_words
    if accumulated.question.repeat == "epoch" and len(accumulated.epochs) > 1:
        notes.append(
            "The same devices may have reported in several epochs, always in the same group."
        )
    return notes
