from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deniable.decode import Decoded, decode, decode_cells, observe, point_estimates
from deniable.decode.design import Design, Shape, design_of
from deniable.decode.observed import Observed
from deniable.decode.reading import Reading
from deniable.decode.significance import holm, storey
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, Counts, Mechanism, Rappor
from deniable.mechanisms.closed_form import Pure
from deniable.protocol import ABSENT

RAPPOR = Rappor(bits=32, hashes=2, cohorts=8, p=0.25, q=0.75)
STRINGS = [f"s{i}" for i in range(60)]
PEOPLE = [40_000, 30_000, 20_000, 10_000]


def explained(decoded: Decoded) -> bool:
    """Whether every NaN of the table has a note beside it."""
    columns = (decoded.frequency, decoded.std_error, decoded.low, decoded.z, decoded.p_value)
    return not any(np.isnan(column).any() for column in columns) or bool(decoded.notes)


@pytest.fixture
def counts(counts_of, rng) -> Counts:
    return counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng)


def test_the_frequent_strings_are_detected_and_weighed(counts):
    decoded = decode(RAPPOR, counts, STRINGS)
    assert decoded.method == "all candidates"
    assert decoded.holm[:3].all()
    assert set(decoded.detected) >= {"s0", "s1", "s2"}
    assert decoded.detected[0] == "s0"
    truth = np.zeros(60)
    truth[:4] = np.array(PEOPLE) / sum(PEOPLE)
    assert (np.abs(decoded.frequency - truth) < 6 * decoded.std_error).all()
    assert decoded.decoys >= 20 * 60
    assert decoded.n == sum(PEOPLE)
    assert decoded.other is not None
    assert decoded.notes == ()


def test_rows_say_what_the_columns_say(counts):
    decoded = decode(RAPPOR, counts, STRINGS)
    rows = list(decoded.rows())
    assert len(rows) == len(decoded) == 60
    for place, row in enumerate(rows):
        assert row.value == STRINGS[place]
        assert row.frequency == decoded.frequency[place]
        assert row.interval == (decoded.low[place], decoded.high[place])
        assert row.z == pytest.approx(row.frequency / row.std_error)
        assert (row.selected_interval is None) == (not row.storey)
        assert 0 <= row.p_value <= 1
        assert row.likely >= 0


def test_decisions_are_those_of_the_printed_p_values(counts):
    decoded = decode(RAPPOR, counts, STRINGS)
    assert np.array_equal(decoded.holm, holm(decoded.p_value))
    found = storey(decoded.p_value)
    assert np.array_equal(decoded.storey, found.decisions)
    assert decoded.expected_false == found.expected_false
    assert decoded.absent_share == found.absent


def test_p_values_are_never_below_those_of_the_model(counts):
    decoded = decode(RAPPOR, counts, STRINGS, reading=Reading(of="reporters"))
    degrees = decoded.other.degrees
    assert (decoded.p_value >= stats.t.sf(decoded.z, degrees) - 1e-15).all()


def test_intervals_of_the_detected_are_wider(counts):
    decoded = decode(RAPPOR, counts, STRINGS)
    found = decoded.storey
    plain, wide = decoded.high - decoded.low, decoded.selected_high - decoded.selected_low
    assert (wide[found] > plain[found]).all()
    assert np.isnan(wide[~found]).all()


def test_a_smaller_alpha_makes_wider_intervals_and_fewer_discoveries(counts):
    usual, strict = (decode(RAPPOR, counts, STRINGS, alpha=alpha) for alpha in (0.05, 0.001))
    assert ((strict.high - strict.low) > (usual.high - usual.low)).all()
    assert (strict.storey <= usual.storey).all()


def test_one_seed_gives_one_table(counts):
    first, second, other = (decode(RAPPOR, counts, STRINGS, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.p_value, second.p_value)
    assert np.array_equal(first.frequency, other.frequency)
    assert not np.array_equal(first.p_value, other.p_value)


def test_many_candidates_split_the_cohorts(counts):
    many = [f"s{i}" for i in range(2_000)]
    decoded = decode(RAPPOR, counts, many)
    assert decoded.method == "split cohorts"
    assert decoded.holm[:2].all()
    assert decoded.storey[4:].sum() <= 3
    assert np.isfinite(decoded.frequency).all()
    assert (decoded.likely >= 0).all()
    assert decoded.likely.sum() <= 1 + 1e-9
    assert decoded.decoys >= 20 * 2_000


def test_strings_that_nobody_listed_are_announced(counts):
    decoded = decode(RAPPOR, counts, STRINGS[1:])
    assert decoded.dispersion > 1.5
    assert decoded.other.suspected
    assert any("strings that are not among the candidates" in note for note in decoded.notes)
    assert abs(decoded.other.frequency - 0.4) < 6 * decoded.other.std_error


def test_the_absent_answer_is_decoded_too(rng):
    values = ["x"] * 3_000 + [ABSENT] * 7_000
    counts = RAPPOR.accumulate(RAPPOR.simulate(values, rng))
    decoded = decode(RAPPOR, counts, ["x", ABSENT, "y"])
    assert decoded.candidates == ("x", "(absent)", "y")
    assert abs(decoded.frequency[1] - 0.7) < 6 * decoded.std_error[1]


def test_closed_domains_have_the_same_table(rng):
    for mechanism in (KRR(5, epsilon=1.0), Rappor.basic(5, epsilon=1.0), Rappor.basic(epsilon=1.0)):
        counts = mechanism.accumulate(mechanism.simulate(np.repeat([0, 1], [5_000, 3_000]), rng))
        decoded = decode(mechanism, counts)
        estimate = mechanism.estimate(counts)
        assert decoded.method == "closed"
        assert decoded.other is None
        assert np.allclose(decoded.frequency, estimate.frequency)
        held = np.clip(estimate.frequency, 0, 1)
        sample = held * (1 - held) / 8_000
        assert np.allclose(decoded.std_error**2, estimate.variance + sample, rtol=0.01)
        assert decoded.holm[:2].all()
        # At 8,000 reports an exact interval is nearly the normal one, within 0..1.
        wide = decoded.std_error * 1.959964
        assert np.allclose(decoded.high - np.maximum(decoded.frequency, 0), wide, rtol=0.03)
        assert (decoded.low >= 0).all()
        assert decoded.likely.sum() == pytest.approx(1)


class Unnamed(Mechanism):
    """A mechanism that this folder has no special case for: only the contract is used."""

    def __init__(self, inner: KRR) -> None:
        self.inner = inner
        self._adopt(inner.parameters)

    def simulate(self, values, rng, candidates=None):
        return self.inner.simulate(values, rng, candidates)

    def zero(self):
        return self.inner.zero()

    def accumulate(self, reports):
        return self.inner.accumulate(reports)

    def estimate(self, counts, candidates=None):
        return self.inner.estimate(counts, candidates)

    def likelihood(self, reports, candidates=None, *, log=False):
        return self.inner.likelihood(reports, candidates, log=log)

    def variance(self, n, frequency=0.0):
        return self.inner.variance(n, frequency)


def test_the_contract_of_a_mechanism_is_enough_for_a_closed_domain(rng):
    krr = KRR(5, epsilon=1.0)
    counts = krr.accumulate(krr.simulate(np.repeat([0, 1], [5_000, 3_000]), rng))
    known, unknown = decode(krr, counts), decode(Unnamed(krr), counts)
    assert np.array_equal(unknown.frequency, known.frequency)
    assert np.array_equal(unknown.storey, known.storey)
    assert np.allclose(unknown.likely, known.likely, atol=0.02)
    assert np.isfinite(point_estimates(Unnamed(krr), counts).likely).all()


def test_any_linear_design_can_be_decoded(rng):
    """Hashed symbols: each report supports exactly one cell of its cohort."""
    shape = Shape(cohorts=8, bits=16, hashes=1)
    design = shape.random(30, rng)
    oracle = Pure(0.5, 0.5 / 15, 0.5 - 0.5 / 15)
    truth = np.zeros(30)
    truth[:3] = [0.5, 0.3, 0.2]
    share = oracle.q + oracle.gap * (design.matrix().T @ truth)
    table = rng.multinomial(20_000, share.reshape(8, 16) / share.reshape(8, 16).sum(1)[:, None])
    observed = Observed(shape, table.ravel().astype(float), np.full(128, 20_000.0), oracle)
    decoded = decode_cells(observed, design, tuple(str(i) for i in range(30)))
    assert decoded.holm[:3].all()
    assert (np.abs(decoded.frequency - truth) < 6 * decoded.std_error).all()


# Bad input: a clear message, or a result that says what is not identifiable.


def test_without_reports_nothing_is_known():
    for mechanism, candidates in ((RAPPOR, STRINGS), (KRR(3, epsilon=1.0), None)):
        decoded = decode(mechanism, mechanism.zero(), candidates)
        assert np.isnan(decoded.frequency).all()
        assert not decoded.storey.any()
        assert decoded.notes == ("There are no reports: nothing can be learned.",)


def test_counts_above_the_reports_are_refused(counts):
    table = counts.table.copy()
    table[2, 7] = counts.reports[2] + 1
    with pytest.raises(InvalidParameter, match="Column 7 of cohort 2"):
        decode(RAPPOR, Counts(counts.reports, table), STRINGS)


def test_cohorts_without_reports_are_left_out(counts_of, rng):
    counts = counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng)
    keep = np.array([1, 1, 1, 0, 1, 1, 0, 1])
    counts = Counts(counts.reports * keep, counts.table * keep[:, None])
    decoded = decode(RAPPOR, counts, STRINGS)
    assert "2 of 8 cohorts have no reports" in decoded.notes[0]
    assert decoded.holm[:2].all()


def test_one_cohort(counts_of, rng):
    mechanism = Rappor(bits=64, hashes=2, cohorts=1, p=0.25, q=0.75)
    counts = counts_of(mechanism, STRINGS[:4], PEOPLE, rng)
    decoded = decode(mechanism, counts, STRINGS[:20])
    assert decoded.method == "all candidates"
    assert decoded.storey[:2].all()
    too_many = decode(mechanism, counts, STRINGS)
    assert np.isnan(too_many.frequency).all()
    assert any("Not identifiable: 60 candidates share the 64 cells" in n for n in too_many.notes)


def test_two_cohorts_can_be_split(counts_of, rng):
    mechanism = Rappor(bits=64, hashes=2, cohorts=2, p=0.25, q=0.75)
    counts = counts_of(mechanism, STRINGS[:4], PEOPLE, rng)
    decoded = decode(mechanism, counts, [f"s{i}" for i in range(200)])
    assert decoded.method == "split cohorts"
    assert explained(decoded)


def test_one_candidate(counts):
    decoded = decode(RAPPOR, counts, ["s0"])
    assert decoded.holm.all()
    assert abs(decoded.frequency[0] - 0.4) < 6 * decoded.std_error[0]
    assert not decode(RAPPOR, counts, ["nobody"]).holm.any()


def test_no_candidates_and_repeated_ones_are_refused(counts):
    for nothing in (None, []):
        with pytest.raises(InvalidParameter, match="at least one candidate"):
            decode(RAPPOR, counts, nothing)
    with pytest.raises(InvalidParameter, match="Candidates 0 and 2 are the same"):
        decode(RAPPOR, counts, ["a", "b", "a"])


def test_candidates_with_the_same_bits_are_named(rng):
    observed = observe(RAPPOR, RAPPOR.accumulate(RAPPOR.simulate(["s0"] * 20_000, rng)))
    cells = decode_design(STRINGS[:5])
    design = Design(np.vstack([cells.cells, cells.cells[:1]]), cells.rows)
    decoded = decode_cells(observed, design, ("s0", "b", "c", "d", "e", "twin"))
    assert np.isnan(decoded.frequency[[0, 5]]).all()
    assert np.isnan(decoded.likely[[0, 5]]).all()
    assert np.isfinite(decoded.frequency[1:5]).all()
    note = next(note for note in decoded.notes if "'s0', 'twin'" in note)
    share = float(note.rsplit("have ", 1)[1].split("%")[0])
    assert share == pytest.approx(100, abs=10)


def test_candidates_with_the_same_bits_are_named_among_many(rng):
    observed = observe(RAPPOR, RAPPOR.accumulate(RAPPOR.simulate(["s0"] * 20_000, rng)))
    cells = decode_design([f"s{i}" for i in range(400)])
    design = Design(np.vstack([cells.cells, cells.cells[:1]]), cells.rows)
    decoded = decode_cells(observed, design, (*(f"s{i}" for i in range(400)), "twin"))
    assert decoded.method == "split cohorts"
    assert np.flatnonzero(np.isnan(decoded.frequency)).tolist() == [0, 400]
    assert any("'s0', 'twin'" in note for note in decoded.notes)


def decode_design(strings: list[str]) -> Design:
    return design_of(Shape(8, 32, 2), strings)


@pytest.mark.parametrize("ones", [0, 1])
def test_all_zero_and_all_one_reports_are_said_to_be_impossible(ones):
    reports = np.full(8, 1_000)
    counts = Counts(reports, np.full((8, 32), 1_000 * ones))
    decoded = decode(RAPPOR, counts, STRINGS)
    assert not decoded.storey.any()
    assert np.isfinite(decoded.frequency).all()
    assert any("reports were made with other parameters" in note for note in decoded.notes)


def test_reports_of_another_client_are_noticed(counts_of, rng):
    other = Rappor(bits=32, hashes=2, cohorts=8, p=0.2, q=0.75)
    counts = counts_of(other, STRINGS[:4], PEOPLE, rng)
    assert any("other parameters" in note for note in decode(RAPPOR, counts, STRINGS).notes)


def test_fewer_reports_than_unknowns_are_said_to_be_few(rng):
    counts = RAPPOR.accumulate(RAPPOR.simulate(["s0"] * 10, rng))
    decoded = decode(RAPPOR, counts, STRINGS)
    assert any("fewer reports (10) than unknowns (61)" in note for note in decoded.notes)
    assert explained(decoded)


def test_a_single_report(rng):
    counts = RAPPOR.accumulate(RAPPOR.simulate(["s0"], rng))
    decoded = decode(RAPPOR, counts, STRINGS[:5])
    assert explained(decoded)
    assert not decoded.holm.any()
    assert decoded.notes


def test_designs_without_room_say_so(rng):
    mechanism = Rappor(bits=2, hashes=1, cohorts=1, p=0.25, q=0.75)
    counts = mechanism.accumulate(mechanism.simulate(["a"] * 1_000, rng))
    decoded = decode(mechanism, counts, ["a"])
    assert any("no room for decoys" in note for note in decoded.notes)
    assert np.isfinite(decoded.frequency).all()


@pytest.mark.parametrize("alpha", [0.0, 1.0, float("nan"), -1.0])
def test_levels_outside_0_to_1_are_refused(counts, alpha):
    with pytest.raises(InvalidParameter, match="alpha"):
        decode(RAPPOR, counts, STRINGS, alpha=alpha)


def test_labels_must_match_the_columns(counts):
    observed = observe(RAPPOR, counts)
    for labels in ((), ("a",), ("a", "b", "c")):
        with pytest.raises(InvalidParameter, match="one label per candidate"):
            decode_cells(observed, decode_design(["a", "b"]), labels)
