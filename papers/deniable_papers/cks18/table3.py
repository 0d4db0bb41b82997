"""[CKS18] table 3: where expectation maximisation (InpEM) fails, and where it need not.

The paper's iteration starts at equal shares and stops when no share moves by more than 1e-5; it
counts a table as failed when it stops at once. That is a fault of the rule, not of the likelihood:
the certified solver finds the maximum in every setting, and says where the maximum is noise.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.marginals.inp_em import likely_table
from deniable.mechanisms.base import Floats
from deniable.mechanisms.inp_em import InpEM
from deniable_papers.base import Figure, Options, Outcome, Value
from deniable_papers.cks18.charts import bars
from deniable_papers.cks18.methods import EVERY, Method, method
from deniable_papers.cks18.people import Crowd, People, taxi
from deniable_papers.cks18.scores import PEOPLE, Subsets, error_of
from deniable_papers.cks18.sweep import MADE_UP
from deniable_papers.common.scoring import mean

# log2 N, d, k, epsilon, and how many of all tables failed, as printed.
PRINTED = (
    (16, 8, 1, 0.2, 3, 8), (18, 8, 2, 0.1, 15, 28), (16, 8, 2, 0.2, 3, 28),
    (16, 12, 2, 0.2, 19, 66), (18, 16, 2, 0.1, 120, 120), (18, 16, 2, 0.2, 72, 120),
    (19, 24, 2, 0.2, 276, 276),
)  # fmt: skip
STOP = 1e-5
"""The paper's iteration ends when no share moves by more [CKS18, section 5.4]."""
CERTIFIED = 1e-2
"""A table is solved when no other has a log-likelihood larger by more, over all reports."""
NOTES = (
    "paper_rule: tables at which the paper's iteration (from equal shares, stop at 1e-5) stops at "
    "its first step. solver: tables at which the certified solver does not reach its certificate.",
    "no_information: tables whose maximum cannot be told from equal shares (likelihood-ratio test "
    "at 5%): there the answer is noise, and is said to be.",
    "total_variation: mean over the tables, of every method in the same setting.",
    "--people scales the paper's numbers of people, which are those of 2^18.",
    MADE_UP,
)


def run(options: Options) -> Outcome:
    """Count failures in the paper's settings, and score every method there."""
    people = taxi(options.data)
    seeds = np.random.SeedSequence(options.seed).spawn(len(PRINTED))
    ours: dict[str, Any] = {}
    paper: dict[str, Any] = {}
    rows: list[dict[str, Value]] = []
    notes = set()
    for line, seed in zip(options.steps(PRINTED), seeds, strict=True):
        power, d, k, epsilon, failed, total = line
        n = max(100, int(2**power * options.people / PEOPLE))
        label = f"N=2^{power}, d={d}, k={k}, epsilon={epsilon:g}"
        paper[label] = {"paper_rule": f"{failed}/{total}"}
        wide = people.widened(d)
        subsets: Subsets = list(combinations(range(d), k))
        found, reasons = _setting(wide, k, epsilon, n, subsets, options.runs, seed)
        notes |= reasons
        ours[label] = found
        rows += [
            {"setting": label, "method": name, "total_variation": found["total_variation"][name]}
            for name in EVERY
        ]
    chart = bars(rows, "Total variation in the settings of table 3", "total_variation",
                 "mean total variation", "setting")  # fmt: skip
    return Outcome(paper, ours, {"errors": rows}, chart, (*NOTES, *sorted(notes)))


def _setting(
    people: People, k: int, epsilon: float, n: int, subsets: Subsets, runs: int,
    seed: np.random.SeedSequence,
) -> tuple[dict[str, Any], set[str]]:  # fmt: skip
    """Return failures and errors in one setting, means over runs, and why methods are missing."""
    methods: dict[str, Method] = {}
    reasons = set()
    for name in EVERY:
        try:
            methods[name] = method(name, people, k, epsilon, n)
        except InvalidParameter as error:
            reasons.add(f"{name}: {error}")
    failures: dict[str, list[float]] = {"paper_rule": [], "solver": [], "no_information": []}
    errors: dict[str, list[float]] = {name: [] for name in methods}
    for child in seed.spawn(runs):
        rng = np.random.default_rng(child)
        crowd = people.drawn(n, rng)
        truth = [crowd.marginal(subset) for subset in subsets]
        draw = int(rng.integers(2**63))
        for name, one in methods.items():
            # The same draws for all: methods that send the same reports have the same errors.
            draws = np.random.default_rng(draw)
            if isinstance(one.mechanism, InpEM):
                errors[name].append(_em(one.mechanism, crowd, subsets, truth, draws, failures))
            else:
                errors[name].append(error_of(one, crowd, subsets, truth, draws))
    scored = {name: mean(errors[name]) if name in errors else None for name in EVERY}
    counted = {name: mean(numbers) for name, numbers in failures.items()}
    return {**counted, "tables": len(subsets), "total_variation": scored}, reasons


def _em(
    mechanism: InpEM,
    crowd: Crowd,
    subsets: Subsets,
    truth: list[Floats],
    rng: np.random.Generator,
    failures: dict[str, list[float]],
) -> float:
    """Decode every table by the solver, count failures, return the mean total variation."""
    counts = mechanism.accumulate(mechanism.simulate(crowd.codes, rng))
    rule = solver = nothing = 0
    distances = []
    for subset, true in zip(subsets, truth, strict=True):
        observed, channel = mechanism.observed(counts, subset), mechanism.channel(subset)
        rule += stops_at_once(observed, channel)
        found = likely_table(mechanism, counts, subset)
        solver += found.gap > CERTIFIED
        nothing += not found.informative
        distances.append(float(np.abs(found.table.probability - true).sum() / 2))
    for name, number in (("paper_rule", rule), ("solver", solver), ("no_information", nothing)):
        failures[name].append(number)
    return float(np.mean(distances))


def stops_at_once(observed: Floats, channel: Floats) -> bool:
    """Tell whether the paper's iteration moves no share by more than STOP in its first step.

    x' = x * L'(u / (L x)), from equal shares, with u the shares of the reports and
    L = P(report | cell).
    """
    cells = np.full(channel.shape[1], 1 / channel.shape[1])
    u = observed / observed.sum()
    step = cells * (channel.T @ (u / (channel @ cells)))
    return bool(np.abs(step - cells).max() < STOP)


FIGURE = Figure(
    id="cks18-table3",
    paper="[CKS18] table 3",
    title="Failures of expectation maximisation",
    shows="The failures are those of a stopping rule: the certified solver has none.",
    run=run,
    runs=4,
    full_runs=10,
    people=PEOPLE,
    full_people=PEOPLE,
)
