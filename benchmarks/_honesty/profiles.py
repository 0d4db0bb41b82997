"""Tables of profiles: coverage of raw cells and conditional shares, smoothed errors, the test."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from _honesty.grid import Cell, Measured, closed_shares, over_runs, share
from deniable.ask.profiles.reports import Profiles
from deniable.authoring import resolve
from deniable.decode.reading import Reading
from deniable.mechanisms import PROFILE_MECHANISMS, ProfileMechanism
from deniable.mechanisms.profile_base import unnamed_profile

ANSWERS = (2, 3, 2)
CELLS = int(np.prod(ANSWERS))
EXTRA: dict[str, dict[str, object]] = {"inp_olh": {"seeds": 1_024}}
NAMES = tuple(sorted(PROFILE_MECHANISMS))


def mechanism_of(name: str, epsilon: float, people: int) -> ProfileMechanism:
    """Return a mechanism of the grid."""
    kind, record = PROFILE_MECHANISMS[name], unnamed_profile(ANSWERS)
    wanted = {"epsilon": epsilon, "order": 2, **EXTRA.get(name, {})}
    if name == "views":
        wanted["people"] = people
    return kind.of(resolve(kind.parameters_type, wanted, record, False), record)


def population_of(cell: Cell) -> np.ndarray:
    """Return the share of every profile; of "zipf" the last one has what nobody listed."""
    return closed_shares(cell.population, CELLS)


def simulated(cell: Cell, runs: int) -> list[Measured]:
    """Return coverage of raw cells and conditional shares, errors of smoothed ones, the level."""
    mechanism, rng = mechanism_of(cell.mechanism, cell.epsilon, cell.people), cell.rng
    whole = population_of(cell).reshape(ANSWERS)
    reading = Reading(people=float(cell.epochs))
    covered, given, better, levels = [], [], [], []
    for _ in range(runs):
        reports = _reports(mechanism, cell, whole, reading, rng)
        inside, raw, smooth, parts = [], 0.0, 0.0, []
        for both in reports.tables(2):
            rest = next(i for i in range(3) if f"a{i + 1}" not in both.attributes)
            true = whole.sum(axis=rest)
            low, high = both.raw.low, both.raw.high
            known = np.isfinite(low)
            inside.append(((low <= true + 1e-9) & (true <= high + 1e-9))[known])
            cut = np.clip(np.nan_to_num(both.raw.probability, nan=0.5), 0.0, 1.0)
            raw += float(np.square(cut - true).sum())
            smooth += float(np.square(both.smoothed.probability - true).sum())
            parts.append(_conditional(both, true))
        covered.append(share(np.concatenate(inside)))
        given.append(share(np.concatenate(parts)))
        better.append(smooth / raw if raw > 0 else np.nan)
        independent = _independent(whole)
        alike = _reports(mechanism, cell, independent, reading, rng)
        p_values = [test.test.p_value for test in alike.pairs.tests()]
        levels.append(share(np.array([p <= 0.05 for p in p_values if np.isfinite(p)])))
    return [
        *over_runs("coverage of raw cells", covered, 3 * 5),
        *over_runs("coverage of conditional shares", given, 6),
        *over_runs("smoothed over raw squared error", better),
        *over_runs("type I error of pairs", levels, 3),
    ]


def _independent(whole: np.ndarray) -> np.ndarray:
    """Return the profiles with the same shares of single attributes, all independent."""
    one, two, three = whole.sum(axis=(1, 2)), whole.sum(axis=(0, 2)), whole.sum(axis=(0, 1))
    return np.einsum("i,j,k->ijk", one, two, three)


def _conditional(both: Any, true: np.ndarray) -> np.ndarray:
    """Return which shares of the second attribute given the first lie in their intervals."""
    first, second = both.attributes
    shown = both.given({first: None}).raw
    true = true if shown.attributes == (first, second) else true.T
    axis = shown.attributes.index(second)
    total = true.sum(axis=axis, keepdims=True)
    unknown = ~np.isfinite(shown.low)  # "no information" replaces the interval
    wanted = true / np.maximum(total, 1e-300)
    inside = (shown.low <= wanted + 1e-9) & (wanted <= shown.high + 1e-9)
    return np.asarray((inside | unknown)[np.broadcast_to(total > 0, inside.shape)])


def _reports(
    mechanism: ProfileMechanism,
    cell: Cell,
    whole: np.ndarray,
    reading: Reading,
    rng: np.random.Generator,
) -> Profiles:
    places = rng.choice(CELLS, size=cell.people, p=whole.reshape(-1) / whole.sum())
    codes = np.stack(np.unravel_index(places, ANSWERS), axis=1)
    again = np.concatenate([codes] * cell.epochs)
    counts = mechanism.accumulate(mechanism.simulate(again, rng))
    # Only error messages name the question.
    return Profiles(cast(Any, None), mechanism, counts, reading)
