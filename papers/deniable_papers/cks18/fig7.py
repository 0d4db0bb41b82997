"""[CKS18] figure 7: tests of independence on private tables of taxi trips.

For every pair of the paper the share of runs is shown in which the noise-aware test rejects at 5%,
and beside it the paper's plain chi-square on the same raw table, which takes noise for dependence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.marginals.independence import plain_chi_square
from deniable.marginals.pairs import independence
from deniable.marginals.raw import raw_table
from deniable.mechanisms import Counts
from deniable_papers.base import Figure, Options, Outcome, Value
from deniable_papers.cks18.charts import bars
from deniable_papers.cks18.level import rejections
from deniable_papers.cks18.methods import EVERY, OURS, Method, every_report, method
from deniable_papers.cks18.people import People, taxi
from deniable_papers.cks18.scores import PEOPLE
from deniable_papers.cks18.sweep import MADE_UP
from deniable_papers.common.scoring import mean

EPSILON = 1.1
LEVEL = 0.05
DEPENDENT = (("Night_pick", "Night_drop"), ("Toll", "Far"), ("CC", "Tip"))
INDEPENDENT = (("M_drop", "CC"), ("Far", "Night_pick"), ("Toll", "Night_pick"))
PAIRS = (*DEPENDENT, *INDEPENDENT)
FEWER = 50
"""The nine methods get fewer runs than ours, by this factor."""
NOTES = (
    "aware: share of runs in which the noise-aware test rejects independence at 5%; of a pair that "
    "is independent in the population it should be 5%. plain: the paper's chi-square on the same "
    "raw table, as a reference only.",
    "Every method is tested on its raw table with its own covariance, ours too. People are drawn "
    "with replacement for every run, so that the hypothesis is about the table of all trips.",
    "independent: the same test where attributes are independent, in settings of its own.",
    "exact_p: of the plain chi-square on as many exact answers; a pair with a small one is not "
    "independent in these trips, whatever the paper says of its own.",
    "Not the paper's sample: in taxi.csv Night_pick and Night_drop are nearly uncorrelated, and "
    "Far and Toll weakly go with Night_pick.",
    MADE_UP,
)


@dataclass
class _Tally:
    """How often two tests rejected a pair."""

    aware: int = 0
    plain: int = 0
    statistics: list[float] = field(default_factory=list)


def run(options: Options) -> Outcome:
    """Test the six pairs by every method."""
    people = taxi(options.data)
    places = [tuple(people.names.index(name) for name in pair) for pair in PAIRS]
    rows: list[dict[str, Value]] = []
    ours: dict[str, Any] = {_name(pair): {} for pair in PAIRS}
    notes = list(NOTES)
    seeds = np.random.SeedSequence(options.seed).spawn(len(EVERY))
    for name, seed in zip(options.steps(EVERY), seeds, strict=True):
        runs = options.runs if name == OURS else max(1, options.runs // FEWER)
        rng = np.random.default_rng(seed)
        try:
            one = method(name, people, 2, EPSILON, options.people)
        except InvalidParameter as error:
            notes.append(f"{name}: {error}")
            for pair in PAIRS:
                ours[_name(pair)][name] = None
            continue
        tallies = _tallied(one, people, options.people, places, runs, rng)
        for pair, tally in zip(PAIRS, tallies, strict=True):
            found = {
                "aware": tally.aware / runs,
                "plain": tally.plain / runs,
                "median_statistic": mean([np.median(tally.statistics)]),
            }
            ours[_name(pair)][name] = {**found, "runs": runs}
            rows.append({"pair": _name(pair), "method": name, **found, "runs": runs})
    for pair, place in zip(PAIRS, places, strict=True):
        ours[_name(pair)]["exact_p"] = _exact(people, place, options.people)
    seed = np.random.SeedSequence(options.seed).spawn(len(EVERY) + 1)[-1]
    ours["independent"] = rejections(options.runs, np.random.default_rng(seed))
    chart = bars(rows, "Rejections at 5%, noise-aware test", "aware", "share of runs", "pair")
    paper = {_name(pair): "dependent" for pair in DEPENDENT}
    paper |= {_name(pair): "independent" for pair in INDEPENDENT}
    return Outcome(paper, ours, {"tests": rows}, chart, tuple(notes))


def _name(pair: tuple[str, str]) -> str:
    return f"{pair[0]}-{pair[1]}"


def _tallied(
    one: Method,
    people: People,
    n: int,
    places: Sequence[tuple[int, ...]],
    runs: int,
    rng: np.random.Generator,
) -> list[_Tally]:
    tallies = [_Tally() for _ in places]
    draw = drawer(one, people, n)
    for _ in range(runs):
        counts = draw(rng)
        for place, tally in zip(places, tallies, strict=True):
            table = raw_table(one.mechanism, counts, place)
            test = independence(table)
            tally.aware += test.p_value < LEVEL
            tally.plain += plain_chi_square(table.probability, n).p_value < LEVEL
            tally.statistics.append(test.statistic)
    return tallies


def drawer(one: Method, people: People, n: int) -> Any:
    """Return what draws the counts of n people, drawn with replacement, and of their reports.

    Where a report is one of few symbols, the symbols' probabilities in the mixture of all people
    are known, and the counts are a multinomial draw: the same distribution, in no time.
    """
    mechanism = one.mechanism
    reports = every_report(mechanism)
    if reports is None:
        return lambda rng: one.counts(people.drawn(n, rng), rng)
    every = mechanism.every_profile()
    places = np.ravel_multi_index(tuple(people.rows.T), mechanism.answers)
    shares = np.bincount(places, minlength=len(every)) / len(people.rows)
    chance = mechanism.likelihood(reports) @ shares
    chance = chance / chance.sum()

    def draw(rng: np.random.Generator) -> Counts:
        return mechanism.accumulate(np.repeat(reports, rng.multinomial(n, chance)))

    return draw


def _exact(people: People, place: tuple[int, ...], n: int) -> float:
    """Return the p-value of the plain test on n exact answers with the shares of all rows."""
    table = np.zeros((2, 2))
    np.add.at(table, (people.rows[:, place[0]], people.rows[:, place[1]]), 1 / len(people.rows))
    return mean([plain_chi_square(table, n).p_value])


FIGURE = Figure(
    id="cks18-fig7",
    paper="[CKS18] figure 7",
    title="Tests of independence on private tables",
    shows="With the noise in the test, independent pairs are rejected at its level; plain "
    "chi-square rejects them nearly always.",
    run=run,
    runs=1_000,
    full_runs=1_000,
    people=PEOPLE,
    full_people=PEOPLE,
)
