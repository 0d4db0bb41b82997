"""Strings nobody listed, as a result that people read: from the reports in a store.

store -> accumulate -> counts -> discover -> result

The n-grams of [FPE16] are looked at in pairs, which counts do not hold: there the reports
themselves are read, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from deniable.decode.significance import half_width
from deniable.discover import Discovery, Found, discover
from deniable.discover.ngrams.discovery import Search, discover_ngrams
from deniable.discover.prefixes.growth import Progress
from deniable.engines.local import Accumulated, accumulate
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
from deniable.protocol.epsilon import as_float
from deniable.protocol.prefixes_plan import BEAM
from deniable.results.attackers import with_attackers
from deniable.results.discovery_tree import Branch, tree_of
from deniable.results.intervals import LEVEL
from deniable.results.result import ABSENT_LABEL, Epochs, Result, Row
from deniable.results.words import percent
from deniable.store.base import Store

OF_FOUND = (
    "The attacked interval is about the shares of what was found. Crafted reports can also keep a "
    "string from being found, or bring one in that nobody holds."
)


@dataclass(frozen=True)
class Discovered:
    """A result with what it was grown from.

    Attributes:
        result: the strings that were found, with estimates, intervals and corrected p-values.
        discovery: everything else that is known.
    """

    result: Result
    discovery: Discovery

    @property
    def tree(self) -> tuple[Branch, ...]:
        """How the strings that were found grew; empty where they were put together otherwise."""
        grown = self.discovery.levels or not self.discovery.rows
        return tree_of(self.discovery) if grown else ()

    def as_json(self) -> dict[str, object]:
        """Return the discovery as spec/schemas/discovery.json describes it; never NaN."""
        found = self.discovery
        tests = {row.value: _test(row) for row in found.rows}
        untested = {"p_value": None, "corrected": None}
        rows = [
            {**row.as_json(), **(untested if row.holm is None else tests[row.value])}
            for row in self.result.rows
        ]
        levels = [
            {"n": level.n, "tested": level.tested, "kept": len(level.kept)}
            for level in found.levels
        ]
        return {
            **self.result.as_json(),
            "rows": rows,
            "tested": len(found.rows),
            "verifiers": found.verifiers,
            "learnable": found.learnable if math.isfinite(found.learnable) else None,
            "levels": levels,
            "tree": [branch.as_json() for branch in self.tree],
        }


def _test(row: Found) -> dict[str, object]:
    return {"p_value": row.p_value, "corrected": row.corrected}


def is_discovered(field: Field) -> bool:
    """Tell whether a field's strings are found, not listed."""
    return isinstance(field.parameters, PrefixesParameters | NGramsParameters)


def discover_question(
    store: Store,
    question: Question,
    *,
    field: str | None = None,
    beam: int = BEAM,
    search: Search | None = None,
    first_epoch: int | None = None,
    last_epoch: int | None = None,
    attackers: float | None = None,
    threads: int | None = None,
    counting: Progress | None = None,
    progress: Progress | None = None,
) -> list[Discovered]:
    """Return what was found for each field of a question whose strings are grown.

    Guarantees: reads the store only; doing it again costs nobody any privacy.

    Args:
        store: where the reports are.
        question: the question, with the version that is wanted.
        field: only this field.
        beam: how many beginnings each level keeps, where strings are grown.
        search: how candidates are searched for, where they are put together from n-grams.
        first_epoch: leave out the epochs before this one.
        last_epoch: leave out the epochs after this one.
        attackers: the share of reports that may be crafted; adds a second error bar.
        threads: how many count at once; one per processor unless said.
        counting: called with the reports counted and their number, before anything is grown.
        progress: called with the levels, or pairs of places, done and their number.

    Raises:
        InvalidParameter: if the question has no such field, or `attackers` is no share from 0 to 1.
        StoreError: if the store cannot be read.
    """
    fields = [f for f in question.fields if is_discovered(f) and field in (None, f.name)]
    if not fields:
        raise InvalidParameter(
            f"Question {question.id!r} has no strings to discover.",
            'Ask it with mechanism = "prefixes" or "ngrams"; estimate what is listed with '
            "deniable estimate.",
        )
    counted = accumulate(
        store,
        question,
        first_epoch=first_epoch,
        last_epoch=last_epoch,
        threads=threads,
        progress=counting,
    )

    def reports_of(f: Field) -> Callable[[], Reports]:
        return lambda: read_field(
            store, question, f.name, first_epoch=first_epoch, last_epoch=last_epoch
        )

    found = [
        discovered(counted, f, reports=reports_of(f), beam=beam, search=search, progress=progress)
        for f in fields
    ]
    if attackers is None:
        return found
    return [_attacked(one, f, attackers) for one, f in zip(found, fields, strict=True)]


def _attacked(found: Discovered, field: Field, attackers: float) -> Discovered:
    """Return it with an attacked interval for every string that was found."""
    result = with_attackers(found.result, field, attackers)
    return replace(found, result=replace(result, notes=(*result.notes, OF_FOUND)))


def discovered(
    accumulated: Accumulated,
    field: Field,
    *,
    reports: Callable[[], Reports] | None = None,
    beam: int = BEAM,
    search: Search | None = None,
    progress: Progress | None = None,
) -> Discovered:
    """Return what counts that are there already say about one field.

    Args:
        accumulated: the counts.
        field: one of the question's.
        reports: reads the field's reports; only n-grams need them.
        beam: as in `discover_question`.
        search: as in `discover_question`.
        progress: as in `discover_question`.

    Raises:
        InvalidParameter: if the field's strings are not found from reports.
    """
    mechanism, domain = mechanism_for(field.parameters), field.domain
    absent, counts = accumulated.question.absent, accumulated.counts[field.name]
    if isinstance(mechanism, Prefixes) and isinstance(domain, Strings):
        found = discover(mechanism, counts, domain, beam=beam, absent=absent, progress=progress)
    elif isinstance(mechanism, NGrams) and isinstance(domain, Strings) and reports is not None:
        found = discover_ngrams(
            mechanism, reports(), domain, search=search, absent=absent, progress=progress
        )
    else:
        raise InvalidParameter(f"The strings of field {field.name!r} are not found from reports.")
    result = _result(accumulated, field, found)
    if absent and counts.n:
        result = replace(result, rows=(*result.rows, _absent_row(mechanism, counts)))
    return Discovered(result, found)


def _absent_row(mechanism: Mechanism, counts: Counts) -> Row:
    """Return the share of reports without an answer: known beforehand, and so not tested."""
    estimate = mechanism.estimate(counts, [ABSENT])
    share, error = float(estimate.frequency[0]), float(estimate.std_error[0])
    wide = half_width(LEVEL, math.inf) * error
    return Row(ABSENT_LABEL, share, error, (share - wide, share + wide))


def _result(accumulated: Accumulated, field: Field, found: Discovery) -> Result:
    question, parameters = accumulated.question, field.parameters
    bounded = question.repeat in ("once", "permanent")
    epochs = accumulated.epochs
    return Result(
        question=question.id,
        version=question.version,
        field=field.name,
        description=question.description,
        domain=field.domain.kind,
        mechanism=parameters.mechanism,
        n=accumulated.n,
        simulated=accumulated.simulated,
        epsilon_once=as_float(parameters.epsilon_once),
        epsilon_forever=as_float(parameters.epsilon_once) if bounded else None,
        memoised=question.repeat == "permanent",
        epochs=Epochs(min(epochs), max(epochs), question.epoch) if epochs else None,
        rows=tuple(_row(row) for row in found.rows if row.storey or row.holm),
        expected_false=found.expected_false,
        notes=tuple(_notes(accumulated, found)),
    )


def _row(row: Found) -> Row:
    return Row(
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
