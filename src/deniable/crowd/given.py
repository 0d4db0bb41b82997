"""People whose true answers somebody has: from columns of values to the reports of their devices.

Guarantees: no value reaches a store, a message or a repr; of values outside of a domain the rows
are named. Reports are drawn from the operating system's randomness unless a seed is given, and no
seed is ever written to the store: whoever knew it could take the noise off again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable._validate import nearest
from deniable.crowd.cells import Cell, draw_cells
from deniable.crowd.cells_read import answer_codes, answers_read, cells_read
from deniable.crowd.columns import Columns, is_missing
from deniable.crowd.population import Answers, Population
from deniable.errors import InvalidParameter, StoreError
from deniable.mechanisms.base import Codes
from deniable.protocol import Domain, Profile, Question, Strings
from deniable.protocol.profile_domain import Perhaps
from deniable.protocol.question import WHOLE
from deniable.protocol.segments import own_combination
from deniable.store import Batch, Store


@dataclass(frozen=True, repr=False)
class Given:
    """The true answers of given people; its repr shows none of them.

    Attributes:
        population: those who answer.
        segments: the text of each one's segments, where columns say them; else empty.
        notes: sentences about missing values.
    """

    population: Population
    segments: tuple[str, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Given({self.population.people:,} people)"


def wanted_columns(question: Question) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the names that each column of a question may have, by field and attribute."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for field in question.fields:
        if isinstance(field.domain, Profile):
            for name in field.domain.names:
                found[field.name, name] = (f"{question.id}.{name}", name)
        elif question.plain:
            found[field.name, ""] = (question.id, "value")
        else:
            found[field.name, ""] = (f"{question.id}.{field.name}", field.name)
    return found


def given_people(question: Question, columns: Columns, rng: np.random.Generator) -> Given:
    """Return the true answers to a question of the people in some columns.

    A missing value is the absent answer where the question has one, `unknown` where an attribute
    has that; else the person sends no report, which the notes say.

    Args:
        question: whose fields or attributes have a column each: under their names, or under
            "question.name"; that of a plain question under the question's id, or "value".
        columns: the values.
        rng: draws the members of sets of strings that are larger than their places.

    Raises:
        InvalidParameter: if a column is missing, or has values outside of the domain.
    """
    found = {
        key: _column(question, names, columns) for key, names in wanted_columns(question).items()
    }
    read = {key: _read(question, key, name, columns[name]) for key, name in found.items()}
    notes = [*_missing(question, found, columns)]
    answering = np.all([[one is not None for one in cells] for cells in read.values()], axis=0)
    kept = np.flatnonzero(answering)
    if not kept.size:
        raise InvalidParameter(f"Nobody has a value for every column of {question.id!r}.")
    answers: dict[str, Answers] = {}
    codes: dict[str, Codes] = {}
    for field in question.fields:
        if isinstance(field.domain, Profile):
            names = field.domain.names
            answers[field.name] = list(names)
            told = [[read[field.name, name][i] for name in names] for i in kept.tolist()]
            codes[field.name] = np.array(told, dtype=np.int64)
        else:
            one = [read[field.name, ""][i] for i in kept.tolist()]
            answers[field.name], codes[field.name] = answer_codes(field, question.absent, one, rng)
    labels = {segment.name for segment in question.segments}
    segments: tuple[str, ...] = ()
    if labels and labels <= columns.keys():
        segments = tuple(
            own_combination(question.segments, {name: str(columns[name][i]) for name in labels})
            for i in kept.tolist()
        )
    elif labels:
        notes.append(
            f"No columns say the segments of {question.id!r} ({', '.join(sorted(labels))}): people "
            "are drawn into them by the survey's shares."
        )
    return Given(Population(question, answers, codes), segments, tuple(notes))


def _column(question: Question, names: Sequence[str], columns: Columns) -> str:
    for name in names:
        if name in columns:
            return name
    if question.plain and len(columns) == 1:
        return next(iter(columns))
    raise InvalidParameter(
        f"Question {question.id!r} needs a column {names[0]!r:.80}.{nearest(names[0], columns)}",
        f"The columns are: {', '.join(columns):.200}. It may be called "
        f"{' or '.join(map(repr, names))}.",
    )


def _read(question: Question, key: tuple[str, str], name: str, column: Sequence[Any]) -> list[Any]:
    """Return the answers of a column, or of an attribute its codes; None where one is missing."""
    field = next(one for one in question.fields if one.name == key[0])
    if not isinstance(field.domain, Profile):
        return answers_read(field, question.absent, column, name)
    domain = dict(field.domain.attributes)[key[1]]
    known, lacking = domain, None
    if isinstance(domain, Perhaps):
        known, lacking = domain.known, len(domain.known.labels)
    return cells_read(column, name, known, known.code, lacking)


def _missing(
    question: Question, found: Mapping[tuple[str, str], str], columns: Columns
) -> Iterator[str]:
    """Yield a sentence for each column with missing values, with their consequence."""
    for (field, attribute), name in found.items():
        lacking = sum(map(is_missing, columns[name]))
        domain = next(one.domain for one in question.fields if one.name == field)
        known = isinstance(domain, Profile) and isinstance(
            dict(domain.attributes)[attribute], Perhaps
        )
        means = "count as unknown" if known else "send no report"
        if question.absent and not attribute:
            means = "count as absent"
        if lacking:
            yield f"{lacking:,} of {len(columns[name]):,} people lack {name!r:.80} and {means}."


def known_truth(
    given: Given, candidates: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return the true shares by field; of strings only those of candidates, which are public."""
    found = {}
    for field in given.population.question.fields:
        shares = given.population.truth(field.name)
        if is_open(field.domain):
            listed = candidates.get(field.name, ())
            shares = {text: shares.get(text, 0.0) for text in listed}
        found[field.name] = shares
    return found


def is_open(domain: Domain) -> bool:
    """Tell whether the answers of a domain are strings that it does not list."""
    return isinstance(domain, Strings)


def write_given(
    store: Store,
    levels: Sequence[Question],
    given: Given,
    rng: np.random.Generator,
    epoch: int,
    advance: Callable[[int], None] = lambda _: None,
    *,
    among_real: bool = False,
) -> Sequence[Cell]:
    """Write the reports of given people to a store, marked as simulated; return their cells.

    Raises:
        StoreError: if the store has simulated reports to the question already, or real reports and
            `among_real` is not given.
    """
    for each in levels:
        if any(t.batch.simulated and t.batch.digest == each.digest for t in store.tallies()):
            raise StoreError(
                f"The store has simulated reports to {each.id!r} already, and the same people "
                "would be counted twice. Take them out first: deniable simulate --remove"
            )
    for each in levels:
        batch = Batch(each.id, each.version, each.digest, epoch, simulated=True)
        # The note's number is drawn for itself: a seed in the store would take the noise off.
        people, number = given.population.people, secrets.randbits(62)
        store.begin_simulation(batch, number, people, among_real=among_real)
    cells = _cells(levels, given, rng)
    for cell in cells:
        crowd = given.population.of(cell.question, cell.people)
        for done, records in crowd.records(rng):
            store.append_records(cell.batch(epoch), records, cell.question.record_size)
            advance(done)
    return cells


def _cells(levels: Sequence[Question], given: Given, rng: np.random.Generator) -> list[Cell]:
    """Return the people by level, which is drawn, and segments, where columns say them."""
    people = given.population.people
    if not given.segments:
        return draw_cells(levels, people, rng)
    shares = [level.share / WHOLE for level in levels] if len(levels) > 1 else [1.0]
    drawn = rng.choice(len(levels), size=people, p=shares)
    members: dict[tuple[int, str], list[int]] = {}
    for person, (level, text) in enumerate(zip(drawn.tolist(), given.segments, strict=True)):
        members.setdefault((level, text), []).append(person)
    return [
        Cell(levels[level], text, np.array(numbers))
        for (level, text), numbers in sorted(members.items())
    ]
