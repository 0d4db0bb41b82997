"""The shares of a question over all the epochs that are asked about, and whether these differ.

store -> accumulate -> counts -> decode -> table
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from deniable.ask.candidates import candidates_for, is_open, require_candidates
from deniable.ask.estimate import chosen
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.over_time import change_note
from deniable.ask.several import AnyCounts, Asked, newest
from deniable.ask.together import any_table
from deniable.errors import InvalidParameter
from deniable.protocol import Field, Question
from deniable.results.table import Table, Tables


def estimate(store: Source, asked: Asked, options: Options = DEFAULTS) -> Tables:
    """Return a table of shares per field of a question, in the question's order.

    Guarantees: frequencies are unbiased; 95% intervals have a coverage of at least 95%, also where
    the same devices report in several epochs.

    Cost: linear in the reports, then that of the mechanism's estimate.

    Args:
        store: where the reports are, or their counts.
        asked: the question with the version that is wanted, or several levels and versions of it.
        options: this reads `fields`, `candidates`, `folder`, `of`, `interval`, `confidence`,
            `decoder`, `truth`, `people` and `crafted`.

    Raises:
        InvalidParameter: if a field of strings has no candidates, or a name is unknown.
        StoreError: if the store cannot be read.
    """
    question = newest(asked)
    fields = chosen(question, options.fields)
    known = {**candidates_for(question, options.folder), **options.candidates}
    lists = {f.name: require_candidates(question, f, known.get(f.name)) for f in fields}
    _check_names(question, known)
    counted = options.counted_all(store, asked)
    return Tables(pooled_table(counted, f, lists[f.name], options) for f in fields)


def pooled_table(
    counted: AnyCounts,
    field: Field,
    listed: Sequence[str] | None = None,
    options: Options = DEFAULTS,
) -> Table:
    """Return the table of one field over all epochs, with a sentence on whether these differ.

    Raises:
        InvalidParameter: if the field takes strings and there are no candidates.
    """
    table = any_table(counted, field, listed, options)
    told = change_note(counted, field, listed, options)
    return replace(table, notes=(*told, *table.notes))


def _check_names(question: Question, known: Mapping[str, Sequence[str]]) -> None:
    open_fields = {field.name for field in question.fields if is_open(field)}
    if not known.keys() <= open_fields:
        wrong = ", ".join(sorted(known.keys() - open_fields))
        raise InvalidParameter(
            f"Candidates belong to fields of strings. Question {question.id!r} has no such field "
            f"{wrong!r:.80}: leave it out."
        )
