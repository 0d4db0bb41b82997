"""Joint tables of several levels and versions as one, and their tests as one.

Model: every level has a table of its own, unbiased where it has no bounds, u_g with C_g. The whole
is sum w_g u_g with sum w_g^2 C_g, w_g in proportion to 1 / trace C_g; versions, which the same
people may answer, add w_g w_h c_gh (D - x x') for every two (`ask/pooling.py`). Tests of different
people are joined by Fisher's method, -2 sum log p_g; of versions the least counts as often as there
are versions (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable._distributions import chi2_sf
from deniable.ask.pooling import common_people
from deniable.ask.several import NAME_ONE
from deniable.ask.together import agreement
from deniable.associate import Independence, Joint, Pair
from deniable.associate.covariance import Placement, errors_around, sampling_covariance
from deniable.decode.significance import bh_adjusted, holm_adjusted
from deniable.engines.accumulated import Accumulated
from deniable.errors import InvalidParameter
from deniable.groups import pool_each, pool_groups
from deniable.mechanisms.base import Floats

_MOST_JOINT = 128
FISHER = (
    "Tests of levels, which are different people, are joined by Fisher's method; of versions the "
    "least p-value counts as often as there are versions (Bonferroni)."
)


@dataclass(frozen=True)
class LevelJoint:
    """The association of one level of one version, read as is asked for."""

    counted: Accumulated
    joint: Joint
    pairs: tuple[Pair, ...]
    mutual: tuple[Pair, ...]
    notes: tuple[str, ...] = ()


def pool_joints(
    parts: Sequence[LevelJoint], *, of_population: bool, new_people: bool
) -> tuple[Joint, tuple[Pair, ...], tuple[Pair, ...], tuple[str, ...]]:
    """Return the table of all levels and versions, its tests, and what is said about them.

    Raises:
        InvalidParameter: if a table is too large to have errors, by which it would be weighted.
    """
    joints = [part.joint for part in parts]
    wide = [
        joint.unbounded_covariance for joint in joints if joint.unbounded_covariance is not None
    ]
    active = [joint.covariance for joint in joints if joint.covariance is not None]
    if len(wide) < len(joints) or len(active) < len(joints):
        raise InvalidParameter(
            "Tables of so many cells have no errors, by which levels and versions are weighted.",
            f"{NAME_ONE} Or ask for fewer answers with --top.",
        )
    precision = np.array([1 / max(float(np.trace(one)), 1e-300) for one in wide])
    w = precision / precision.sum()
    shape = joints[0].probability.shape
    x, centre = (
        np.asarray(sum(a * table.reshape(-1) for a, table in zip(w, tables, strict=True)))
        for tables in ([j.probability for j in joints], [j.unbounded for j in joints])
    )
    common = common_people([p.counted for p in parts], apart=new_people or not of_population)
    shared = float(w @ common @ w) * sampling_covariance(x, 1)

    nothing = np.zeros_like(shared)
    stays = [joint.placement or Placement(nothing, nothing) for joint in joints]

    people = _people(joints, w)
    covariance = pooled_covariance(w, wide, [one.unbounded for one in stays]) + shared
    tight = pooled_covariance(w, active, [one.active for one in stays]) + shared
    grain = _grain(joints, w, covariance)
    errors = errors_around(x, centre, covariance, tight, joints[0].level, people, grain)
    joint = replace(
        joints[0],
        probability=x.reshape(shape),
        std_error=errors.std_error.reshape(shape),
        low=errors.low.reshape(shape),
        high=errors.high.reshape(shape),
        covariance=tight,
        n=sum(one.n for one in joints),
        gap=sum(one.gap for one in joints),
        rounds=max(one.rounds for one in joints),
        patterns=sum(one.patterns for one in joints),
        informative=any(one.informative for one in joints),
        notes=tuple(dict.fromkeys(note for one in joints for note in one.notes)),
        unbounded=centre.reshape(shape),
        unbounded_covariance=covariance,
        people=people,
        placement=None,
        grain=grain,
    )
    versions = [part.counted.question.version for part in parts]
    pairs = _joined([part.pairs for part in parts], versions)
    mutual = _joined([part.mutual for part in parts], versions)
    return joint, pairs, mutual, (_agree(parts, wide), FISHER)


def pooled_covariance(w: Floats, each: Sequence[Floats], stays: Sequence[Floats]) -> Floats:
    """Return the covariance of a weighted mean of tables whose other people's noise is their own.

    What stays is where unlisted strings fall. They may fall alike in every table, and whether they
    do or not, no mean of errors varies more than the mean of their variances.
    """
    parts = (a**2 * (one - stay) + a * stay for a, one, stay in zip(w, each, stays, strict=True))
    return np.asarray(sum(parts))


def _people(joints: Sequence[Joint], w: Floats) -> float | None:
    """Return the size of a sample with the pooled one's variance, where some cell has few."""
    if all(joint.people is None for joint in joints):
        return None
    sizes = [joint.people or float(joint.n) for joint in joints]
    return 1 / float(sum(a**2 / size for a, size in zip(w, sizes, strict=True)))


def _grain(joints: Sequence[Joint], w: Floats, covariance: Floats) -> Floats | None:
    """Return the grains of the mean: third cumulants add up as w^3 g k2, over its variance."""
    if all(joint.grain is None for joint in joints):
        return None
    third = sum(
        a**3 * joint.grain * joint.unbounded_covariance.diagonal()
        for a, joint in zip(w, joints, strict=True)
        if joint.grain is not None and joint.unbounded_covariance is not None
    )
    return np.asarray(third / np.maximum(covariance.diagonal(), 1e-300))


def _agree(parts: Sequence[LevelJoint], wide: Sequence[Floats]) -> str:
    """Return whether the tables agree, in a sentence."""
    tables = [part.joint.unbounded.reshape(-1) for part in parts]
    if len(tables[0]) <= _MOST_JOINT:
        found = pool_groups(tables, wide)
    else:
        found = pool_each(tables, [one.diagonal() for one in wide])
    asked = [part.counted.question for part in parts]
    several = len({one.version for one in asked}) > 1
    names = [f"{one.version} {one.level}".strip() if several else one.level for one in asked]
    return agreement("versions" if several else "levels", names, found)


def _joined(each: Sequence[tuple[Pair, ...]], versions: Sequence[int]) -> tuple[Pair, ...]:
    """Return the tests of every pair as one."""
    tests = [_test([pairs[i].test for pairs in each], versions) for i in range(len(each[0]))]
    values = np.array([test.p_value for test in tests])
    holm, bh = holm_adjusted(values), bh_adjusted(values)
    return tuple(
        Pair(each[0][i].names, test, float(holm[i]), float(bh[i])) for i, test in enumerate(tests)
    )


def _test(tests: Sequence[Independence], versions: Sequence[int]) -> Independence:
    found = []
    for version in dict.fromkeys(versions):
        own = [test for test, v in zip(tests, versions, strict=True) if v == version]
        one = own[0]
        if len(own) > 1:
            fisher = -2 * sum(math.log(max(test.p_value, 1e-300)) for test in own)
            p_value = float(chi2_sf(fisher, 2 * len(own)))
            one = replace(one, statistic=fisher, dof=2 * len(own), p_value=p_value)
        found.append(one)
    least = min(found, key=lambda test: test.p_value)
    notes = tuple(dict.fromkeys(note for test in tests for note in test.notes))
    p_value = min(1.0, len(found) * least.p_value)
    return replace(least, p_value=p_value, n=sum(test.n for test in tests), notes=notes)
