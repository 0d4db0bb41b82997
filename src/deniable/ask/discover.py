"""Strings nobody listed, as a table that people read: from the reports in a store.

store -> accumulate -> counts -> discover -> table

The n-grams of [FPE16] are looked at in pairs, which counts do not hold: there the reports
themselves are read, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

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
from deniable.ask.options import DEFAULTS, Options
from deniable.decode.significance import half_width
from deniable.discover import Discovery, Found
from deniable.discover import discover as discover_prefixes
from deniable.discover.ngrams.discovery import discover_ngrams
from deniable.engines.local import Accumulated
from deniable.engines.records import read_field
from deniable.errors import InvalidParameter
from deniable.mechanisms import Counts, Mechanism, NGrams, Prefixes, mechanism_for
from deniable.mechanisms.base import Reports
from deniable.protocol import (
    ABSENT,
    Field,
    NGramsParameters,
    PrefixesParameters,
    Question,
    Strings,
)
from deniable.results.table import LEVEL, About, Cell, Column, Table, Tables
from deniable.results.table.text import percent
from deniable.store.base import Store

OF_FOUND = (
    "The attacked interval is about the shares of what was found. Crafted reports can also keep a "
    "string from being found, or bring one in that nobody holds."
)


FOUND_COLUMNS = (*COLUMNS, Column("uncorrected", "p_value"))
LEVEL_COLUMNS = tuple(Column(name, "count", name) for name in ("n", "tested", "kept"))


def is_discovered(field: Field) -> bool:
    """Tell whether a field's strings are found, not listed."""
    return isinstance(field.parameters, PrefixesParameters | NGramsParameters)


def discover(store: Store, question: Question, options: Options = DEFAULTS) -> Tables:
    """Return the strings that were found, a table for each field of a question that is searched.

    Guarantees: reads the store only; doing it again costs nobody any privacy.

    Args:
        store: where the reports are.
        question: the question, with the version that is wanted.
        options: this reads `fields`, `beam`, `search` and `attackers`.

    Raises:
        InvalidParameter: if the question has no such field, or `attackers` is no share from 0 to 1.
        StoreError: if the store cannot be read.
    """
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
    accumulated: Accumulated, field: Field, store: Store, options: Options = DEFAULTS
) -> Table:
    """Return the strings of one field, from counts that are there already.

    Its parts are `levels`, where strings were grown, and `tree`, the beginnings that they grew
    from. The store is read again only for n-grams.

    Raises:
        InvalidParameter: if the field's strings are not found from reports.
    """
    question = accumulated.question

    def reports() -> Reports:
        epochs = {"first_epoch": options.first_epoch, "last_epoch": options.last_epoch}
        return read_field(store, question, field.name, **epochs)

    found = _found(accumulated, field, reports, options)
    rows = [_row(row) for row in found.rows if row.storey or row.holm]
    mechanism, counts = mechanism_for(field.parameters), accumulated.counts[field.name]
    if question.absent and counts.n:
        rows.append(_absent_row(mechanism, counts))
    about = about_of(
        accumulated,
        field,
        "discovery",
        expected_false=found.expected_false,
        unlisted=None,
        tested=len(found.rows),
        verifiers=found.verifiers,
        learnable=found.learnable,
    )
    notes, parts = _notes(accumulated, found), _parts(about, found)
    table = shares_table(about, rows, notes, FOUND_COLUMNS, parts=parts)
    return finished(table, field, options.attackers, OF_FOUND)


def _found(
    accumulated: Accumulated, field: Field, reports: Callable[[], Reports], options: Options
) -> Discovery:
    mechanism, domain = mechanism_for(field.parameters), field.domain
    absent, progress = accumulated.question.absent, options.stage("finding")
    if isinstance(mechanism, Prefixes) and isinstance(domain, Strings):
        counts, beam = accumulated.counts[field.name], options.beam
        return discover_prefixes(
            mechanism, counts, domain, beam=beam, absent=absent, progress=progress
        )
    if isinstance(mechanism, NGrams) and isinstance(domain, Strings):
        search = options.search
        return discover_ngrams(
            mechanism, reports(), domain, search=search, absent=absent, progress=progress
        )
    raise InvalidParameter(f"The strings of field {field.name!r} are not found from reports.")


def _parts(about: About, found: Discovery) -> dict[str, Table]:
    """Return the levels and the tree of grown strings; empty if found without levels."""
    if not found.levels and found.rows:
        return {}
    levels = [(level.n, level.tested, len(level.kept)) for level in found.levels]
    return {"levels": Table.of(about, LEVEL_COLUMNS, levels), "tree": tree_of(about, found)}


def _absent_row(mechanism: Mechanism, counts: Counts) -> Sequence[Cell]:
    """Return the share of reports without an answer: known beforehand, and so not tested."""
    estimate = mechanism.estimate(counts, [ABSENT])
    share, error = float(estimate.frequency[0]), float(estimate.std_error[0])
    wide = half_width(LEVEL, math.inf) * error
    return (*answer_row(ABSENT_LABEL, share, error, (share - wide, share + wide)), None)


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
    if found.rows and not (found.found or found.likely):
        notes.append("No string stands out from the noise.")
    if found.rows:
        notes.append(
            f"{len(found.rows):,} strings were tested on the {found.verifiers:,} people "
            f"{'of the verification group' if found.levels else 'who all report whole strings'}; "
            "p-values are corrected for all of them (Holm)."
        )
    if math.isfinite(found.learnable):
        notes.append(
            f"Not learnable: a string that {percent(found.learnable, found.learnable / 10)} of the "
            "people hold would have been found about half of the time, rarer ones hardly ever."
        )
    if accumulated.ignored:
        notes.append(
            f"{accumulated.ignored:,} reports carry another digest and were not counted: the "
            "question was changed without a new version."
        )
    if accumulated.question.repeat == "epoch" and len(accumulated.epochs) > 1:
        notes.append(
            "The same devices may have reported in several epochs, always in the same group."
        )
    return notes
