"""[CKS18] figure 8: the mutual information of dependency trees learnt privately.

A tree is learnt from private tables, and scored by the true mutual information of the pairs that it
joins, relative to the tree of the exact tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.marginals.smoothed import pairs_apart
from deniable.marginals.tree import chow_liu, true_information
from deniable.mechanisms.base import Floats
from deniable_papers.base import Figure, Options, Outcome, Value
from deniable_papers.cks18.charts import lines
from deniable_papers.cks18.methods import EVERY, OURS, Method, method
from deniable_papers.cks18.people import Crowd, People, dependent, movielens
from deniable_papers.cks18.sweep import MADE_UP
from deniable_papers.common.scoring import mean

ATTRIBUTES = 10
EPSILONS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4)
STRONG_EPSILON = 1.0
PEOPLE = 200_000
Pairs = list[tuple[int, int]]
NOTES = (
    "share: true mutual information of the private tree over that of the exact tree, mean of the "
    "runs. The nine methods: raw tables clipped to distributions; ours: smoothed tables.",
    "strong: made-up people whose attributes are a chain, each as the one before it with "
    "probability 0.82 to 0.9; epsilon 1.",
    "movielens here has 943 users and 20 films per genre, so that its pairs say little: the exact "
    "tree of 10 genres has less than a bit in all, spread over many nearly equal pairs.",
    MADE_UP,
)


def run(options: Options) -> Outcome:
    """Learn the tree by every method at every epsilon, and once on strongly dependent people."""
    films = movielens(options.data).widened(ATTRIBUTES)
    strong = dependent(ATTRIBUTES)
    work = [("movielens", films, e) for e in EPSILONS] + [("strong", strong, STRONG_EPSILON)]
    seeds = np.random.SeedSequence(options.seed).spawn(len(work))
    rows: list[dict[str, Value]] = []
    reasons: set[str] = set()
    for (name, people, epsilon), seed in zip(options.steps(work), seeds, strict=True):
        generators = [np.random.default_rng(child) for child in seed.spawn(options.runs)]
        found = shares(people, epsilon, options.people, generators, reasons)
        for used, values in found.items():
            rows.append(
                {
                    "people": name,
                    "epsilon": epsilon,
                    "method": used,
                    "share": mean(values) if values else None,
                    "least": mean([min(values)]) if values else None,
                }
            )
    ours: dict[str, Any] = {}
    for row in rows:
        cell = ours.setdefault(f"{row['people']}, epsilon={row['epsilon']:g}", {})
        cell[str(row["method"])] = row["share"]
    chart = lines(
        [row for row in rows if row["people"] == "movielens"],
        "Information of private trees, relative to the exact tree", "epsilon", "epsilon",
        y="share", y_title="share of the exact tree's information",
    )  # fmt: skip
    paper = {"inp_ht": "nearly the same as without privacy", "marg_ps": "less at low epsilon"}
    return Outcome(paper, ours, {"trees": rows}, chart, (*NOTES, *sorted(reasons)))


def shares(
    people: People,
    epsilon: float,
    n: int,
    generators: Sequence[np.random.Generator],
    reasons: set[str],
) -> dict[str, list[float]]:
    """Return every method's share of the exact tree's information, by run."""
    pairs = list(combinations(range(len(people.names)), 2))
    found: dict[str, list[float]] = {name: [] for name in EVERY}
    methods: dict[str, Method] = {}
    for name in EVERY:
        try:
            methods[name] = method(name, people, 2, epsilon, n)
        except InvalidParameter as error:
            reasons.add(f"{name}: {error}")
    for rng in generators:
        crowd = people.drawn(n, rng)
        exact = {pair: crowd.marginal(pair) for pair in pairs}
        best = chow_liu(people.names, exact).information
        for name, one in methods.items():
            found[name].append(_learnt(one, crowd, pairs, exact, rng) / best)
    return found


def _learnt(
    one: Method,
    crowd: Crowd,
    pairs: Pairs,
    exact: dict[tuple[int, int], Floats],
    rng: np.random.Generator,
) -> float:
    """Return the true information of the tree that one method's tables give."""
    counts = one.counts(crowd, rng)
    # As `deniable marginals --tree` does: of a whole profile, pairs smoothed one by one.
    apart = pairs_apart(one.mechanism.moments(counts)) if one.name == OURS else {}
    tables = [apart[pair] for pair in pairs] if apart else one.distributions(counts, pairs)
    names = [str(i) for i in range(1 + max(max(pair) for pair in pairs))]
    tree = chow_liu(names, dict(zip(pairs, tables, strict=True)))
    return true_information([(edge.first, edge.second) for edge in tree.edges], exact)


FIGURE = Figure(
    id="cks18-fig8",
    paper="[CKS18] figure 8",
    title="Mutual information of private dependency trees",
    shows="Trees learnt from private pairs join nearly the right attributes.",
    run=run,
    runs=20,
    full_runs=20,
    people=PEOPLE,
    full_people=PEOPLE,
)
