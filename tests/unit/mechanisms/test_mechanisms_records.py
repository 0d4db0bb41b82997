"""Tables of records by every method: exact on average counts, and their edges."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms import PROFILE_MECHANISMS, ProfileMechanism, mechanism_for, mechanism_of
from deniable.mechanisms.contrast_matrices import contrast_matrix
from deniable.mechanisms.moments import design
from deniable.mechanisms.profile_base import NOT_REPORTED, unnamed_profile
from deniable.protocol import Attribute, Boolean, Categories, Field, Numbers, Profile
from material.profiles_expected import (
    every_report,
    expected_counts,
    made,
    people_of,
    shares_of,
    table_of,
)

METHODS: dict[str, ProfileMechanism] = {
    "inp_rr": made("inp_rr", (2, 2, 2)),
    "inp_rr, asymmetric": made("inp_rr", (2, 3), asymmetric=True),
    "inp_ps": made("inp_ps", (2, 3, 2)),
    "inp_ht": made("inp_ht", (3, 2, 5)),
    "inp_ht of all": made("inp_ht", (2, 2, 2), order=3),
    "marg_rr": made("marg_rr", (2, 2, 2)),
    "marg_ps": made("marg_ps", (2, 3, 4)),
    "marg_ht": made("marg_ht", (2, 3, 2)),
    "inp_em": made("inp_em", (3, 2, 2)),
    "coefficients": made("coefficients", (3, 2, 2, 4)),
    "coefficients of contrasts": made("coefficients", (3, 2, 5), basis="contrasts"),
    "views": made("views", (3, 2, 2, 4), size=2),
    "views of different sizes": made("views", (2, 2, 3, 2, 2), size=3),
}


@pytest.mark.parametrize("name", METHODS)
def test_tables_of_average_counts_are_the_truth(name: str, rng: np.random.Generator) -> None:
    mechanism = METHODS[name]
    shares = shares_of(mechanism, rng)
    counts = expected_counts(mechanism, shares)
    for size in range(1, mechanism.parameters.collected + 1):
        for attributes in combinations(range(len(mechanism.answers)), size):
            cells, covariance = mechanism.marginal(counts, attributes)
            assert cells == pytest.approx(table_of(shares, attributes), abs=1e-7)
            assert covariance == pytest.approx(covariance.T)
            assert np.linalg.eigvalsh(covariance).min() > -1e-18


@pytest.mark.parametrize("name", METHODS)
def test_moments_of_average_counts_are_the_truth(name: str, rng: np.random.Generator) -> None:
    mechanism = METHODS[name]
    shares = shares_of(mechanism, rng)
    moments = mechanism.moments(expected_counts(mechanism, shares))
    assert max(map(len, moments.measured)) == mechanism.parameters.order
    for attributes, moment in moments.measured.items():
        functions = design([contrast_matrix(mechanism.answers[i])[1:] for i in attributes])
        expected = functions @ table_of(shares, attributes).reshape(-1)
        assert moment.theta.reshape(-1) == pytest.approx(expected, abs=1e-7)
        assert moment.variance.min() > 0
        assert moment.reports > 0


@pytest.mark.parametrize("name", ["inp_rr", "inp_ps", "inp_em"])
def test_the_covariance_is_that_of_single_reports(name: str, rng: np.random.Generator) -> None:
    """These tables are means over reports: their covariance is that of one report's table."""
    mechanism = METHODS[name]
    shares, attributes = shares_of(mechanism, rng), (0, 2)
    reports = every_report(mechanism)
    weights = mechanism.likelihood(reports) @ shares.reshape(-1)
    singles = np.array(
        [
            mechanism.marginal(mechanism.accumulate(reports[i : i + 1]), attributes)[0].reshape(-1)
            for i in range(reports.size)
        ]
    )
    mean = weights @ singles
    with_sampling = (singles.T * weights) @ singles - np.outer(mean, mean)
    given = with_sampling - (np.diag(mean) - np.outer(mean, mean))
    counts = expected_counts(mechanism, shares)
    assert mechanism.marginal(counts, attributes)[1] * counts.n == pytest.approx(given, abs=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_axes_follow_the_order_asked_for(name: str, rng: np.random.Generator) -> None:
    mechanism = METHODS[name]
    counts = mechanism.accumulate(mechanism.simulate(people_of(mechanism, 4_000, rng), rng))
    cells, covariance = mechanism.marginal(counts, (0, 1))
    for order in permutations((0, 1)):
        turned, its = mechanism.marginal(counts, order)
        assert turned == pytest.approx(cells.transpose(order))
        expected = np.diagonal(covariance).reshape(cells.shape).transpose(order)
        assert np.diagonal(its).reshape(turned.shape) == pytest.approx(expected)


@pytest.mark.parametrize("name", METHODS)
def test_estimates_are_the_tables_of_one_attribute(name: str, rng: np.random.Generator) -> None:
    mechanism = METHODS[name]
    counts = mechanism.accumulate(mechanism.simulate(people_of(mechanism, 2_000, rng), rng))
    estimate = mechanism.estimate(counts)
    assert len(estimate.candidates) == sum(mechanism.answers)
    assert estimate.candidates[0] == "a1=0"
    start = 0
    for attribute, answers in enumerate(mechanism.answers):
        cells, covariance = mechanism.marginal(counts, (attribute,))
        rows = slice(start, start + answers)
        assert estimate.frequency[rows] == pytest.approx(cells)
        assert estimate.variance[rows] == pytest.approx(np.diagonal(covariance))
        start += answers


def test_few_reports_leave_coefficients_unknown(rng: np.random.Generator) -> None:
    mechanism = made("inp_ht", (2,) * 8)
    counts = mechanism.accumulate(mechanism.simulate(np.ones((12, 8), dtype=int), rng))
    estimate = mechanism.estimate(counts)
    assert estimate.notes == (NOT_REPORTED,)
    unknown = np.isnan(estimate.frequency)
    assert unknown.any()
    assert np.isnan(estimate.std_error[unknown]).all()
    moments = mechanism.moments(counts)
    variances = np.concatenate([m.variance.reshape(-1) for m in moments.measured.values()])
    assert np.isinf(variances).any()
    assert variances.min() > 0, "a single report must not look certain"


@pytest.mark.parametrize("name", ["marg_ps", "marg_ht", "views"])
def test_one_report_is_never_certain(name: str, rng: np.random.Generator) -> None:
    mechanism = made(name, (2, 2, 2))
    counts = mechanism.accumulate(mechanism.simulate(np.ones((1, 3), dtype=int), rng))
    for moment in mechanism.moments(counts).measured.values():
        assert moment.variance.min() > 0.5


def test_names_and_refusals() -> None:
    record = Profile(
        (
            Attribute("toll", Boolean()),
            Attribute("zone", Categories(("north", "south", "west"))),
            Attribute("miles", Numbers(("2", "5"))),
        )
    )
    parameters = resolve("views", {"epsilon": 1}, record, False)
    mechanism = mechanism_of(Field("value", record, parameters), absent=False)
    assert isinstance(mechanism, ProfileMechanism)
    assert mechanism.one_way_labels[:4] == ("toll=false", "toll=true", "zone=north", "zone=south")
    assert mechanism.chosen(["zone", 0]) == (1, 0)
    for asked, message in (
        (["tol"], "no attribute 'tol'. Use some of: toll, zone, miles"),
        ([3], "from 0 to 2"),
        (["toll", 0], "each only once"),
        ([], "at least one"),
        ([0, 1, 2], "at most 2 attributes .order = 2.. Got 3. Ask for fewer"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            mechanism.chosen(asked)
    with pytest.raises(InvalidParameter, match="answers"):
        PROFILE_MECHANISMS["views"].of(parameters, unnamed_profile((2, 2, 2)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0, 1]], "rows of 3 codes"),
        ([0, 1, 1], "rows of 3 codes"),
        ([[0.0, 1.0, 1.0]], "rows of 3 codes"),
        ([[0, 2, 0]], "below the numbers of answers"),
        ([[0, -1, 0]], "below the numbers of answers"),
    ],
)
def test_people_that_are_no_records(values: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        made("inp_ps", (2, 2, 2)).people(values)


@pytest.mark.parametrize(
    "name", ["inp_ps", "inp_ht", "coefficients", "marg_ps", "marg_ht", "views"]
)
def test_symbols_that_no_client_sends(name: str) -> None:
    mechanism = made(name, (2, 3, 2))
    possible = {report.tobytes() for report in every_report(mechanism)}
    record = np.zeros(1, dtype=mechanism.dtype)
    for symbol in range(256 ** min(mechanism.dtype.itemsize, 1)):
        record["symbol"] = symbol
        if record.tobytes() in possible:
            assert mechanism.accumulate(record).n == 1
        else:
            with pytest.raises(InvalidReport):
                mechanism.accumulate(record)


@pytest.mark.parametrize("name", ["inp_rr", "inp_em", "marg_rr"])
def test_bits_that_no_client_sends(name: str) -> None:
    mechanism = made(name, (2, 2, 3) if name == "inp_em" else (2, 2))
    record = np.zeros(1, dtype=mechanism.dtype)
    record["bits"] = 128
    with pytest.raises(InvalidReport, match="bits"):
        mechanism.accumulate(record)


def test_bits_beyond_a_smaller_table_are_refused() -> None:
    mechanism = made("marg_rr", (2, 2, 3))
    record = np.zeros(1, dtype=mechanism.dtype)
    record["bits"] = 128
    with pytest.raises(InvalidReport, match="beyond the drawn table"):
        mechanism.accumulate(record)
    record["marginal"], record["bits"] = 3, 0
    with pytest.raises(InvalidReport, match="marginal must be below 3"):
        mechanism.accumulate(record)


def test_bits_are_counted_as_a_loop_counts_them(rng: np.random.Generator) -> None:
    """Tables of at most 8 cells are counted by their bytes, larger ones by the kernel."""
    for answers in ((2, 3, 2), (4, 3, 2)):
        mechanism = made("marg_rr", answers)
        reports = mechanism.simulate(people_of(mechanism, 300, rng), rng)
        slow = np.zeros_like(mechanism.zero().table)
        for marginal, packed in reports.tolist():
            for place in range(slow.shape[1]):
                slow[marginal, place] += packed[place // 8] >> (place % 8) & 1
        assert np.array_equal(mechanism.accumulate(reports).table, slow)


def test_a_table_of_too_many_cells_is_refused() -> None:
    mechanism = made("coefficients", (100, 90, 2))
    with pytest.raises(InvalidParameter, match=r"a1, a2 has 16,384 cells\. At most 4,096"):
        mechanism.marginal(mechanism.zero(), (0, 1))
    with pytest.raises(InvalidParameter, match="Ask for fewer attributes"):
        mechanism.moments(mechanism.zero())
    assert np.isnan(mechanism.marginal(mechanism.zero(), (0, 2))[0]).all()


def test_a_listing_of_too_many_records_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="up to 4,096"):
        made("inp_ht", (2,) * 13).likelihood(b"")


def test_every_parameter_class_has_its_mechanism() -> None:
    for name in PROFILE_MECHANISMS:
        mechanism = made(name, (2, 2, 2))
        assert type(mechanism_for(mechanism.parameters)) is PROFILE_MECHANISMS[name]
