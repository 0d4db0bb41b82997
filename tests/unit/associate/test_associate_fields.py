from __future__ import annotations

import numpy as np
import pytest

from deniable.associate import Variable
from deniable.associate.fields import field_rows
from deniable.mechanisms import OLH, Rappor

STRINGS = ("red", "green", "blue")


def strings_of(rng, mechanism, *, other, n=3_000):
    reports = mechanism.simulate(rng.integers(0, 3, n), rng, STRINGS)
    return Variable("colour", mechanism, reports, STRINGS, other=other)


def slow_lines(variable):
    """The likelihoods of every report by itself, scaled to a maximum of 1."""
    found = variable.mechanism.likelihood(variable.reports, variable.candidates)
    return (found / found.max(axis=1, keepdims=True)).T


@pytest.mark.parametrize("bits", [8, 64])  # of 8 bits a string's two often fall together
def test_bloom_filters_that_say_the_same_of_all_strings_are_computed_once(bits, rng):
    mechanism = Rappor(bits=bits, hashes=2, cohorts=16, epsilon=3.0)
    variable = strings_of(rng, mechanism, other=False)
    rows = field_rows(variable)
    assert rows.codes is not None
    assert rows.lines.shape[1] < 150
    assert np.allclose(rows.lines[:, rows.codes], slow_lines(variable), rtol=1e-12, atol=0)


def test_permuted_answers_are_grouped_likewise(rng):
    mechanism = Rappor.permuted(12, bits=6, hashes=2, cohorts=64, epsilon=2.0)
    variable = Variable("number", mechanism, mechanism.simulate(rng.integers(0, 12, 4_000), rng))
    rows = field_rows(variable)
    assert rows.codes is not None
    assert np.allclose(rows.lines[:, rows.codes], slow_lines(variable), rtol=1e-12, atol=0)


@pytest.mark.parametrize("other", [True, False])
def test_hashed_reports_are_grouped_by_whom_they_support(other, rng):
    variable = strings_of(rng, OLH(epsilon=1.0), other=other)
    rows = field_rows(variable)
    assert rows.codes is not None
    assert rows.lines.shape == (3 + other, 8)  # a bit for each string
    expected = slow_lines(variable)
    found = rows.lines[:3, rows.codes]
    assert np.allclose(found / found.max(axis=0), expected, rtol=1e-12, atol=0)
    if other:  # 1/g of the symbols, whichever was reported
        shape = variable.mechanism.parameters
        listed = variable.mechanism.likelihood(variable.reports, variable.candidates)[:, 0]
        ratio = rows.lines[3, rows.codes] / rows.lines[0, rows.codes]
        assert np.allclose(ratio * listed * shape.seeds * shape.symbols, 1.0, rtol=1e-12)


def test_beside_other_strings_every_filter_is_its_own(rng):
    mechanism = Rappor(bits=64, hashes=2, cohorts=16, epsilon=3.0)
    rows = field_rows(strings_of(rng, mechanism, other=True))
    assert rows.codes is None
    assert rows.lines.shape == (4, 3_000)


def test_what_is_said_of_many_strings_is_not_compared(rng):
    mechanism = Rappor(bits=128, hashes=2, cohorts=16, epsilon=3.0)
    strings = tuple(str(number) for number in range(31))
    reports = mechanism.simulate(rng.integers(0, 31, 2_000), rng, strings)
    rows = field_rows(Variable("word", mechanism, reports, strings, other=False))
    assert rows.codes is None
    assert rows.lines.shape == (31, 2_000)
