"""A joint table as it is read: of the population or of the reporters, of one epoch or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from deniable.ask.intervals import reading_of
from deniable.ask.options import Options
from deniable.associate import Joint, Pair
from deniable.associate.covariance import Placement, errors_around, sampling_covariance
from deniable.decode.reading import Reading
from deniable.decode.significance import bh_adjusted, holm_adjusted
from deniable.mechanisms.base import Floats
from deniable.protocol import Field, Question


def read_together(
    options: Options, question: Question, fields: Sequence[Field], epochs: Mapping[int, int]
) -> Reading:
    """Return how a table of several fields is read: noise recurs where that of any of them does."""
    each = [reading_of(options, question, field, epochs) for field in fields]
    return replace(each[0], noise=max(one.noise for one in each))


def joint_read(
    joint: Joint, reading: Reading, drawn_from: int | None = None
) -> tuple[Joint, float]:
    """Return the table with the errors of a reading, and how many times larger they are at most.

    A fitted table has the errors of the population, from reports of as many different people. The
    noise is what they leave beside the sample's part. Where the reports are n of N that were drawn
    at random without replacement, the reporters are all N, and (1 - n/N) (D - x x')/n of the sample
    stays for them, too.

    Guarantees: the centres stay; intervals lie in 0..1 and hold the shares. The part of the errors
        that no number of people makes smaller stays, too: in all epochs strings fall alike.
    """
    if reading.of == "population" and reading.noise == reading.people == 1:
        return joint, 1.0
    if joint.covariance is None or joint.unbounded_covariance is None:  # too large to have errors
        return joint, float(np.sqrt(max(reading.noise, reading.people)))
    x = joint.probability.reshape(-1)
    sample = sampling_covariance(x, joint.n)
    # Of n drawn from N reporters as good as (1 - n/N) of the sample's variance is theirs.
    left = 1 - joint.n / (drawn_from or joint.n)
    part = reading.people if reading.of == "population" else left
    kept = part * sample

    stays = joint.placement or Placement(np.zeros_like(sample), np.zeros_like(sample))

    def read(covariance: Floats, part: Floats) -> Floats:
        return np.asarray(reading.noise * (covariance - sample - part) + kept + part)

    wide = read(joint.unbounded_covariance, stays.unbounded)
    active = read(joint.covariance, stays.active)
    # Where strings fall says nothing of what goes together: tests know the rest alone.
    after, before = (
        (one - stays.unbounded).diagonal() for one in (wide, joint.unbounded_covariance)
    )
    factor = float(np.sqrt(max(1.0, float((after / np.maximum(before, 1e-300)).max()))))
    people = None
    if joint.people is not None and part > 0:
        people = joint.people / part
    grain = _coarser(joint, wide)
    centre = joint.unbounded.reshape(-1)
    errors = errors_around(x, centre, wide, active, joint.level, people, grain)
    shape = joint.probability.shape
    return (
        replace(
            joint,
            std_error=errors.std_error.reshape(shape),
            low=errors.low.reshape(shape),
            high=errors.high.reshape(shape),
            covariance=active,
            unbounded_covariance=wide,
            people=people,
            grain=grain,
        ),
        factor,
    )


def _coarser(joint: Joint, wide: Floats) -> Floats | None:
    """Return the grains where errors are other ones: a report that recurs adds its share again.

    With a variance that is phi times as large a count is read as count / phi of phi grains.
    """
    if joint.grain is None or joint.unbounded_covariance is None:
        return None
    before = np.maximum(joint.unbounded_covariance.diagonal(), 1e-300)
    return np.asarray(joint.grain * np.maximum(wide.diagonal() / before, 1.0))


def weakened(pairs: tuple[Pair, ...], factor: float) -> tuple[Pair, ...]:
    """Return the tests as if all standard errors were larger by a factor.

    A statistic is a quadratic form in standardised contrasts: it shrinks by the factor's square.
    """
    if factor == 1:
        return pairs
    tests = []
    for pair in pairs:
        statistic = pair.test.statistic / factor**2
        p_value = pair.test.p_of(statistic)
        weaker = max(p_value, pair.test.p_value)
        tests.append(replace(pair.test, statistic=statistic, p_value=weaker))
    values = np.array([test.p_value for test in tests])
    holm, bh = holm_adjusted(values), bh_adjusted(values)
    return tuple(
        replace(pair, test=test, holm=float(holm[i]), bh=float(bh[i]))
        for i, (pair, test) in enumerate(zip(pairs, tests, strict=True))
    )
