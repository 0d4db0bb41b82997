"""Discovery by prefix growth: from a question's counts to the strings that people hold."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from deniable._distributions import normal_sf
from deniable.authoring.mechanisms.prefixes_plan import BEAM
from deniable.decode.reading import READING, Reading
from deniable.decode.significance import storey
from deniable.discover.extensions import Branches, branches_of
from deniable.discover.group_estimates import Table
from deniable.discover.prefixes.chance_of_finding import Group, Hurdle, Way
from deniable.discover.prefixes.growth import Level, Progress, grow
from deniable.discover.random_points import most_tested, share_needed
from deniable.discover.verify import ALPHA, Found, cut_note, verify
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms import Counts, Prefixes
from deniable.mechanisms.closed_form import Pure
from deniable.protocol import Strings
from deniable.protocol.domain import ABSENT_KEY
from deniable.protocol.hashing import fingerprint

MOST_TESTED = 1_000
"""Strings that are tested: more would make every test stricter."""
_NO_ANSWER = np.array([fingerprint(ABSENT_KEY)], dtype=np.uint64)
"""The words of the absent answer, the same in every group."""


@dataclass(frozen=True)
class Discovery:
    """The outcome of a discovery by prefix growth.

    Attributes:
        rows: every string that was tested, the most frequent first.
        levels: what each level kept.
        branches: how beginnings go on, to show them.
        n: reports of all groups.
        verifiers: reports of the verification group.
        expected_false: how many of the discoveries by Storey are expected to be false.
        limit: computes `learnable`.
        notes: caveats for the reader.
    """

    rows: tuple[Found, ...]
    levels: tuple[Level, ...]
    branches: Branches
    n: int
    verifiers: int
    expected_false: float
    limit: Callable[[], float]
    notes: tuple[str, ...]

    @property
    def found(self) -> tuple[Found, ...]:
        """The discoveries by Holm: P(any false one) <= 5%."""
        return tuple(row for row in self.rows if row.holm)

    @functools.cached_property
    def learnable(self) -> float:
        """The detection limit: the frequency at which half of the strings would have been found.

        Cost: up to some seconds, the first time that it is asked for.
        """
        with one_thread:
            return self.limit()

    @property
    def likely(self) -> tuple[Found, ...]:
        """The discoveries by Storey that are not by Holm: at most 5% of all are false."""
        return tuple(row for row in self.rows if row.storey and not row.holm)


@one_thread
def discover(
    mechanism: Prefixes,
    counts: Counts,
    domain: Strings,
    *,
    beam: int = BEAM,
    absent: bool = False,
    progress: Progress | None = None,
    reading: Reading = READING,
    accepts: Callable[[str], bool] | None = None,
) -> Discovery:
    """Return the strings that the reports show.

    Guarantees: P(any false discovery) <= 5% by Holm. The same counts give the same result, and
    looking again costs nobody any privacy.

    Cost: independent of the number of reports; see `grow`.

    Args:
        mechanism: of the question's field.
        counts: its reports.
        domain: its strings.
        beam: how many beginnings each level keeps.
        absent: whether people without an answer report too: they are taken out of every group,
            because so frequent an answer lifts whatever shares a hash with it.
        progress: called with the levels done and their number, verification included.
        reading: what the intervals are of.
        accepts: which grown strings are tested; all by default. Fewer tests are less strict.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import Prefixes
        >>> from deniable.protocol import Strings
        >>> rng, domain = np.random.default_rng(1), Strings("abcd", 4)
        >>> m = Prefixes(epsilon=4.0, alphabet="abcd", length=4, people=30_000)
        >>> reports = m.simulate(rng.choice(["abba", "cab"], size=30_000, p=[0.7, 0.3]), rng)
        >>> found = discover(m, m.accumulate(reports), domain)
        >>> sorted(row.value for row in found.found)
        ['abba', 'cab']
    """
    shape = mechanism.parameters
    branches, levels = branches_of(shape, domain), len(shape.lengths)

    def table_of(group: int) -> Table:
        table = Table.of(mechanism, counts, group)
        if absent and table.n:
            table.peel(_NO_ANSWER, table.estimate(_NO_ANSWER))
        return table

    def report(done: int, _: int) -> None:
        if progress is not None:
            progress(done, levels + 1)

    tables = map(table_of, range(levels))
    grown = grow(branches, tables, levels, beam=beam, progress=report) if counts.n else []
    last = table_of(shape.verification)
    most = most_tested(int(np.count_nonzero(last.weights)), last.worth.shape[1], ALPHA, MOST_TESTED)
    strings = _strings(branches, grown[-1], most) if len(grown) == levels else []
    rows = tuple(verify(strings, last, counts.n, reading, accepts))
    p_values = np.array([row.p_value for row in rows])
    false = storey(p_values, ALPHA).expected_false if rows else 0.0
    report(levels + 1, levels + 1)
    limit = functools.partial(learnable, grown, last, rows, branches)
    notes = tuple(_notes(mechanism, counts, domain))
    return Discovery(rows, tuple(grown), branches, counts.n, last.n, false, limit, notes)


def _strings(branches: Branches, level: Level, most: int) -> list[str]:
    """Return the distinct strings of the most credible beginnings, at most `most` of them."""
    every = (text for kept in level.kept for text in branches.strings(kept.symbols))
    return list(islice(dict.fromkeys(every), most))


def learnable(
    levels: list[Level], last: Table, rows: tuple[Found, ...], branches: Branches
) -> float:
    """Return the detection limit, a frequency found with chance 1/2; NaN without reports.

    A string passes a level when the evidence of all levels so far exceeds that of the last
    beginning that was kept, and the test when it exceeds Holm's first threshold (see
    `chance_of_finding`). The string is taken to end where half of the discoveries have ended:
    from there on it is its own only extension, which is easier. Without discoveries it has the full
    length.
    """
    if not levels or last.n == 0 or not all(level.n for level in levels):
        return float("nan")
    ended = _ended(levels, branches, {row.value for row in rows if row.holm})
    hurdles = [
        Hurdle(_group(level.n, level.noise, last.pure), extensions, _limit(level))
        for number, level in enumerate(levels)
        for extensions in [1 if number in ended else branches.count(number)]
    ]
    tested, noise = max(1, len(rows)), last.noise
    cohorts, points = int(np.count_nonzero(last.weights)), last.worth.shape[1]
    level = ALPHA / tested
    needed = share_needed(lambda x: normal_sf(x / noise), cohorts, points, level)
    return Way(hurdles, _group(last.n, last.noise, last.pure), tested, needed).half(ALPHA)


def _ended(levels: list[Level], branches: Branches, found: set[str]) -> set[int]:
    """Return the levels before which half of the found strings have ended."""
    ways = [kept for kept in levels[-1].kept if found.intersection(branches.strings(kept.symbols))]
    ended = set()
    for number in range(len(levels) - 1, 0, -1):
        before = [levels[number - 1].kept[kept.parent] for kept in ways]
        single = sum(branches.listed(kept.symbols, number) is not None for kept in before)
        if 0 < len(ways) <= 2 * single:
            ended.add(number)
        ways = before
    return ended


def _group(n: int, noise: float, pure: Pure) -> Group:
    """Return a group of reports; noise beyond that of the reports themselves is collisions."""
    return Group(n, pure, max(0.0, noise**2 - float(pure.variance(n, 0.0))))


def _limit(level: Level) -> float:
    """Return the log odds that a beginning must exceed; where all were kept, anything does."""
    return level.kept[-1].odds if len(level.kept) < level.tested else -np.inf


def _notes(mechanism: Prefixes, counts: Counts, domain: Strings) -> Iterator[str]:
    shape = mechanism.parameters
    sizes = [mechanism.group(counts, group).n for group in range(shape.groups)]
    if not counts.n:
        yield "There are no reports yet."
    elif shape.cohorts == 1 and all(sizes):
        yield (
            "All people of a group have the same hash function: strings that share a value of it "
            "cannot be told apart, and neither of two is called found."
        )
    elif not all(sizes):
        yield (
            f"{sizes.count(0)} of {shape.groups} groups have no reports: more people are needed "
            "before strings can be grown and tested."
        )
    yield cut_note(domain)
