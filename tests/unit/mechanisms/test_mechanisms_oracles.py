"""oue, hadamard, subset and olh for whole populations, against slow, obvious twins."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms import OLH, OUE, Hadamard, Mechanism, Subset
from deniable.mechanisms.base import Code
from deniable.mechanisms.candidates import every_code
from deniable.mechanisms.olh import LARGEST_TABLE, Pairs
from deniable.mechanisms.pure_oracles import PureOracle
from deniable.protocol import ABSENT
from deniable.protocol.domain import code_key, string_key
from deniable.protocol.hadamard import sign_of
from deniable.protocol.hashing import fingerprint
from deniable.protocol.olh import symbol_of

WORDS = ["firefox", "chrome", "safari", "", "é"]


def test_epsilon_is_the_one_asked_for() -> None:
    for mechanism in (
        OUE(9, epsilon=1.0),
        Hadamard(9, epsilon=1.0),
        Subset(9, epsilon=1.0),
        OLH(epsilon=1.0),
    ):
        assert mechanism.epsilon == 1.0
        assert mechanism.epsilon_forever is None
    assert OUE(9, epsilon=1.0, epsilon_forever=3.0).epsilon_forever == 3.0


def test_variance_in_the_closed_forms_of_the_literature() -> None:
    e = math.exp(1.0)
    assert float(OUE(50, epsilon=1.0).variance(1)) == pytest.approx(4 * e / (e - 1) ** 2, rel=1e-5)
    hadamard = Hadamard(50, epsilon=1.0).variance(1, np.array([0.0, 0.3]))
    assert hadamard == pytest.approx(((e + 1) / (e - 1)) ** 2 - np.array([0.0, 0.3]), rel=1e-5)
    olh = (e - 1 + 4) ** 2 / ((e - 1) ** 2 * 3)
    assert float(OLH(epsilon=1.0, symbols=4).variance(1)) == pytest.approx(olh, rel=1e-5)
    k, d = 50, 13
    total = (k - 1) ** 2 * (d * e + k - d) ** 2 / (k * d * (k - d) * (e - 1) ** 2)
    ours = Subset(k, epsilon=1.0, size=d).variance(1, 1 / k) + (1 - 1 / k) / k
    assert k * float(ours) == pytest.approx(total, rel=1e-5)


def test_subset_of_one_is_krr() -> None:
    subset = Subset(7, epsilon=1.0, size=1)
    assert subset.pure.p == pytest.approx(math.e / (math.e + 6))
    assert subset.pure.q == pytest.approx(1 / (math.e + 6))


def test_bits_are_counted(rng: np.random.Generator) -> None:
    for mechanism in (OUE(77, epsilon=1.0), Subset(77, epsilon=1.0)):
        reports = mechanism.simulate(rng.integers(0, 77, 3000), rng)
        slow = [
            sum(int.from_bytes(record.tobytes(), "little") >> i & 1 for record in reports)
            for i in range(77)
        ]
        assert mechanism.accumulate(reports).table[0].tolist() == slow


def test_the_fast_transform_is_the_sum_over_reports(rng: np.random.Generator) -> None:
    mechanism = Hadamard(6, epsilon=1.5)
    reports = mechanism.simulate(rng.integers(0, 6, 500), rng)
    found = mechanism.estimate(mechanism.accumulate(reports), list("abcdef"))
    keep = mechanism.pure.p
    for code in range(6):
        signs = [(-1) ** (int(r["sign"]) + sign_of(int(r["coefficient"]), code)) for r in reports]
        assert found.frequency[code] == pytest.approx(np.mean(signs) / (2 * keep - 1))
    assert found.candidates == tuple("abcdef")
    assert mechanism.estimate(mechanism.accumulate(reports)).frequency.size == 6
    with pytest.raises(InvalidParameter, match="that many labels at most"):
        mechanism.estimate(mechanism.zero(), list("abcdefg"))


@pytest.mark.parametrize("seeds", [5, 1000, 2**32])
def test_support_is_counted_report_by_report(seeds: int, rng: np.random.Generator) -> None:
    mechanism = OLH(epsilon=2.0, symbols=5, seeds=seeds)
    reports = mechanism.simulate(rng.integers(0, 5, 400), rng, WORDS)
    counts = mechanism.accumulate(reports)
    assert isinstance(counts, Pairs) == (seeds * 5 > LARGEST_TABLE)
    found = mechanism.estimate(counts, WORDS)
    for place, word in enumerate(WORDS):
        words = fingerprint(string_key(word))
        supports = [symbol_of(words, int(r["seed"]), 5) == r["symbol"] for r in reports]
        assert found.frequency[place] == pytest.approx(
            (np.mean(supports) - 0.2) / (mechanism.pure.p - 0.2)
        )


def test_kept_pairs_merge_in_any_order(rng: np.random.Generator) -> None:
    mechanism = OLH(epsilon=1.0)
    parts = [mechanism.accumulate(mechanism.simulate(WORDS * n, rng)) for n in (3, 40, 1)]
    one = parts[0].merge(parts[1]).merge(parts[2])
    other = parts[2].merge(parts[1].merge(parts[0]))
    assert isinstance(one, Pairs)
    assert isinstance(other, Pairs)
    assert one.pairs.tolist() == other.pairs.tolist() == sorted(one.pairs.tolist())
    assert one.n == 44 * 5


def test_answers_of_a_closed_domain_are_hashed_by_their_codes(rng: np.random.Generator) -> None:
    mechanism = OLH(epsilon=9.0, symbols=60_000)
    asked = every_code(3, absent=True)
    assert asked == [Code(0), Code(1), Code(2), ABSENT]
    reports = mechanism.simulate(np.array([1] * 50), rng, asked)
    words = fingerprint(code_key(1))
    same = [symbol_of(words, int(r["seed"]), 60_000) == r["symbol"] for r in reports]
    assert sum(same) > 3  # with another key almost none would be equal
    estimate = mechanism.estimate(mechanism.accumulate(reports), asked)
    assert estimate.candidates == ("0", "1", "2", "(absent)")


def test_a_pool_that_matters_has_a_note_and_a_larger_error(rng: np.random.Generator) -> None:
    small, large = OLH(epsilon=4.0, seeds=16), OLH(epsilon=4.0)
    estimates = [
        mechanism.estimate(mechanism.accumulate(mechanism.simulate(WORDS * 2000, rng)), WORDS)
        for mechanism in (small, large)
    ]
    assert "16 hash functions" in estimates[0].notes[0]
    assert estimates[1].notes == ()
    assert (estimates[0].std_error > estimates[1].std_error).all()


def test_covariance_of_subset_given_the_values_by_hand() -> None:
    """Three people with answers 0, 0 and 1 of 4: sums over people of one report's covariance."""
    mechanism = Subset(4, epsilon=1.0, size=2)
    p, q = mechanism.pure.p, mechanism.pure.q
    sets = [np.isin(np.arange(4), c).astype(float) for c in combinations(range(4), 2)]
    total, means = np.zeros((4, 4)), np.zeros(4)
    for answer in (0, 0, 1):
        weights = [p / 3 if members[answer] else (1 - p) / 3 for members in sets]
        mean = sum(w * m for w, m in zip(weights, sets, strict=True))
        second = sum(w * np.outer(m, m) for w, m in zip(weights, sets, strict=True))
        total += second - np.outer(mean, mean)
        means += mean / 3
    by_hand = total / 9 / (p - q) ** 2
    counts = mechanism.zero()
    counts.reports[0] = 3_000_000
    counts.table[0] = np.rint(means * 3_000_000)
    found = mechanism.estimate(counts)
    assert found.covariance is not None
    assert found.covariance * 1_000_000 == pytest.approx(by_hand, rel=1e-4, abs=1e-5)
    assert found.covariance.sum(axis=0) == pytest.approx(0, abs=1e-12)
    assert found.frequency.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("mechanism", "field", "value", "message"),
    [
        (Hadamard(5, epsilon=1.0), "coefficient", 8, "below 8"),
        (Hadamard(5, epsilon=1.0), "sign", 2, "must be below 2"),
        (Subset(5, epsilon=1.0, size=2), "bits", 0b00111, "Exactly 2"),
        (Subset(5, epsilon=1.0, size=2), "bits", 0b100001, "padding"),
        (OUE(5, epsilon=1.0), "bits", 0b100001, "padding"),
        (OLH(epsilon=1.0, symbols=3, seeds=9), "seed", 9, "below 9"),
        (OLH(epsilon=1.0, symbols=3, seeds=9), "symbol", 3, "below 3"),
    ],
)
def test_what_no_client_could_have_sent_is_refused(
    mechanism: Mechanism, field: str, value: int, message: str
) -> None:
    reports = np.zeros(3, dtype=mechanism.dtype)
    reports[field][1] = value
    if isinstance(mechanism, Subset):
        reports["bits"][[0, 2]] = 0b11
    with pytest.raises(InvalidReport, match=message):
        mechanism.accumulate(reports)


def test_the_largest_domains(rng: np.random.Generator) -> None:
    for mechanism in (OUE(65_537, epsilon=4.0), Hadamard(65_537, epsilon=4.0)):
        reports = mechanism.simulate(np.array([0, 65_536]), rng)
        estimate = mechanism.estimate(mechanism.accumulate(reports))
        assert estimate.covariance is None
        assert np.isfinite(estimate.std_error).all()


def test_candidates_are_needed_where_answers_are_hashed() -> None:
    mechanism = OLH(epsilon=1.0)
    assert mechanism.hashed
    assert not OUE(3, epsilon=1.0).hashed
    with pytest.raises(InvalidParameter, match="at least one candidate"):
        mechanism.estimate(mechanism.zero())
    with pytest.raises(InvalidParameter, match="are the same"):
        mechanism.estimate(mechanism.zero(), ["e\u0301", "é"])


def test_hashed_answers_need_an_estimate_of_their_own() -> None:
    """Strings that share a hash value add a variance that a pure oracle's error leaves out."""
    mechanism = OLH(epsilon=1.0)
    with pytest.raises(InvalidParameter, match="olh must have an 'estimate' of its own"):
        PureOracle.estimate(mechanism, mechanism.zero(), ["a"])
