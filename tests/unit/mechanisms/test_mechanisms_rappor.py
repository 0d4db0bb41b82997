from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms import KRR, Counts, Rappor, mechanism_for
from deniable.protocol import ABSENT, RapporParameters
from deniable.protocol.hashing import bloom_bits, fingerprint
from deniable.protocol.thresholds import ONE

CERTAIN = (ONE - 1, 1, ONE, 0)
"""Thresholds of next to no noise: then a simulated report shows the bits held."""


def basic(bits: int) -> Rappor:
    return Rappor.from_parameters(RapporParameters("basic", bits, 1, 1, *CERTAIN))


def test_the_research_interface(rng: np.random.Generator) -> None:
    m = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
    reports = m.simulate(["firefox", "chrome"] * 500, rng)
    assert reports.dtype == m.dtype
    counts = m.accumulate(reports[:300]).merge(m.accumulate(reports[300:]))
    estimate = m.estimate(counts, ["firefox", "chrome", "opera"])
    assert estimate.candidates == ("firefox", "chrome", "opera")
    assert estimate.covariance is not None
    assert estimate.covariance.shape == (3, 3)
    assert estimate.variance == pytest.approx(estimate.covariance.diagonal())
    assert m.epsilon == pytest.approx(1.0743, abs=5e-5)
    assert m.epsilon_forever == pytest.approx(4.394, abs=5e-4)
    assert m.likelihood(reports[:5], ["firefox", "chrome"]).shape == (5, 2)


def test_parameters_from_a_wanted_epsilon() -> None:
    m = Rappor(bits=64, hashes=2, cohorts=8, epsilon=1.0, epsilon_forever=4.0)
    assert 0.999 < m.epsilon <= 1.0
    assert m.epsilon_forever is not None
    assert 3.999 < m.epsilon_forever <= 4.0
    assert m.parameters.form == "bloom"


def test_the_forms() -> None:
    assert Rappor.basic(10, epsilon=1.0).parameters.bits == 10
    assert Rappor.basic(epsilon=1.0).parameters.bits == 1
    one_time = Rappor.basic(10, f=0.0, p=0.25, q=0.75)
    assert one_time.epsilon_forever is None
    sent_itself = Rappor.basic(10, f=0.5, p=0.0, q=1.0)
    assert sent_itself.epsilon == sent_itself.epsilon_forever
    assert isinstance(mechanism_for(sent_itself.parameters), Rappor)


@pytest.mark.parametrize(
    "wanted",
    [
        {"p": 0.5, "q": 0.5},
        {"p": 0.5, "q": 1.5},
        {"p": float("nan"), "q": 0.5},
        {"p": 0.5, "q": 0.75, "epsilon": 1.0},
        {"p": 0.0, "q": 1.0},
        {"epsilon": 1.0, "bits": 1},
        {"epsilon": 1.0, "cohorts": 0},
        {"epsilon": 1.0, "hashes": 17},
    ],
)
def test_impossible_parameters_are_refused(wanted: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter):
        Rappor(**wanted)


@pytest.mark.parametrize("categories", [0, 1, 10**6])
def test_impossible_numbers_of_categories_are_refused(categories: int) -> None:
    with pytest.raises(InvalidParameter, match="answers"):
        Rappor.basic(categories, epsilon=1.0)


def test_another_mechanisms_parameters_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="takes the parameters of 'rappor'"):
        Rappor.from_parameters(KRR(3, epsilon=1.0).parameters)


@pytest.mark.parametrize("bits", [2, 8, 13])
def test_basic_reports_hold_the_answers_bit(bits: int, rng: np.random.Generator) -> None:
    reports = basic(bits).simulate(np.arange(bits), rng)
    held = np.unpackbits(reports["bits"], axis=1, bitorder="little")
    assert held[:, :bits].tolist() == np.eye(bits).tolist()
    assert not held[:, bits:].any()
    assert not reports["cohort"].any()


def test_yes_no_reports_have_one_bit(rng: np.random.Generator) -> None:
    reports = basic(1).simulate(np.array([True, False, True]), rng)
    assert reports["bits"].ravel().tolist() == [1, 0, 1]


def test_bloom_reports_hold_the_bits_of_their_cohort(rng: np.random.Generator) -> None:
    parameters = RapporParameters("bloom", 37, 3, 5, *CERTAIN)
    reports = Rappor.from_parameters(parameters).simulate(["a", ABSENT] * 50, rng)
    for report, key in zip(reports, [b"sa", b"a"] * 50, strict=True):
        held = np.flatnonzero(np.unpackbits(report["bits"], bitorder="little"))
        expected = bloom_bits(fingerprint(key), int(report["cohort"]), 3, 37)
        assert set(held.tolist()) == set(expected)
    assert set(reports["cohort"].tolist()) == set(range(5))


def test_simulation_needs_little_memory(rng: np.random.Generator) -> None:
    mechanism = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
    codes = np.zeros(200_000, dtype=np.int64)
    tracemalloc.start()
    reports = mechanism.simulate(codes, rng, ["x"])
    simulated = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    mechanism.accumulate(reports)
    accumulated = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    # Unpacked at once, the bits alone would take 25.6 MB, and random 64-bit words 205 MB.
    assert simulated - reports.nbytes - codes.nbytes < 24e6
    assert accumulated < 20e6


def slow_counts(mechanism: Rappor, reports: np.ndarray) -> Counts:
    counts = mechanism.zero()
    for report in reports:
        cohort = int(report["cohort"])
        counts.reports[cohort] += 1
        for bit in range(mechanism.parameters.bits):
            counts.table[cohort, bit] += (int(report["bits"][bit // 8]) >> (bit % 8)) & 1
    return counts


@pytest.mark.parametrize(("bits", "cohorts"), [(2, 1), (13, 3), (128, 64), (20, 65_536)])
def test_accumulate_against_its_slow_twin(
    bits: int, cohorts: int, rng: np.random.Generator
) -> None:
    mechanism = Rappor(bits=bits, hashes=1, cohorts=cohorts, epsilon=2.0)
    reports = mechanism.simulate(["a", "b", "c"] * 60, rng)
    fast, slow = mechanism.accumulate(reports), slow_counts(mechanism, reports)
    assert np.array_equal(fast.reports, slow.reports)
    assert np.array_equal(fast.table, slow.table)


def test_more_reports_than_one_step_holds(rng: np.random.Generator) -> None:
    mechanism = basic(1)
    counts = mechanism.accumulate(mechanism.simulate(np.ones(200_000, dtype=np.int64), rng))
    assert counts.table.tolist() == [[200_000]]


def test_accumulate_refuses_what_no_client_sends() -> None:
    mechanism = Rappor(bits=12, hashes=1, cohorts=4, epsilon=1.0)
    good = mechanism.parameters.layout.pack({"cohort": 3, "bits": b"\xff\x0f"})
    assert mechanism.accumulate(good).table[3].tolist() == [1] * 12
    for bad in ({"cohort": 4, "bits": b"\x00\x00"}, {"cohort": 0, "bits": b"\x00\x10"}):
        with pytest.raises(InvalidReport) as caught:
            mechanism.accumulate(good + mechanism.parameters.layout.pack(bad))
        assert caught.value.reason == "record"
    with pytest.raises(InvalidReport, match="whole records"):
        mechanism.accumulate(good[:-1])
    with pytest.raises(InvalidReport, match="flat array"):
        mechanism.accumulate(np.zeros((2, 2), dtype=mechanism.dtype))


def test_basic_estimate_by_hand() -> None:
    mechanism = Rappor.basic(3, f=0.0, p=0.25, q=0.75)
    counts = Counts(np.array([1000]), np.array([[750, 500, 250]]))
    estimate = mechanism.estimate(counts, ["a", "b", ABSENT])
    assert estimate.candidates == ("a", "b", "(absent)")
    assert estimate.frequency == pytest.approx([1.0, 0.5, 0.0])
    assert estimate.variance == pytest.approx([0.75 * 0.25 / 0.25 / 1000] * 3)
    assert estimate.covariance is not None
    assert np.count_nonzero(estimate.covariance - np.diag(estimate.variance)) == 0


def test_yes_no_estimate_has_both_answers() -> None:
    mechanism = Rappor.basic(f=0.0, p=0.2, q=0.6)
    estimate = mechanism.estimate(Counts(np.array([100]), np.array([[30]])))
    assert estimate.candidates == ("false", "true")
    assert estimate.frequency == pytest.approx([0.75, 0.25])
    v = (0.25 * 0.24 + 0.75 * 0.16) / 0.16 / 100
    assert estimate.covariance == pytest.approx(np.array([[v, -v], [-v, v]]))
    assert mechanism.estimate(mechanism.zero()).candidates == ("false", "true")


def test_variance_in_the_form_of_the_paper() -> None:
    """k-RAPPOR: n Var at f = 0 is s/(s - 1)^2 [KBR16]; the unary optimum 4E/(E - 1)^2."""
    s = math.exp(0.5)
    symmetric = Rappor.basic(5, p=1 / (s + 1), q=s / (s + 1))
    assert float(symmetric.variance(1)) == pytest.approx(s / (s - 1) ** 2)
    e = math.exp(1.0)
    optimal = Rappor.basic(5, epsilon=1.0)
    assert float(optimal.variance(1)) == pytest.approx(4 * e / (e - 1) ** 2, rel=1e-5)
    chained = Rappor.basic(5, epsilon=1.0743, epsilon_forever=4.394)
    free = 4 * math.exp(1.0743) / (math.exp(1.0743) - 1) ** 2
    assert float(chained.variance(1)) == pytest.approx(free, rel=1e-4)


def test_the_limit_of_detection_of_the_paper() -> None:
    """The standard deviations that [EPK14] prints, 2806 of 10^6: the intercept costs 1% more."""
    mechanism = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
    deviation = math.sqrt(float(mechanism.variance(10**6))) * 10**6
    assert deviation == pytest.approx(2806, rel=0.012)


def test_likelihood_by_hand() -> None:
    mechanism = Rappor.basic(2, f=0.0, p=0.25, q=0.75)
    reports = b"\x00\x00\x01" + b"\x00\x00\x03"
    expected = [[0.75 * 0.75, 0.25 * 0.25], [0.75 * 0.25, 0.25 * 0.75]]
    assert mechanism.likelihood(reports) == pytest.approx(np.array(expected))
    yes_no = Rappor.basic(f=0.0, p=0.25, q=0.75)
    assert yes_no.likelihood(b"\x00\x00\x01") == pytest.approx(np.array([[0.25, 0.75]]))


def test_likelihood_of_many_bits_needs_the_logarithm(rng: np.random.Generator) -> None:
    mechanism = Rappor(bits=4_096, hashes=2, cohorts=2, epsilon=1.0)
    reports = mechanism.simulate(["a"], rng)
    logarithm = mechanism.likelihood(reports, ["a", "b"], log=True)
    assert np.isfinite(logarithm).all()
    assert not mechanism.likelihood(reports, ["a", "b"]).any()


def test_likelihood_counts_a_shared_bit_once() -> None:
    mechanism = Rappor(bits=2, hashes=8, cohorts=1, p=0.25, q=0.75)
    words = fingerprint(b"sa")
    held = set(bloom_bits(words, 0, 8, 2))
    expected = 1.0
    for bit in range(2):
        expected *= 0.75 if bit in held else 0.25
    assert mechanism.likelihood(b"\x00\x00\x03", ["a"])[0, 0] == pytest.approx(expected)


def test_likelihood_of_each_report_is_that_of_its_own_cohort(rng: np.random.Generator) -> None:
    """Against the slow twin, bit by bit, for reports of mixed cohorts."""
    mechanism = Rappor(bits=12, hashes=2, cohorts=5, epsilon=2.0)
    reports = mechanism.simulate(["a", "b"] * 20, rng)
    found = mechanism.likelihood(reports, ["a", "b", "c"])
    for row, report in enumerate(reports):
        seen = np.unpackbits(report["bits"], bitorder="little")
        for column, key in enumerate((b"sa", b"sb", b"sc")):
            held = set(bloom_bits(fingerprint(key), int(report["cohort"]), 2, 12))
            expected = 1 / 5
            for bit in range(12):
                one = mechanism.pure.p if bit in held else mechanism.pure.q
                expected *= one if seen[bit] else 1 - one
            assert found[row, column] == pytest.approx(expected)


def test_likelihood_of_no_reports() -> None:
    assert Rappor.basic(3, epsilon=1.0).likelihood(b"").shape == (0, 3)
