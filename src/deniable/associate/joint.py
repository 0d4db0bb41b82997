"""The joint distribution of two or more variables, with its error."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from deniable import _validate
from deniable.associate.covariance import (
    LARGEST_TABLE,
    CellErrors,
    Placement,
    errors_around,
    half_width,
    placed,
    regrained,
)
from deniable.associate.few_people import SAID, errors_of
from deniable.associate.other import DEFAULT_PROFILE
from deniable.associate.patterns import Patterns, empty_cohorts, patterns_of
from deniable.associate.placement import Placing, placing_of
from deniable.associate.variable import Variable
from deniable.decode.mixture import Mixture, fit_rows
from deniable.decode.mixture.em import run_em, run_squarem
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms.base import Floats

SOLVERS = ("sqp", "squarem", "em")
GAP = 1e-6
"""The certificate, per report, above which a fit is noted to have stopped early."""
NO_INFORMATION = (
    "No information at this epsilon and n: every cell's error is as large as all that the "
    "marginals allow. Collect more reports, or ask for fewer categories."
)


@dataclass(frozen=True)
class Joint:
    """A table of probabilities, one axis per variable.

    Attributes:
        names: of the variables.
        labels: of each axis, "(other)" last where there is one.
        probability: the maximum-likelihood table; at least 0, summing to 1.
        std_error: one standard deviation of each cell, as if no cell had a bound at 0.
        low: of each cell's interval.
        high: of each cell's interval.
        covariance: cells x cells (C order), on the tangent of the simplex and the active set: cells
            at 0 have none. None for tables that are too large to keep it.
        n: reports.
        gap: no table has a log-likelihood larger by more: the certificate.
        rounds: of the solver.
        solver: "sqp", "squarem" or "em".
        patterns: distinct rows of likelihoods after grouping.
        informative: whether some cell is known better than the marginals alone determine it.
        notes: caveats for the reader.
        level: of the intervals.
        unbounded: the table one Newton step from the maximum without the bounds at 0; nearly
            unbiased, may be negative, and the centre of the intervals.
        unbounded_covariance: of `unbounded`, on the tangent of the simplex alone.
        people: the size of the sample, where some cell has so few people that intervals allow for
            it (`few_people`); else None.
        placement: the parts of both covariances that do not fall with the number of people: where
            unlisted strings happen to fall (`placement`); None if there are no such parts.
        grain: the share that one telling report adds to each cell, flat in C order, where these may
            be few (`few_people`); else None.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    probability: Floats
    std_error: Floats
    low: Floats
    high: Floats
    covariance: Floats | None
    n: int
    gap: float
    rounds: int
    solver: str
    patterns: int
    informative: bool
    notes: tuple[str, ...] = ()
    level: float = 0.95
    unbounded: Floats = field(default_factory=lambda: np.empty(0))
    unbounded_covariance: Floats | None = None
    people: float | None = None
    placement: Placement | None = None
    grain: Floats | None = None


@one_thread
def estimate_joint(
    variables: Sequence[Variable],
    *,
    solver: str = "sqp",
    level: float = 0.95,
    profile: str = DEFAULT_PROFILE,
) -> Joint:
    """Return the maximum-likelihood joint distribution of the variables.

    Model: P(reports of a person) = sum over cells x_cell product over variables P(report | answer),
    maximised over tables x on the simplex: a concave problem, so the maximum is global.

    Guarantees: `gap` bounds what any other table could gain in log-likelihood, whatever the solver.

    Accuracy: intervals are those of the unbounded table (see `Joint`), cut to 0..1, and contain
        the estimate: where cells are at 0, the bounded ones would be too narrow.

    Cost: see `patterns_of` and `Product`. Tables of more than 2,048 cells are solved by SQUAREM,
        and have no errors.

    Edge cases: cohorts without reports are noted. Where every cell's error is as large as all that
        the marginals allow, `informative` is False and a note says so.

    Args:
        variables: two or more, with the same people.
        solver: "sqp" (the default), "squarem" or "em".
        level: of the intervals.
        profile: of "(other)"; "fitted" is the paper's, see `other`.

    Raises:
        InvalidParameter: if the variables cannot be analysed together, or a parameter is wrong.

    Example:
        >>> import numpy as np
        >>> from deniable.associate import Variable
        >>> from deniable.mechanisms import KRR
        >>> rng = np.random.default_rng(1)
        >>> m, dark = KRR(2, epsilon=2.0), rng.integers(2, size=20_000)
        >>> small = np.where(rng.random(20_000) < 0.8, dark, 1 - dark)
        >>> answers = {"dark": dark, "small": small}
        >>> pair = [Variable(name, m, m.simulate(codes, rng)) for name, codes in answers.items()]
        >>> joint = estimate_joint(pair)
        >>> joint.probability.round(1).tolist()
        [[0.4, 0.1], [0.1, 0.4]]
    """
    check_options(solver, level)
    patterns = patterns_of(variables, profile=profile)
    return joint_of_patterns(variables, patterns, solver=solver, level=level, profile=profile)


def check_options(solver: str, level: float) -> None:
    """Refuse a solver that does not exist, or a level outside 0..1."""
    if solver not in SOLVERS:
        raise _validate.invalid("solver", "estimate_joint", f"one of {', '.join(SOLVERS)}", solver)
    if not 0 < level < 1:
        raise _validate.invalid("level", "estimate_joint", "a number between 0 and 1", level)


@dataclass(frozen=True)
class Told:
    """Facts that reports tell beside their likelihoods, so that they can be let go of.

    Attributes:
        notes: caveats.
        placing: where unlisted strings fall; None where no field needs it.
    """

    notes: tuple[str, ...]
    placing: Placing | None


def told_of(variables: Sequence[Variable], profile: str = DEFAULT_PROFILE) -> Told:
    """Look at the reports themselves."""
    cells = math.prod(len(variable.categories) for variable in variables)
    # Larger tables have no errors.
    placing = placing_of(variables, profile) if cells <= LARGEST_TABLE else None
    return Told(tuple(notes_of(variables)), placing)


@one_thread
def joint_of_patterns(
    variables: Sequence[Variable],
    patterns: Patterns,
    *,
    solver: str = "sqp",
    level: float = 0.95,
    margins: Sequence[Floats] | None = None,
    profile: str = DEFAULT_PROFILE,
    told: Told | None = None,
) -> Joint:
    """Return the joint distribution from likelihoods, and perhaps margins and more, known already.

    Args:
        variables: whose likelihoods they are; with `told` their reports are not looked at.
        patterns: the likelihoods.
        solver: as in `estimate_joint`.
        level: of the intervals.
        margins: the variables' own fits.
        profile: of "(other)".
        told: what `told_of` said of the reports.
    """
    solver = _possible(solver, patterns)
    told = told_of(variables, profile) if told is None else told
    notes = list(told.notes)
    fit = _solved(patterns, solver, margins)
    if not fit.converged and fit.gap > GAP * patterns.n:
        notes.append(f"The solver stopped early: another table may be likelier by e^{fit.gap:.3g}.")
    errors, few = errors_of(variables, patterns, fit.weights, level)
    if few:
        notes.append(SAID)
    people = float(patterns.n) if few else None
    errors, placement = _with_placement(told.placing, errors, fit.weights, level, people)
    if errors.covariance is None:
        notes.append(
            f"Tables of more than {LARGEST_TABLE:,} cells have no standard errors: use fewer "
            "candidates."
        )
    shape = patterns.sizes
    probability, low, high = (
        part.reshape(shape) for part in (fit.weights, errors.low, errors.high)
    )
    informative = _informative(probability, half_width(level) * errors.std_error.reshape(shape))
    if not informative:
        notes.append(NO_INFORMATION)
    return Joint(
        tuple(variable.name for variable in variables),
        tuple(variable.categories for variable in variables),
        probability,
        errors.std_error.reshape(shape),
        low,
        high,
        errors.covariance,
        int(patterns.n),
        fit.gap,
        fit.rounds,
        solver,
        patterns.rows,
        informative,
        tuple(notes),
        level,
        errors.unbounded.reshape(shape),
        errors.unbounded_covariance,
        people,
        placement,
        errors.grain,
    )


def _with_placement(
    placing: Placing | None,
    errors: CellErrors,
    x: Floats,
    level: float,
    people: float | None,
) -> tuple[CellErrors, Placement | None]:
    """Return the errors with those of where unlisted strings happen to fall, and these alone."""
    sigma, active = errors.unbounded_covariance, errors.covariance
    if sigma is None or active is None or placing is None:
        return errors, None
    part = placed(errors, placing.scores(x, level))
    if part is None:
        return errors, None
    wide, tight = sigma + part.unbounded, active + part.active
    grain = regrained(errors.grain, sigma, wide)
    return errors_around(x, errors.unbounded, wide, tight, level, people, grain), part


def _possible(solver: str, patterns: Patterns) -> str:
    return "squarem" if solver == "sqp" and patterns.cells > LARGEST_TABLE else solver


def _solved(patterns: Patterns, solver: str, margins: Sequence[Floats] | None) -> Mixture:
    """Fit the table: SQP from independence, the others from a uniform table as they are known."""
    if solver == "sqp":
        found = marginal_fits(patterns) if margins is None else margins
        return fit_rows(patterns, start=independent_table(found))
    run = run_em if solver == "em" else run_squarem
    return run(patterns, gap=GAP / 2 * patterns.n)


def marginal_fits(patterns: Patterns) -> list[Floats]:
    """Return each variable's own maximum-likelihood distribution."""
    return [fit_rows(patterns.alone(place)).weights for place in range(len(patterns.sizes))]


def independent_table(margins: Sequence[Floats]) -> Floats:
    """Return the table of independent variables, flat in C order."""
    return functools.reduce(np.multiply.outer, margins).reshape(-1)


def notes_of(variables: Sequence[Variable]) -> Iterator[str]:
    """Yield what there is to say of the variables' reports."""
    for variable in variables:
        empty = empty_cohorts(variable)
        if empty:
            yield f"{empty} cohorts of '{variable.name}' have no reports."


def _informative(probability: Floats, wide: Floats) -> bool:
    """Tell whether some half-width is below the range that the marginals allow (Frechet)."""
    axes = range(probability.ndim)
    margins = [probability.sum(axis=tuple(a for a in axes if a != axis)) for axis in axes]
    # max(0, sum of margins - (k - 1)) <= cell <= least margin, whatever the dependence.
    largest = functools.reduce(np.minimum.outer, margins)
    smallest = np.maximum(0.0, functools.reduce(np.add.outer, margins) - (len(margins) - 1))
    # NaN: without errors there is no interval to judge by.
    return bool(np.any((wide < largest - smallest) | np.isnan(wide)))
