"""The paper's way to strings that nobody listed: n-grams, cliques, candidates, a test [FPE16].

    reports -> common n-grams per place -> pairs -> graph -> cliques -> candidates
            -> test on the reports of whole strings

The coins of the whole strings' reports are independent of those of the n-grams, and had no
influence on which candidates are tested: the tests are ordinary ones.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest

import numpy as np

from deniable import _validate
from deniable.decode import Decoded, decode
from deniable.decode.reading import READING, Reading
from deniable.discover.detection_limit import half_found
from deniable.discover.extensions import Characters
from deniable.discover.ngrams.cliques import MOST_STEPS, Budget, cliques
from deniable.discover.ngrams.dictionary import assembled
from deniable.discover.ngrams.graph import Graph
from deniable.discover.ngrams.imagined_crowd import Imagined
from deniable.discover.ngrams.marginals import MOST_GRAMS, Common, common_grams
from deniable.discover.ngrams.pairs import Pairs, all_pairs
from deniable.discover.prefixes.discovery import Discovery
from deniable.discover.prefixes.growth import Progress
from deniable.discover.verify import cut_note, rows_of
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms import NGrams
from deniable.mechanisms.base import Candidate, Reports
from deniable.protocol import ABSENT, NGramsParameters, Strings

_MOST_CANDIDATES = 2_000
"""Strings that are tested: more would make every test stricter."""
_PROBES = 8
"""Strings that are added to an imagined crowd, to see how many of them are found: at most."""
_SEED = 7
THRESHOLD = 0.1
"""Of delta: the likeliest joint distribution has most absent pairs at 0, so that a low threshold
lets few of them through, and those are tested."""


@dataclass(frozen=True)
class Search:
    """The settings of a search for candidates.

    Attributes:
        threshold: the least share of a pair that is an edge, in multiples of delta; 0 joins
            everything.
        most: the most candidates.
        grams: the most common n-grams of a place.
        matching: a regular expression that a whole candidate must match.
        inner_spaces: whether a candidate may have a space before its last other character.
        steps: nodes that the search for cliques may take.

    Raises:
        InvalidParameter: naming what is out of range.
    """

    threshold: float = THRESHOLD
    most: int = _MOST_CANDIDATES
    grams: int = MOST_GRAMS
    matching: str | None = None
    inner_spaces: bool = True
    steps: int = MOST_STEPS

    def __post_init__(self) -> None:
        owner = "discover"
        _validate.between("threshold", owner, self.threshold, "0", "1e6")
        for name, largest in (("most", 10**6), ("grams", 500), ("steps", 10**12)):
            _validate.integer(name, owner, getattr(self, name), 1, largest)
        try:
            re.compile(self.matching or "")
        except re.error as error:
            raise InvalidParameter(
                f"The 'matching' parameter of {owner} must be a regular expression: {error}."
            ) from None

    def accepts(self, text: str) -> bool:
        """Tell whether a candidate passes the filters."""
        if not self.inner_spaces and " " in text.rstrip(" "):
            return False
        return self.matching is None or re.fullmatch(self.matching, text) is not None


@dataclass(frozen=True)
class Candidates:
    """The strings that a graph spells.

    Attributes:
        strings: distinct, in the order of the search.
        complete: whether these are all.
    """

    strings: tuple[str, ...]
    complete: bool


def candidates_of(graph: Graph, shape: NGramsParameters, search: Search) -> Candidates:
    """Return the strings of all cliques that pass the filters, up to `search.most`.

    Guarantees: complete unless it says otherwise.
    """
    budget = Budget(search.steps)

    def spelled() -> Iterator[str]:
        for clique in cliques(graph, budget):
            grams = tuple(part[node] for part, node in zip(graph.parts, clique, strict=True))
            text = assembled(grams, shape.step, shape.length)
            if text is not None and search.accepts(text):
                yield text

    found = list(islice(spelled(), search.most + 1))
    return Candidates(tuple(found[: search.most]), len(found) <= search.most and budget.left > 0)


@one_thread
def discover_ngrams(
    mechanism: NGrams,
    reports: Reports | bytes | memoryview,
    domain: Strings,
    *,
    search: Search | None = None,
    absent: bool = False,
    progress: Progress | None = None,
    reading: Reading = READING,
) -> Discovery:
    """Return the strings that the reports show, the paper's way.

    Guarantees: P(any false discovery) <= 5% by Holm, whatever the candidates. The same reports give
    the same result, and looking again costs nobody any privacy.

    Cost: linear in the reports; see `fit_pairs` for the pairs of places.

    Edge cases: without reports, or where a place has no common n-gram, there are no candidates, and
    a note says so. Where the candidates were cut off a note says so too.

    Args:
        mechanism: of the question's field.
        reports: all of them.
        domain: its strings.
        search: the settings of the search for candidates.
        absent: whether people without an answer report too; they are fitted beside the strings.
        progress: called with the pairs done and their number.
        reading: what the intervals are of.
    """
    search = search or Search()
    records = mechanism.records(reports)
    counts = mechanism.accumulate(records)
    common = common_grams(mechanism, counts, domain.letters, most=search.grams, absent=absent)
    pairs = all_pairs(mechanism, records, common, progress)
    graph = pairs.graph(search.threshold)
    found = candidates_of(graph, mechanism.parameters, search)
    decoded = None
    if found.strings:
        listed: list[Candidate] = [*found.strings, ABSENT] if absent else [*found.strings]
        decoded = decode(mechanism.whole, mechanism.whole_counts(counts), listed, reading=reading)
    rows = tuple(rows_of(decoded, len(found.strings))) if decoded is not None else ()
    return Discovery(
        rows,
        (),
        Characters(domain.letters, (domain.length,)),
        counts.n,
        counts.n,
        decoded.expected_false if decoded is not None else 0.0,
        functools.partial(learnable, mechanism, pairs, len(domain.letters), counts.n, search),
        tuple(_notes(counts.n, common, graph, found, search, domain, decoded)),
    )


def learnable(mechanism: NGrams, pairs: Pairs, letters: int, people: int, search: Search) -> float:
    """Return the detection limit, the frequency found with chance 1/2; NaN where there is none.

    Imagined crowds like this one (`imagined_crowd.py`) hold strings as frequent as its common
    n-grams, the first of all places, the second, and so on, and up to `PROBES` more of one
    frequency: half of these are found at the one that is returned.

    Cost: seconds where there are many places. The seed is fixed.
    """
    if people == 0 or not all(common.n for common in pairs.common):
        return float("nan")
    crowd = Imagined(mechanism, letters, people, search.threshold, search.most)
    known = np.array(
        [sum(ranked) / len(pairs.common) for ranked in zip_longest(*_shares(pairs), fillvalue=0.0)]
    )
    rng = np.random.default_rng(_SEED)
    crowds = crowd.crowds(_PROBES + len(known), 2)

    def chance(share: float) -> float:
        probes = min(_PROBES, int(1 / share + 1e-9))
        left = max(0.0, 1 - probes * share)
        # Shares of all strings together are at most 1: the known ones make room for the probes.
        others = known * min(1.0, left / max(1e-12, float(known.sum())))
        shares = np.concatenate([np.full(probes, share), others])
        found = [crowd.found(shares, rng)[:probes].mean() for _ in range(crowds)]
        return float(np.mean(found))

    found = half_found(chance, crowd.guess)
    return found if found < 1 else float("nan")


def _shares(pairs: Pairs) -> Iterator[tuple[float, ...]]:
    for common in pairs.common:
        yield tuple(max(0.0, share) for share in common.shares)


def _notes(
    n: int,
    common: list[Common],
    graph: Graph,
    found: Candidates,
    search: Search,
    domain: Strings,
    decoded: Decoded | None,
) -> Iterator[str]:
    """Yield the notes of a discovery."""
    sizes = ", ".join(str(len(one.grams)) for one in common)
    if n == 0:
        yield "There are no reports yet."
    else:
        yield f"Common n-grams per place: {sizes}. {graph.edges:,} pairs of them are joined."
    if n and not found.strings:
        yield (
            "No string could be put together: at some place no n-gram stands out, or no pair does. "
            "More people, a larger epsilon, a larger n or a lower threshold would help."
        )
    if not found.complete:
        yield (
            f"There are more candidates than the {len(found.strings):,} that were tested: the "
            f"search was stopped at {search.most:,} candidates or {search.steps:,} steps. Raise "
            "the threshold, or filter the candidates."
        )
    yield from decoded.notes if decoded is not None else ()
    yield cut_note(domain)
