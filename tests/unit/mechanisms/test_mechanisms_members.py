"""Sets for whole populations: rows of members in, shares of names out."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.mechanisms import KRR, Members, mechanism_of, members_matrix
from deniable.protocol import ABSENT, Categories, Field, OUEParameters, Sets

TOOLS = Sets(("git", "vim", "ssh"), 2)


def field_of(mechanism: str, wanted: dict[str, object], absent: bool = False) -> Field:
    return Field("value", TOOLS, resolve(mechanism, wanted, TOOLS, absent))


def members(mechanism: str, wanted: dict[str, object], absent: bool = False) -> Members:
    found = mechanism_of(field_of(mechanism, wanted, absent), absent)
    assert isinstance(found, Members)
    return found


def test_rows_of_members() -> None:
    rows = members_matrix(TOOLS, [["ssh", "git"], {"vim"}, (), ABSENT])
    assert rows.tolist() == [[0, 2], [1, 3], [3, 3], [4, 4]]
    with pytest.raises(InvalidAnswer):
        members_matrix(TOOLS, [["git", "vim", "ssh"]])


def test_a_single_value_has_its_mechanism_alone() -> None:
    parameters = KRR(3, epsilon=1.0).parameters
    field = Field("value", Categories(("a", "b", "c")), parameters)
    assert isinstance(mechanism_of(field, absent=False), KRR)


def test_shares_are_those_of_the_mechanism_times_the_largest_size() -> None:
    population = members("krr", {"keep": 0.75}, absent=True)  # five answers, move = 1/16
    counts = population.zero()
    counts.reports[0] = 1600
    counts.table[0] = [100 + 550, 100, 100 + 275, 100 + 165, 100 + 110]
    found = population.estimate(counts)
    assert found.candidates == ("git", "vim", "ssh", "(absent)")
    assert found.frequency == pytest.approx([1.0, 0.0, 0.5, 0.1])
    assert found.covariance is None
    names = population.variance(1600, np.array([1.0, 0.0, 0.5]))
    absent = float(KRR(5, keep=0.75).variance(1600, 0.1))
    assert found.variance == pytest.approx([*names, absent])


def test_with_a_bit_per_name_shares_are_those_of_the_bits() -> None:
    population = members("oue", {"epsilon": 2.0, "per": "bit"})
    assert population.per_bit
    counts = population.zero()
    counts.reports[0] = 10_000
    counts.table[0] = [5000, 4000, 3000]
    found = population.estimate(counts, ["x", "y", "z"])
    parameters = population.parameters
    assert isinstance(parameters, OUEParameters)
    p, q = 0.5, float(parameters.p_star)
    assert found.candidates == ("x", "y", "z")
    assert found.frequency == pytest.approx((np.array([0.5, 0.4, 0.3]) - q) / (p - q))
    assert found.covariance is not None


@pytest.mark.parametrize("rows", [[[0]], [[0, 1, 2]], [[0, 4]], [[-1, 0]], [0, 1]], ids=str)
def test_rows_that_are_no_sets_are_refused(rows: object, rng: np.random.Generator) -> None:
    population = members("krr", {"epsilon": 1.0})
    with pytest.raises(InvalidParameter, match="rows of 2 codes from 0 to 3"):
        population.simulate(np.array(rows), rng)


def test_a_name_is_no_whole_answer() -> None:
    population = members("krr", {"epsilon": 1.0})
    with pytest.raises(InvalidParameter, match="whole set"):
        population.likelihood(b"", ["git"])


def test_parameters_of_another_domain_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="as many answers"):
        Members(KRR(3, epsilon=1.0), TOOLS, absent=False)


def test_no_reports_teach_nothing() -> None:
    for population in (members("krr", {"epsilon": 1.0}), members("olh", {"epsilon": 1.0})):
        found = population.estimate(population.zero())
        assert np.isnan(found.frequency).all()
        assert np.isnan(found.std_error).all()
        assert found.notes
        assert found.candidates == TOOLS.values
