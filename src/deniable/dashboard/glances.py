"""Answers at a glance for the list of questions: computed one by one, kept, shown with their age.

A page never waits for them. It shows what is kept, however old, and one worker computes what is
missing or out of date behind it, one question after the other. What was computed also lies in the
store, beside the counts that are remembered there, so that a restart does not begin anew.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from deniable.ask import Options
from deniable.ask.glance import glance
from deniable.dashboard.overview import Summary
from deniable.errors import DeniableError, StoreError
from deniable.protocol import Question
from deniable.results.glance import Glance
from deniable.store import Store

FRESH = 60.0
"""Seconds for which an answer is kept though more reports have arrived."""
_FORMAT = 1


@dataclass(frozen=True)
class Kept:
    """A glance, and what it was made of: the number of reports, and the stamps of batches."""

    glance: Glance
    n: int
    stamps: frozenset[int]

    def whole(self, summary: Summary) -> bool:
        """Tell whether it was made of all that the store holds now."""
        return (self.n, self.stamps) == (summary.n, summary.stamps)

    def stands(self, summary: Summary) -> bool:
        """Tell whether all that it was made of is still there: nothing is shown of the rest."""
        return self.stamps <= summary.stamps and self.n <= summary.n


class Glances:
    """The answers of all questions at a glance, as far as they were computed.

    Guarantees: `look` computes nothing. One thread computes, one question at a time, at most once
    in `FRESH` seconds for each; it ends when nothing is left to do.
    """

    def __init__(
        self,
        store: Store,
        folder: Path,
        floor: int,
        make: Callable[[Store, Question, Options], Glance] = glance,
    ) -> None:
        self._store, self._make = store, make
        self._options = Options(threads=1, folder=folder, floor=floor)
        self._lock = threading.Lock()
        self._kept: dict[bytes, Kept] = {}
        self._read: set[bytes] = set()
        self._waiting: OrderedDict[bytes, Summary] = OrderedDict()
        self._doing: set[bytes] = set()
        self._busy = False

    def look(self, summaries: Iterable[Summary]) -> Mapping[bytes, Kept]:
        """Return what is known, by the questions' digests, and have the rest computed.

        Raises:
            StoreError: if the store cannot be read.
        """
        asked = [summary for summary in summaries if summary.n]
        self._read_kept(asked)
        now = time.time()
        with self._lock:
            for summary in asked:
                kept = self._kept.get(summary.question.digest)
                if kept is not None and not kept.stands(summary):
                    del self._kept[summary.question.digest]
                elif kept and (kept.whole(summary) or abs(now - kept.glance.made) < FRESH):
                    continue
                if summary.question.digest not in self._doing:
                    self._waiting[summary.question.digest] = summary
            if self._waiting and not self._busy:
                self._busy = True
                threading.Thread(target=self._work, name="deniable-glances", daemon=True).start()
            return dict(self._kept)

    def _read_kept(self, summaries: Iterable[Summary]) -> None:
        """Read what the store keeps of questions that were not looked at before."""
        with self._lock:
            new = {_key(s.question): s for s in summaries if s.question.digest not in self._read}
            self._read.update(summary.question.digest for summary in new.values())
        found = self._store.remembered(list(new)) if new else {}
        for key, data in found.items():
            with suppress(ValueError, KeyError, TypeError):  # damaged: computed again
                told = json.loads(data)
                kept = Kept(Glance.from_json(told["glance"]), told["n"], frozenset(told["stamps"]))
                with self._lock:
                    self._kept.setdefault(new[key].question.digest, kept)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._busy = False
                    return
                digest, summary = self._waiting.popitem(last=False)
                self._doing.add(digest)
            kept = Kept(self._made(summary), summary.n, summary.stamps)
            with self._lock:
                self._kept[digest] = kept
                self._doing.discard(digest)
            self._remember(summary.question, kept)

    def _made(self, summary: Summary) -> Glance:
        """Return the glance of a question; a problem is told in its place."""
        try:
            found = self._make(self._store, summary.question, self._options)
        except DeniableError as error:
            found = Glance(problem=str(error), n=summary.n)
        except Exception:  # a fault of one question must not end the worker of all
            found = Glance(problem="This could not be computed; its page says more.", n=summary.n)
        return replace(found, made=time.time())

    def _remember(self, question: Question, kept: Kept) -> None:
        """Keep a glance in the store; a store that cannot be written goes without.

        What it was made of may have been deleted meanwhile: then nothing is kept of it. Deleting
        forgets all glances, so that only one that was written afterwards must be looked at.
        """
        # No time: a number of reports with its moment would tell when reports arrived.
        timeless = replace(kept.glance, made=0.0).as_json()
        told = {"glance": timeless, "n": kept.n, "stamps": sorted(kept.stamps)}
        data = json.dumps(told, allow_nan=False).encode()
        with suppress(StoreError):
            key, batch = _key(question), -max(kept.stamps)
            self._store.remember({key: (batch, data)})
            if not kept.stamps <= {tally.stamp for tally in self._store.tallies()}:
                self._store.remember({key: (batch, b"")})  # read as nothing


def _key(question: Question) -> bytes:
    named = repr(("glance", _FORMAT, question.digest)).encode()
    return hashlib.blake2b(named, digest_size=16).digest()
