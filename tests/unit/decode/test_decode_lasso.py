from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.lasso import decode_lasso
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, Rappor

RAPPOR = Rappor(bits=32, hashes=2, cohorts=8, p=0.25, q=0.75)
STRINGS = [f"s{i}" for i in range(60)]
PEOPLE = [40_000, 30_000, 20_000, 10_000]


def test_it_finds_the_frequent_strings(counts_of, rng):
    found = decode_lasso(RAPPOR, counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng), STRINGS)
    assert found.bonferroni[:3].all()
    assert (found.bonferroni <= found.bh).all()
    assert (found.bh <= found.selected).all()
    truth = np.array(PEOPLE[:3]) / sum(PEOPLE)
    assert np.abs(found.frequency[:3] - truth).max() < 6 * found.std_error[:3].max()


def test_the_second_step_is_least_squares_on_the_selected(counts_of, rng, cells_of):
    counts = counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng)
    found = decode_lasso(RAPPOR, counts, STRINGS)
    x = cells_of(RAPPOR, STRINGS)[found.selected].T
    share = (counts.table / counts.reports[:, None]).ravel()
    y = (share - 0.25) / 0.5
    solution, squares, _, _ = np.linalg.lstsq(x, y)
    assert np.allclose(found.frequency[found.selected], solution)
    noise = squares[0] / (y.size - x.shape[1])
    errors = np.sqrt(noise * np.linalg.inv(x.T @ x).diagonal())
    assert np.allclose(found.std_error[found.selected], errors)


def test_what_was_not_selected_has_no_error_and_no_significance(counts_of, rng):
    found = decode_lasso(RAPPOR, counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng), STRINGS)
    left = ~found.selected
    assert left.any()
    assert (found.frequency[left] == 0).all()
    assert np.isnan(found.std_error[left]).all()
    assert (found.p_value[left] == 1).all()


def test_what_it_cannot_decode_is_refused():
    with pytest.raises(InvalidParameter, match="no reports"):
        decode_lasso(RAPPOR, RAPPOR.zero(), STRINGS)
    krr = KRR(4, epsilon=1.0)
    with pytest.raises(InvalidParameter, match="Bloom filters"):
        decode_lasso(krr, krr.zero(), STRINGS)


def test_too_many_candidates_are_refused(counts_of, rng):
    counts = counts_of(RAPPOR, STRINGS[:1], [100], rng)
    with pytest.raises(InvalidParameter, match="at most 20,000"):
        decode_lasso(RAPPOR, counts, [str(i) for i in range(20_001)])
