"""Which reports of a question are asked about, and under which name each of them is seen.

Every reader of a store goes through `selected`: a combination of segments with fewer reports than
the floor is called "(small)" before anything is counted, shown or written, also while its epoch is
open, so that no sum and no difference of views shows it (`store/small.py` has the rule).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from deniable._validate import nearest
from deniable.errors import InvalidParameter
from deniable.protocol import Question
from deniable.protocol.segments import SMALL, small_combination
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store.base import Batch, Chunk, Store, Tally
from deniable.store.small import masked


@dataclass(frozen=True)
class Selection:
    """Some reports of a question.

    Attributes:
        first_epoch, last_epoch: leave out the epochs before and after these.
        where: a value for some segments; only reports that carry them.
        floor: the fewest reports of a combination that is told apart.
    """

    first_epoch: int | None = None
    last_epoch: int | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    floor: int = DEFAULT_FLOOR

    def takes(self, epoch: int, segments: str) -> bool:
        """Tell whether reports of an epoch under the text of a combination are asked about."""
        if self.first_epoch is not None and epoch < self.first_epoch:
            return False
        if self.last_epoch is not None and epoch > self.last_epoch:
            return False
        if not self.where:
            return True
        told = json.loads(segments) if segments else {}
        return all(told.get(name) == value for name, value in self.where.items())

    def check(self, question: Question) -> None:
        """Refuse a segment or a value that the question does not have.

        Raises:
            InvalidParameter: naming what it has.
        """
        for name, value in self.where.items():
            known = segment_labels(question, name)
            if value not in known:
                raise InvalidParameter(
                    f"Segment {name!r} of question {question.id!r} has no value {value!r:.80}."
                    f"{nearest(value, known)} It has: {', '.join(known)}."
                )


ALL = Selection()
"""Every report of a question."""


def segment_labels(question: Question, name: str) -> tuple[str, ...]:
    """Return the values of one of a question's segments, "(small)" last.

    Raises:
        InvalidParameter: if the question has no such segment.
    """
    for segment in question.segments:
        if segment.name == name:
            return (*segment.labels, SMALL)
    known = [segment.name for segment in question.segments]
    raise InvalidParameter(
        f"Question {question.id!r} has no segment {name!r:.80}.{nearest(name, known)} "
        + (f"It has: {', '.join(known)}." if known else "Its reports carry none.")
    )


def selected(
    store: Store,
    question: Question,
    selection: Selection = ALL,
    known: Collection[tuple[int, str]] = (),
) -> Iterator[Chunk]:
    """Yield the chunks that are asked about, each under the name that may be seen.

    Leaves out the (epoch, name) that are `known`.

    Chunks of other digests are yielded as they are, for the caller to count or to leave out.

    Raises:
        InvalidParameter: if the question has no such segment or value.
        StoreError: if the store cannot be read.
    """
    selection.check(question)
    names = seen_as(store.tallies(), question, selection.floor) if question.segments else {}
    epochs = selection.first_epoch, selection.last_epoch
    for chunk in store.read(question.id, question.version, *epochs):
        batch = chunk.batch
        if batch.digest == question.digest:
            # A combination that came after the look at the tallies is as good as small.
            name = names.get(batch) or (batch.segments and small_combination(batch.segments))
            if not selection.takes(batch.epoch, name) or (batch.epoch, name) in known:
                continue
            if name != batch.segments:
                chunk = replace(chunk, batch=replace(batch, segments=name))
        yield chunk


def seen_as(tallies: Iterable[Tally], question: Question, floor: int) -> dict[Batch, str]:
    """Return the name under which each batch of a question is seen.

    Batches of one epoch are judged together, real and simulated ones apart: whoever can repeat a
    simulation can take its reports away again.
    """
    epochs: dict[tuple[int, bool], dict[Batch, int]] = defaultdict(dict)
    for tally in tallies:
        if tally.batch.question == question.id and tally.batch.digest == question.digest:
            epochs[tally.batch.epoch, tally.batch.simulated][tally.batch] = tally.reports
    names: dict[Batch, str] = {}
    for batches in epochs.values():
        shown = masked({batch.segments: number for batch, number in batches.items()}, floor)
        names |= {batch: shown[batch.segments] for batch in batches}
    return names
