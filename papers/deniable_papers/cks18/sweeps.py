"""[CKS18] figures 4, 5, 6, 9 and 10: total variation as people, k, d or epsilon vary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deniable_papers.base import Figure, Options, Outcome
from deniable_papers.cks18.charts import lines
from deniable_papers.cks18.people import People, movielens, skewed, taxi
from deniable_papers.cks18.scores import LN3, PEOPLE, Setting, errors_of, reasons_of
from deniable_papers.cks18.sweep import COMMON, MADE_UP, in_panels, sweep

Settings = list[tuple[Setting, int]]
"""The scores, each with its number of runs."""

GRID = tuple((d, k) for d in (4, 8, 16) for k in (1, 2, 3))
"""The panels of figures 4 and 9."""
FACTORS = (0.25, 0.5, 1.0, 2.0)
"""The paper's 2^16 to 2^19 people of figure 4, relative to `--people`."""
FEWER = 10
"""The other numbers of people get fewer runs in a default run, by this factor."""
ORDERS = (1, 2, 3, 4, 5, 6, 7)
TAXI_SIZES, TAXI_EPSILONS = (8, 16, 24), (0.2, 0.6, 1.1, 1.4)
EPSILONS, FEW_EPSILONS = (0.4, 0.6, 0.8, 1.0, 1.2, 1.4), (0.4, 0.8, 1.4)
"""Of figure 9, and of its default run."""
SIZES = (4, 6, 8, 10, 12, 16)


def by_people(options: Options) -> Settings:
    """Figure 4: every panel with every number of people."""
    few = options.runs if options.full else max(1, options.runs // FEWER)
    return [
        (Setting(d, k, LN3, int(options.people * factor)), options.runs if factor == 1 else few)
        for d, k in GRID
        for factor in FACTORS
    ]


def by_order(options: Options) -> Settings:
    """Figure 5: tables of 1 to 7 of 8 attributes."""
    return [(Setting(8, k, LN3, options.people), options.runs) for k in ORDERS]


def by_size_and_epsilon(options: Options) -> Settings:
    """Figure 6: pairs of many attributes."""
    return [
        (Setting(d, 2, epsilon, options.people), options.runs)
        for d in TAXI_SIZES
        for epsilon in TAXI_EPSILONS
    ]


def by_epsilon(options: Options) -> Settings:
    """Figure 9: every panel with every epsilon."""
    epsilons = EPSILONS if options.full else FEW_EPSILONS
    return [
        (Setting(d, k, epsilon, options.people), options.runs)
        for d, k in GRID
        for epsilon in epsilons
    ]


def by_size(options: Options) -> Settings:
    """Figure 10: pairs of 4 to 16 attributes."""
    return [(Setting(d, 2, LN3, options.people), options.runs) for d in SIZES]


@dataclass(frozen=True)
class Sweep:
    """One figure: people, settings, and how its numbers are named and drawn.

    Attributes:
        number, title, shows, runs: as a `Figure` has them.
        settings: what is scored.
        people: who is asked.
        names: the names under which a setting's errors stand, outermost first.
        paper: what the paper says.
        chart: its title, the column on the x axis, and that axis' title.
        panels: whether there is a panel for each d and k.
        notes: what we chose where the paper is silent.
        logarithmic: the x axis.
    """

    number: int
    title: str
    shows: str
    runs: int
    settings: Callable[[Options], Settings]
    people: Callable[[Options], People]
    names: Callable[[Setting], tuple[str, ...]]
    paper: dict[str, Any]
    chart: tuple[str, str, str]
    panels: bool
    notes: tuple[str, ...] = (MADE_UP,)
    logarithmic: bool = False

    def run(self, options: Options) -> Outcome:
        """Score every method in every setting; of figure 4 the numbers are those of `--people`."""
        rows, found = sweep(options, self.people(options), self.settings(options))
        ours: dict[str, Any] = {}
        for setting, scored in found:
            if setting.people == options.people:
                *outer, last = self.names(setting)
                inside = ours
                for name in outer:
                    inside = inside.setdefault(name, {})
                inside[last] = errors_of(scored)
        rows = in_panels(rows) if self.panels else rows
        panel = "panel" if self.panels else None
        chart = lines(rows, *self.chart, panel, log=self.logarithmic)
        notes = (*COMMON, *self.notes, *reasons_of([scored for _, scored in found]))
        return Outcome(self.paper, ours, {"errors": rows}, chart, notes)


SWEEPS = (
    Sweep(
        4,
        "Total variation of 1, 2 and 3-way tables by number of people",
        "Which method has the best tables for d attributes and order k; epsilon ln 3.",
        10,
        by_people,
        lambda options: movielens(options.data),
        lambda one: (f"{one.attributes},{one.order}",),
        {
            "lowest or near lowest": "inp_ht, in every panel",
            "k = 1": "marg_ps, marg_rr, marg_ht and inp_ht hardly differ",
            "d = 16": "inp_ps and inp_rr have very large errors",
        },
        ("Tables of movielens by number of people", "people", "people"),
        panels=True,
        logarithmic=True,
    ),
    Sweep(
        5,
        "The effect of the order k",
        "How fast errors grow with the number of attributes in a table; d = 8, epsilon ln 3.",
        10,
        by_order,
        lambda options: taxi(options.data),
        lambda one: (f"k={one.order}",),
        {"k <= 4": "inp_ht is best", "k = 5": {"inp_ht": 0.125}},
        ("Tables of taxi trips by order", "k", "order k"),
        panels=False,
    ),
    Sweep(
        6,
        "Pairs of many attributes",
        "Sharing the budget over all attributes (inp_em) loses against sampling a few.",
        3,
        by_size_and_epsilon,
        lambda options: taxi(options.data),
        lambda one: (f"d={one.attributes}, epsilon={one.epsilon:g}",),
        {"inp_em": "several times worse than inp_ht and marg_ps, better with epsilon"},
        ("Pairs of taxi attributes", "epsilon", "epsilon"),
        panels=True,
        notes=(
            "The text of the paper names neither the d nor the epsilons of this figure: d of its "
            "table 3, and epsilons of its section 5.1. More than 8 attributes repeat columns, as "
            "in the paper.",
            "inp_em is decoded by the certified solver here, not by the paper's iterations: see "
            "table 3.",
            MADE_UP,
        ),
    ),
    Sweep(
        9,
        "Total variation of 1, 2 and 3-way tables by epsilon",
        "Errors fall with epsilon for every method; which one is best hardly changes.",
        3,
        by_epsilon,
        lambda options: movielens(options.data),
        lambda one: (f"{one.attributes},{one.order}", f"epsilon={one.epsilon:g}"),
        {
            "best": "inp_ht, in every panel",
            "k >= 2": "inp_ps, inp_rr and marg_rr are unfavourable",
            "marg_ps": "overtakes marg_ht as epsilon grows",
        },
        ("Tables of movielens by epsilon", "epsilon", "epsilon"),
        panels=True,
    ),
    Sweep(
        10,
        "Frequency oracles by number of attributes",
        "Oracles over all 2^d cells fall behind as attributes are added.",
        5,
        by_size,
        lambda options: skewed(max(SIZES)),
        lambda one: (f"d={one.attributes}",),
        {
            "small d": "inp_olh is as good as inp_ht",
            "inp_olh": "no result at d = 12 and 16",
            "inp_ht_cms": "not competitive",
        },
        ("Pairs by number of attributes", "d", "attributes d"),
        panels=False,
        notes=(
            "Lightly skewed people: shares of 25% to 50%, correlated by one factor of loading 0.3. "
            "The paper says neither how skewed nor which k: k = 2 here.",
            "The paper's inp_olh ran out of 12 hours at d = 12 and 16.",
        ),
    ),
)

FIGURES = tuple(
    Figure(
        id=f"cks18-fig{sweep_.number}",
        paper=f"[CKS18] figure {sweep_.number}",
        title=sweep_.title,
        shows=sweep_.shows,
        run=sweep_.run,
        runs=sweep_.runs,
        full_runs=10,
        people=PEOPLE,
        full_people=PEOPLE,
    )
    for sweep_ in SWEEPS
)
