"""Associations keep their promises: level of the test, coverage of the cells, bias with "other"."""

from __future__ import annotations

import numpy as np
from scipy import stats

from deniable.associate import Variable, estimate_joint, independence, odds_ratios
from deniable.associate.independence import chance_of
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, Prefixes, Rappor
from deniable.testing.power import miss_mean
from deniable.testing.statistics import accept, mean, proportion, reject

ALPHA = 1e-9
ONE, TWO = KRR(3, epsilon=1.5), Rappor.basic(4, epsilon=1.5)
BLOOM = Rappor(bits=32, hashes=2, cohorts=4, epsilon=4.0)


def fields(table: np.ndarray, n: int, rng: np.random.Generator) -> list[Variable]:
    x, y = np.unravel_index(rng.choice(table.size, n, p=table.ravel()), table.shape)
    return [Variable("a", ONE, ONE.simulate(x, rng)), Variable("b", TWO, TWO.simulate(y, rng))]


def margins(rng: np.random.Generator) -> np.ndarray:
    """A table of independent variables, drawn uniformly as in [FPE16, appendix A]."""
    return np.outer(rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4)))


def rejections(rng: np.random.Generator, runs: int, diagonal: float) -> int:
    found = 0
    for _ in range(runs):
        table = margins(rng) + diagonal * np.eye(3, 4)
        found += independence(fields(table / table.sum(), 2_000, rng)).p_value < 0.05
    return found


def test_independent_variables_are_rejected_at_the_level_of_the_test(rng):
    accept(proportion(rejections(rng, 600, 0.0), 600, 0.05, tolerance=0.01), ALPHA)
    # Dependence is found in more than half of the runs; accepted would be at most about 18%.
    cut = stats.binom.isf(ALPHA / 2, 200, 0.06) + 1
    miss = float(stats.binom.cdf(cut, 200, 0.5))
    found = rejections(rng, 200, 0.5)
    reject(proportion(found, 200, 0.05, tolerance=0.01), ALPHA, miss=miss)


def test_independent_strings_of_which_few_reports_tell(rng):
    """Of 300 people some 130 report whole strings, and half of these hide them."""
    runs, size, letters = 2_000, 20, list("abcdefghijklmnopqrstuvwxyz")
    shares = 1 / np.arange(1, size + 1)
    mechanism = Prefixes(epsilon=4.0, alphabet="".join(letters), length=6, people=600)
    found = before = 0
    for _ in range(runs):
        both = []
        for name in "ab":
            names = ["".join(row) for row in rng.choice(letters, size=(size, 6))]
            codes = rng.choice(size, 300, p=shares / shares.sum())
            reports = mechanism.simulate(codes, rng, names)
            both.append(Variable(name, mechanism, reports, tuple(names[:5])))
        try:
            test = independence(both, method="score")
        except InvalidParameter:  # strings that no report tells apart
            continue
        found += test.p_value < 0.05
        before += chance_of(test.statistic, test.dof, 1.0) < 0.05
    accept(proportion(found, runs, 0.05, tolerance=0.03), ALPHA)
    # A chi-square is exceeded in 20%.
    cut = stats.binom.isf(ALPHA / 2, runs, 0.08) + 1
    miss = float(stats.binom.cdf(cut, runs, 0.19))
    reject(proportion(before, runs, 0.05, tolerance=0.03), ALPHA, miss=miss)


def test_intervals_of_cells_cover(rng):
    """One cell of each run, so that the trials are independent."""
    runs, covered, narrow = 500, 0, 0
    for _ in range(runs):
        table = margins(rng)
        joint = estimate_joint(fields(table, 3_000, rng))
        cell = tuple(rng.integers(0, size) for size in table.shape)
        covered += joint.low[cell] <= table[cell] <= joint.high[cell]
        half = stats.norm.isf(0.025) * joint.std_error[cell] / 3
        narrow += abs(joint.unbounded[cell] - table[cell]) <= half
    accept(proportion(int(covered), runs, 0.95, tolerance=0.03), ALPHA)
    # Intervals a third as wide cover 49%.
    cut = stats.binom.ppf(ALPHA / 2, runs, 0.92) - 1
    miss = float(stats.binom.sf(cut, runs, 0.57))
    reject(proportion(int(narrow), runs, 0.95, tolerance=0.03), ALPHA, miss=miss)


def known_cell(rng: np.random.Generator, run: int, other: bool) -> float:
    """Return the error of a known cell in standard errors, with 20% of people unlisted."""
    names = [f"{run}/{number}" for number in range(13)]
    share = np.append([0.4, 0.25, 0.15], np.full(10, 0.02))
    x = rng.choice(13, 4_000, p=share)
    y = np.where(rng.random(4_000) < 0.5, np.minimum(x, 2), rng.integers(0, 3, 4_000))
    site = Variable("a", BLOOM, BLOOM.simulate(x, rng, names), tuple(names[:3]), other=other)
    joint = estimate_joint([site, Variable("b", ONE, ONE.simulate(y, rng))])
    truth = 0.4 * (0.5 + 0.5 / 3)
    return float((joint.unbounded[0, 0] - truth) / joint.std_error[0, 0])


def test_unlisted_strings_do_not_move_the_known_cells(rng):
    runs = 100
    errors = {
        other: [known_cell(rng, run, other) for run in range(runs)] for other in (True, False)
    }
    spread = 1.1 / np.sqrt(runs)
    accept(mean(float(np.mean(errors[True])), 0.0, spread), ALPHA)
    # Without the category their mass goes to the known ones: by at least two standard errors.
    miss = miss_mean(2 / spread, ALPHA)
    reject(mean(float(np.mean(errors[False])), 0.0, spread), ALPHA, miss=miss)


def test_intervals_of_odds_ratios_cover_with_few_reports(rng):
    """20 people in 3 x 3 cells: each run one cell. Intervals a tenth as wide are noticed."""
    table = np.array([[0.30, 0.10, 0.05], [0.10, 0.20, 0.05], [0.05, 0.05, 0.10]])
    mechanism, runs, covered, narrow = KRR(3, epsilon=8.0), 300, 0, 0
    for _ in range(runs):
        x, y = np.unravel_index(rng.choice(9, 20, p=table.ravel()), (3, 3))
        pair = {"a": x, "b": y}
        found = odds_ratios(
            estimate_joint(
                [Variable(n, mechanism, mechanism.simulate(c, rng)) for n, c in pair.items()]
            )
        )
        i, j = rng.integers(0, 3, size=2)
        a, row, column = table[i, j], table[i].sum(), table[:, j].sum()
        true = a * (1 - row - column + a) / ((row - a) * (column - a))
        covered += found.low[i, j] <= true <= found.high[i, j]
        off = abs(np.log(max(found.value[i, j], 1e-9)) - np.log(true))
        narrow += off <= 0.196 * np.nan_to_num(found.std_error[i, j], nan=1.0)
    accept(proportion(int(covered), runs, 0.98, tolerance=0.02), ALPHA)
    reject(proportion(int(narrow), runs, 0.98, tolerance=0.02), ALPHA, miss=1e-9)


def test_intervals_of_odds_ratios_cover_what_nobody_has(rng):
    """No logarithm is that of 0: an interval that is symmetric in it left the truth out."""
    table, mechanism, runs, covered, before = (
        np.array([0.5, 0.2, 0.3, 0.0]),
        KRR(2, epsilon=3.0),
        300,
        0,
        0,
    )
    for _ in range(runs):
        pair = zip("ab", np.unravel_index(rng.choice(4, 200, p=table), (2, 2)), strict=True)
        both = [Variable(name, mechanism, mechanism.simulate(codes, rng)) for name, codes in pair]
        found = odds_ratios(estimate_joint(both))
        covered += found.low[0, 0] == 0 and np.isinf(found.high[0, 1])
        before += not found.value[0, 0] * np.exp(-1.96 * found.std_error[0, 0]) > 0
    accept(proportion(int(covered), runs, 0.975, tolerance=0.025), ALPHA)
    reject(proportion(int(before), runs, 0.975, tolerance=0.025), ALPHA, miss=1e-9)
