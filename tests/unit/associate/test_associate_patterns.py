from __future__ import annotations

import numpy as np
import pytest

from deniable.associate import Variable, estimate_joint
from deniable.associate.fields import field_rows
from deniable.associate.patterns import empty_cohorts, patterns_of
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, OUE, Rappor
from material.associate_people import CLOSED, OPEN, STRINGS, closed, dependent, opened, two_fields


def slow_lines(variable: Variable) -> np.ndarray:
    """The slow twin: every report's own likelihoods, scaled to a maximum of 1."""
    table = variable.mechanism.likelihood(variable.reports, variable.candidates)
    return (table / table.max(axis=1)[:, None]).T


@pytest.mark.parametrize("kind", CLOSED)
def test_grouped_records_have_the_likelihoods_of_their_reports(kind, rng):
    variable = closed("a", rng.integers(0, 3, 500), rng, kind)
    rows = field_rows(variable)
    assert rows.codes is not None
    assert rows.lines.shape[1] < 500
    assert np.allclose(rows.lines[:, rows.codes], slow_lines(variable))


@pytest.mark.parametrize("kind", OPEN)
def test_hashed_records_have_the_likelihoods_of_their_reports(kind, rng):
    full = opened("a", rng.integers(0, 3, 500), rng, kind)
    variable = Variable("a", full.mechanism, full.reports, STRINGS, other=False)
    rows = field_rows(variable)
    lines = rows.lines if rows.codes is None else rows.lines[:, rows.codes]
    assert np.allclose(lines, slow_lines(variable))
    whole = field_rows(full)
    assert whole.lines.shape[0] == 4
    assert np.all(whole.lines > 0)


def test_weights_count_the_reports_of_each_pattern(rng):
    variables = two_fields(rng)
    patterns = patterns_of(variables)
    seen = {
        (int(one), int(two))
        for one, two in zip(
            variables[0].reports["symbol"], variables[1].reports["bits"][:, 0], strict=True
        )
    }
    assert patterns.rows == len(seen)
    assert patterns.shares.sum() == pytest.approx(1)
    assert patterns.n == 4_000
    assert np.allclose(patterns.shares * 4_000, np.round(patterns.shares * 4_000))


@pytest.mark.parametrize("kind", ["olh", "bloom"])
def test_the_result_does_not_depend_on_the_chunk(kind, rng):
    x, y = dependent(rng, 3_001)
    variables = [opened("a", x, rng, kind), opened("b", y, rng, "bloom")]
    once, often = patterns_of(variables), patterns_of(variables, chunk=333)
    assert once.rows == 3_001
    for one, two in zip(once.factors, often.factors, strict=True):
        assert np.array_equal(one, two)


def test_fields_of_one_record_are_read_where_they_lie(rng):
    x, y = dependent(rng, 300)
    a, b = closed("a", x, rng), closed("b", y, rng, "oue")
    joined = np.zeros(300, dtype=[("a", a.reports.dtype), ("b", b.reports.dtype)])
    joined["a"], joined["b"] = a.reports, b.reports
    strided = [Variable("a", a.mechanism, joined["a"]), Variable("b", b.mechanism, joined["b"])]
    assert np.array_equal(patterns_of([a, b]).shares, patterns_of(strided).shares)


def test_many_bits_do_not_underflow(rng):
    wide = OUE(3_000, epsilon=1.0)
    codes = rng.integers(0, 3, 40)
    reports = wide.simulate(codes, rng)
    assert wide.likelihood(reports).max() == 0  # the probabilities themselves are too small
    some = Variable("a", wide, reports, candidates=("0", "1", "2"))
    assert np.isfinite(field_rows(some).lines).all()
    assert field_rows(some).lines.max(axis=0) == pytest.approx(np.ones(40))


def test_fields_of_different_people_are_refused(rng):
    a, b = closed("a", np.zeros(5, int), rng), closed("b", np.zeros(6, int), rng)
    with pytest.raises(InvalidParameter, match=r"'a' 5, 'b' 6.*fields of one question"):
        patterns_of([a, b])
    with pytest.raises(InvalidParameter, match=r"two or more different fields\. Got a"):
        patterns_of([a])
    with pytest.raises(InvalidParameter, match="Got a, a"):
        patterns_of([a, a])
    none = [closed(name, np.zeros(0, int), rng) for name in "ab"]
    with pytest.raises(InvalidParameter, match="no reports"):
        patterns_of(none)


def test_a_million_cells_are_refused_with_the_memory_they_would_need(rng):
    large = KRR(1_000, epsilon=1.0)
    variables = [Variable(name, large, np.zeros(3, large.dtype)) for name in "ab"]
    with pytest.raises(InvalidParameter, match=r"1,000,000 cells.* 8 TB.*fewer candidates"):
        estimate_joint(variables)


def test_candidates_that_set_the_same_bits_are_named(rng):
    tiny = Rappor(bits=2, hashes=1, cohorts=1, epsilon=2.0)
    names = [f"s{number}" for number in range(8)]
    held = [tiny.likelihood(np.zeros(1, tiny.dtype), [name])[0, 0] for name in names]
    same = tiny.simulate(np.zeros(200, int), rng, names)
    place = {tuple(np.round(tiny.likelihood(same, [name])[:, 0], 12)): name for name in names}
    assert len(held) == 8
    assert len(place) == 2
    one, two = next(
        (a, b)
        for a in names
        for b in names
        if a < b and np.array_equal(tiny.likelihood(same, [a]), tiny.likelihood(same, [b]))
    )
    variables = [
        Variable("site", tiny, same, (one, two), other=False),
        closed("b", np.zeros(200, int), rng),
    ]
    with pytest.raises(InvalidParameter, match=f"'site' cannot be told apart.*'{one}', '{two}'"):
        patterns_of(variables)


def test_cohorts_without_reports_are_counted_and_noted(rng):
    x, y = dependent(rng, 3_000)
    full = opened("site", x, rng, "bloom")
    kept = full.reports["cohort"] != 2
    part = Variable("site", full.mechanism, full.reports[kept], STRINGS)
    assert (empty_cohorts(full), empty_cohorts(part)) == (0, 1)
    other = closed("b", y[kept], rng)
    assert empty_cohorts(other) == 0
    assert estimate_joint([part, other]).notes[0] == "1 cohorts of 'site' have no reports."
