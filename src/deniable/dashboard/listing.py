"""The list of questions: a row each with its answer; searched, filtered, sorted, in groups."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from starlette.datastructures import QueryParams

from deniable._words import plural
from deniable.dashboard.glances import Kept
from deniable.dashboard.overview import Overview, Summary
from deniable.dashboard.queries import NoSuchPage
from deniable.results.glance import Glance
from deniable.results.labels import shortened
from deniable.results.words.glance import glance_label

_PREFIX = re.compile(r"[a-z0-9]+(?=[._-])")
_FEWEST_GROUPED = 2
_LONGEST_SEARCH = 200
STATES = ("open", "ended", "withdrawn", "without reports", "refused some", "silent", "simulated")
"""The states that a list can be filtered by."""
SORTS = {
    "group": "group",
    "name": "name",
    "reports": "most reports",
    "newest": "newest reports",
    "answer": "largest answer",
    "epsilon": "largest epsilon",
    "refused": "most refused",
}


@dataclass(frozen=True)
class Row:
    """A question of the list: its numbers, and its answer as far as it was computed."""

    summary: Summary
    kept: Kept | None
    now: float

    @property
    def glance(self) -> Glance | None:
        """The answer; None if it was not computed yet."""
        return None if self.kept is None else self.kept.glance

    @property
    def label(self) -> str:
        """The name of the large number."""
        return "" if self.glance is None else glance_label(self.glance)

    @property
    def age(self) -> str:
        """How old the answer is, where more reports arrived since; empty if it is of all."""
        if self.kept is None or self.kept.whole(self.summary):
            return ""
        since = f"{plural(self.summary.n - self.kept.n, 'report')} ago"
        if not self.kept.glance.made:
            return f"computed earlier, {since}"
        return f"{age_text(max(0, int(self.now - self.kept.glance.made)))} old, {since}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the question's answers."""
        return tuple(dict.fromkeys(one.domain.kind for one in self.summary.question.fields))

    @property
    def segments(self) -> tuple[str, ...]:
        """The names of the segments that reports carry."""
        return tuple(segment.name for segment in self.summary.question.segments)

    @property
    def states(self) -> frozenset[str]:
        """All states of STATES that the question is in."""
        told = {
            self.summary.state: True,
            "without reports": not self.summary.n,
            "refused some": bool(self.summary.health.refusals),
            "silent": self.summary.silent,
            "simulated": bool(self.summary.simulated),
        }
        return frozenset(name for name, holds in told.items() if holds)

    @property
    def health(self) -> tuple[str, bool]:
        """The health of collection in words, and whether it needs a look."""
        refused = self.summary.health.refusals
        told = ["silent since then"] if self.summary.silent else []
        told += [f"{refused:,} refused"] if refused else []
        if told:
            return ", ".join(told), True
        if self.summary.state != "open":
            return self.summary.state, False
        return ("fine", False) if self.summary.n else ("nothing arrived yet", False)


@dataclass(frozen=True)
class Asked:
    """The wishes of a list's reader; empty members ask for everything."""

    search: str = ""
    owner: str = ""
    kind: str = ""
    state: str = ""
    segment: str = ""
    sort: str = "group"

    @classmethod
    def of(cls, query: QueryParams) -> Asked:
        """Read a query; unknown values find nothing, and an unknown order is an error.

        Raises:
            NoSuchPage: if there is no such order.
        """
        named = {name: query.get(name, "") for name in ("owner", "kind", "state", "segment")}
        sort = query.get("sort") or "group"
        if sort not in SORTS:
            raise NoSuchPage(f"A list is sorted by one of {', '.join(SORTS)}.")
        return cls(query.get("q", "").strip()[:_LONGEST_SEARCH], **named, sort=sort)

    @property
    def any(self) -> bool:
        """True if some questions may be left out."""
        return any((self.search, self.owner, self.kind, self.state, self.segment))

    def takes(self, row: Row) -> bool:
        """Tell whether a question is asked for: all words of the search occur in it."""
        question = row.summary.question
        text = f"{question.id} {question.description} {question.owner} {row.label}".casefold()
        return (
            all(word in text for word in self.search.casefold().split())
            and self.owner in ("", question.owner)
            and (not self.kind or self.kind in row.kinds)
            and (not self.state or self.state in row.states)
            and (not self.segment or self.segment in row.segments)
        )


@dataclass(frozen=True)
class Listing:
    """The list as a page shows it: groups of rows, and what can be chosen.

    Attributes:
        asked: what was asked for.
        groups: the rows under the name of their group; one without a name if not by group.
        all: the number of questions before some were left out.
        pending: the number of answers that wait to be computed.
        choices: by name of a filter, what it can be.
    """

    asked: Asked
    groups: tuple[tuple[str, tuple[Row, ...]], ...]
    all: int
    pending: int
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of all groups."""
        return tuple(row for _, rows in self.groups for row in rows)


def listing(overview: Overview, kept: Mapping[bytes, Kept], asked: Asked) -> Listing:
    """Return the list of the questions that are asked for."""
    now = time.time()
    rows = [Row(one, kept.get(one.question.digest), now) for one in overview.questions]
    taken = [row for row in rows if asked.takes(row)]
    return Listing(
        asked,
        _groups(taken, rows) if asked.sort == "group" else (("", tuple(_sorted(taken, asked))),),
        len(rows),
        sum(row.kept is None and row.summary.n > 0 for row in rows),
        {
            "owner": sorted({row.summary.question.owner for row in rows}),
            "kind": sorted({kind for row in rows for kind in row.kinds}),
            "state": [state for state in STATES if any(state in row.states for row in rows)],
            "segment": sorted({name for row in rows for name in row.segments}),
        },
    )


def _groups(taken: Sequence[Row], rows: Sequence[Row]) -> tuple[tuple[str, tuple[Row, ...]], ...]:
    """Return rows by the beginning of their ids; those that share it with nobody come first."""
    shared = Counter(_prefix(row) for row in rows)
    named: dict[str, list[Row]] = {"": []}
    for row in taken:
        prefix = _prefix(row)
        named.setdefault(prefix if shared[prefix] >= _FEWEST_GROUPED else "", []).append(row)
    return tuple((name, tuple(each)) for name, each in named.items() if each)


def _prefix(row: Row) -> str:
    found = _PREFIX.match(row.summary.question.id)
    return found.group() if found else ""


def _sorted(rows: Sequence[Row], asked: Asked) -> list[Row]:
    if asked.sort == "name":
        return sorted(rows, key=lambda row: row.summary.question.id)
    keys: Mapping[str, Callable[[Row], float]] = {
        "reports": lambda row: -row.summary.n,
        "newest": lambda row: -(max(row.summary.reports, default=0) * row.summary.question.epoch),
        "answer": lambda row: -_share(row),
        "epsilon": lambda row: -row.summary.question.epsilon_once,
        "refused": lambda row: -row.summary.health.refusals,
    }
    return sorted(rows, key=keys[asked.sort])


def _share(row: Row) -> float:
    found = row.glance
    known = found is not None and found.kind not in ("nothing", "median")
    return found.value if known and found is not None else -1.0


def age_text(seconds: int) -> str:
    """Return an age as people say it.

    >>> age_text(42), age_text(60), age_text(7_300)
    ('42 seconds', '1 minute', '2 hours')
    """
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return plural(seconds // size, name)
    return plural(seconds, "second")


def row_json(row: Row) -> dict[str, object]:
    """Return a row as the list's JSON holds it."""
    summary, question = row.summary, row.summary.question
    last = summary.last_day
    return {
        "id": question.id,
        "version": question.version,
        "level": question.level,
        "description": shortened(question.description, 300),
        "owner": question.owner,
        "kinds": list(row.kinds),
        "segments": list(row.segments),
        "states": sorted(row.states),
        "reports": summary.n,
        "simulated": sum(summary.simulated.values()),
        "last_day": None if last is None else last.isoformat(),
        "epsilon_once": question.epsilon_once / 1_000_000,
        "refused": summary.health.refusals,
        "answer": None if row.glance is None else row.glance.as_json(),
        "whole": row.kept is not None and row.kept.whole(summary),
    }


def listing_json(overview: Overview, listing: Listing) -> dict[str, object]:
    """Return the list as JSON, as `spec/openapi.json` describes it."""
    return {
        "survey": overview.survey.name,
        "owner": overview.survey.owner,
        "reports": overview.n,
        "pending": listing.pending,
        "questions": [row_json(row) for row in listing.rows],
    }
