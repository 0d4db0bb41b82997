"""The people of [CKS18]: made up, or from files; drawn with replacement; wider by repetition."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable_papers.cks18.people import (
    GENRES,
    TAXI,
    Crowd,
    People,
    dependent,
    movielens,
    skewed,
    taxi,
)


def correlation(people: People, one: str, other: str) -> float:
    i, j = people.names.index(one), people.names.index(other)
    return float(np.corrcoef(people.rows[:, i], people.rows[:, j])[0, 1])


def test_made_up_trips_depend_like_the_real_ones() -> None:
    people = taxi(None)
    assert people.names == TAXI
    assert correlation(people, "Toll", "Far") > 0.5
    assert correlation(people, "CC", "Tip") > 0.4
    assert abs(correlation(people, "M_drop", "CC")) < 0.03
    np.testing.assert_array_equal(people.rows, taxi(None).rows)


def test_made_up_users_are_positively_correlated() -> None:
    people = movielens(None)
    matrix = np.asarray(np.corrcoef(people.rows.T))
    assert people.names == GENRES
    assert np.all(matrix[np.triu_indices(17, 1)] > 0)
    assert 0.3 < people.rows.mean(axis=0).min() < people.rows.mean(axis=0).max() < 0.98


def test_the_chain_depends_strongly_and_the_skewed_weakly() -> None:
    chain = dependent(6)
    assert all(correlation(chain, f"x{i}", f"x{i + 1}") > 0.6 for i in range(1, 6))
    matrix = np.asarray(np.corrcoef(skewed(8).rows.T))
    assert np.abs(matrix[np.triu_indices(8, 1)]).max() < 0.15


def test_more_attributes_repeat_columns() -> None:
    people = taxi(None).widened(18)
    assert people.names[:8] == TAXI
    assert people.names[8:10] == ("CC_2", "Toll_2")
    assert people.names[16:] == ("CC_3", "Toll_3")
    np.testing.assert_array_equal(people.rows[:, 9], people.rows[:, 1])
    assert taxi(None).widened(3).names == TAXI[:3]


def test_marginals_are_counted() -> None:
    people = taxi(None).widened(5)
    crowd = people.drawn(1_000, np.random.default_rng(0))
    assert crowd.n == 1_000
    codes = crowd.codes
    assert codes.shape == (1_000, 5)
    for subset in combinations(range(5), 2):
        slow = np.zeros((2, 2))
        for row in codes:
            slow[row[subset[0]], row[subset[1]]] += 1 / 1_000
        np.testing.assert_allclose(crowd.marginal(subset), slow)
    assert crowd.marginal((2, 0)).shape == (2, 2)
    np.testing.assert_allclose(crowd.marginal((2, 0)), crowd.marginal((0, 2)).T)


def test_a_crowd_of_rows() -> None:
    crowd = Crowd(np.array([[0, 1], [1, 1]]), np.array([3, 1]))
    np.testing.assert_allclose(crowd.marginal((0,)), [0.75, 0.25])


def test_real_tables_are_read(tmp_path: Path) -> None:
    text = "\n".join([",".join(TAXI), "1,0,0,1,0,1,1,1", "0,0,0,0,0,1,1,0", ""])
    (tmp_path / "taxi.csv").write_text(text)
    np.testing.assert_array_equal(taxi(tmp_path).rows[:, 0], [1, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,0", "must begin with the names CC"),
        (",".join(TAXI), "must begin with the names"),
        (",".join(TAXI) + "\n1,0,0,2,0,1,1,1", "8 zeros and ones"),
        (",".join(TAXI) + "\n1,0", "8 zeros and ones"),
        (",".join(TAXI) + "\n1,0,0,x,0,1,1,1", "8 zeros and ones"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "taxi.csv").write_text(text)
    with pytest.raises(InvalidParameter, match=message):
        taxi(tmp_path)


def test_a_directory_without_the_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"must hold movielens\.csv"):
        movielens(tmp_path)
