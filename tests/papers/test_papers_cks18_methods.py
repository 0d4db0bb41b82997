"""Methods that are one another under other names get the same draws."""

from __future__ import annotations

import numpy as np
import pytest

from deniable_papers.cks18.methods import OURS, every_report, method, same_as_signs
from deniable_papers.cks18.people import taxi
from deniable_papers.cks18.scores import LN3

PEOPLE = 3_000


@pytest.mark.parametrize("name", ["marg_ps", OURS])
def test_tables_of_one_attribute_are_inp_ht_by_another_name(name: str) -> None:
    """Every report has the same probability from every record: the same, not alike."""
    people = taxi(None).widened(4)
    one = method(name, people, 1, LN3, PEOPLE)
    sign = same_as_signs(one.mechanism)
    assert sign is not None
    reports = every_report(one.mechanism)
    assert reports is not None
    found = one.mechanism.likelihood(reports)
    expected = sign.likelihood(reports.astype(sign.dtype))
    assert found == pytest.approx(expected, abs=1e-15)
    assert found.sum(axis=0) == pytest.approx(1)


@pytest.mark.parametrize("name", ["marg_ps", "marg_ht", OURS])
def test_the_same_draws_give_the_same_raw_tables(name: str) -> None:
    people = taxi(None)
    crowd = people.drawn(PEOPLE, np.random.default_rng(1))
    subsets = [(i,) for i in range(8)]
    found = []
    for each in (name, "inp_ht"):
        one = method(each, people, 1, LN3, PEOPLE)
        counts = one.counts(crowd, np.random.default_rng(2))
        read = one.mechanism.reader(counts)
        found.append(np.array([read(subset)[0] for subset in subsets]))
    assert found[0] == pytest.approx(found[1], abs=1e-12)


@pytest.mark.parametrize(("name", "order"), [("marg_ps", 2), (OURS, 2), ("inp_ps", 1)])
def test_other_methods_draw_for_themselves(name: str, order: int) -> None:
    assert same_as_signs(method(name, taxi(None), order, LN3, PEOPLE).mechanism) is None
