"""Simulated reports against a twin in plain integers, and against their probabilities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.kernels.bit_counts import count_bits
from deniable.kernels.generator import LANES, below, coin_words, seeded
from deniable.kernels.hash_candidates import bloom_positions, fingerprints
from deniable.kernels.simulate_bits import simulate_basic, simulate_bloom
from deniable.protocol import hashing
from deniable.testing.statistics import accept, goodness_of_fit, proportion, reject

MASK = 2**64 - 1
ONE = 2**64
THRESHOLD = st.one_of(
    st.sampled_from([0, 1, ONE // 2, 9 * ONE // 16, ONE - 1, ONE]), st.integers(0, ONE)
)


def rotated(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & MASK


class SlowGenerator:
    """The twin of one lane: xoshiro256++ as published."""

    def __init__(self, state: list[int]) -> None:
        self.state = state

    def word(self) -> int:
        s0, s1, s2, s3 = self.state
        result = (rotated((s0 + s3) & MASK, 23) + s0) & MASK
        s2 ^= s0
        s3 ^= s1
        shifted = s1 << 17 & MASK
        self.state = [s0 ^ s3, s1 ^ s2, s2 ^ shifted, rotated(s3, 45)]
        return result


class SlowSimulation:
    """The twin of a simulation: every coin compares a 64-bit number with its threshold."""

    def __init__(self, seed: int) -> None:
        columns = seeded(np.random.default_rng(seed)).T.tolist()
        self.lanes = [SlowGenerator(column) for column in columns[:LANES]]
        self.single = SlowGenerator(columns[LANES])
        self.waiting: list[int] = []

    def coin(self, threshold: int) -> int:
        drawn = self.single.word()  # a certain coin is drawn too
        return int(drawn < threshold)

    def below(self, bound: int) -> int:
        while True:
            product = (self.single.word() >> 32) * bound
            if product % 2**32 >= 2**32 % bound:
                return product >> 32

    def coin_word(self, threshold: int) -> int:
        if not self.waiting:
            self.waiting = self._coins(threshold)
        return self.waiting.pop(0)

    def _coins(self, threshold: int) -> list[int]:
        """Draw digits of LANES x 64 numbers until each differs from the threshold's digits."""
        numbers = [[0] * 64 for _ in range(LANES)]
        digits = 0
        while digits < 64 and threshold % ONE * 2**digits % ONE:
            for lane, generator in enumerate(self.lanes):
                word = generator.word()
                numbers[lane] = [2 * x + (word >> i & 1) for i, x in enumerate(numbers[lane])]
            digits += 1
            if all(x != threshold >> (64 - digits) for lane in numbers for x in lane):
                break
        return [
            sum((x << (64 - digits) < threshold) << i for i, x in enumerate(lane))
            for lane in numbers
        ]

    def bits(self, count: int, threshold: int) -> int:
        """Return so many coins as one integer; what is left of the last word is thrown away."""
        words = [self.coin_word(threshold) for _ in range(-(-count // 64))]
        return sum(word << 64 * i for i, word in enumerate(words)) & ((1 << count) - 1)


def slow_set(filled: int, position: int, shown: int) -> int:
    return filled & ~(1 << position) | shown << position


def slow_bloom(
    keys: list[bytes], codes: list[int], shape: tuple[int, int, int], thresholds: tuple[int, int]
) -> bytes:
    cohorts, hashes, bits = shape
    slow = SlowSimulation(11)
    filled = [slow.bits(bits, thresholds[0]) for _ in codes]
    records = []
    for report, code in zip(filled, codes, strict=True):
        cohort = slow.below(cohorts)
        for position in hashing.bloom_bits(hashing.fingerprint(keys[code]), cohort, hashes, bits):
            report = slow_set(report, position, slow.coin(thresholds[1]))
        records.append(cohort.to_bytes(2, "little") + report.to_bytes(-(-bits // 8), "little"))
    return b"".join(records)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(0, 30),
    shape=st.tuples(st.integers(1, 65_536), st.integers(1, 5), st.integers(2, 200)),
    thresholds=st.tuples(THRESHOLD, THRESHOLD),
)
def test_bloom_reports_equal_the_slow_twin(
    n: int, shape: tuple[int, int, int], thresholds: tuple[int, int]
) -> None:
    keys = [b"sone", b"stwo", b"sthree"]
    codes = np.arange(n) % 3
    rng = np.random.default_rng(11)
    reports = simulate_bloom(fingerprints(keys), codes, shape, thresholds, rng)
    assert reports.tobytes() == slow_bloom(keys, codes.tolist(), shape, thresholds)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(0, 30), bits=st.integers(1, 200), thresholds=st.tuples(THRESHOLD, THRESHOLD))
def test_basic_reports_equal_the_slow_twin(n: int, bits: int, thresholds: tuple[int, int]) -> None:
    codes = np.arange(-1, n - 1) % (bits + 1) - 1  # -1 sets no bit
    slow = SlowSimulation(11)
    filled = [slow.bits(bits, thresholds[0]) for _ in range(n)]
    expected = b"".join(
        bytes(2)
        + (slow_set(x, c, slow.coin(thresholds[1])) if c >= 0 else x).to_bytes(
            -(-bits // 8), "little"
        )
        for x, c in zip(filled, codes.tolist(), strict=True)
    )
    reports = simulate_basic(codes, bits, thresholds, np.random.default_rng(11))
    assert reports.tobytes() == expected


def test_xoshiro_as_published() -> None:
    # The first outputs from the state (1, 2, 3, 4), as in the reference implementation.
    generator = SlowGenerator([1, 2, 3, 4])
    assert [generator.word() for _ in range(4)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
    ]


@pytest.mark.parametrize("code", [-2, 9, 2**40])
def test_a_code_outside_is_refused(code: int) -> None:
    rng, codes = np.random.default_rng(1), np.array([0, code])
    with pytest.raises(InvalidParameter, match="from -1 to 8"):
        simulate_basic(codes, 9, (ONE // 4, ONE // 2), rng)
    words = fingerprints([b"s"] * 9)
    with pytest.raises(InvalidParameter, match="from 0 to 8"):
        simulate_bloom(words, codes, (1, 1, 9), (ONE // 4, ONE // 2), rng)


@pytest.mark.parametrize("threshold", [0, ONE])
def test_certain_coins(threshold: int) -> None:
    reports = simulate_basic(
        np.zeros(1_000, dtype=np.int64), 9, (threshold, threshold), np.random.default_rng(1)
    )
    assert (count_bits(reports, 1, 9)[1] == (1_000 if threshold else 0)).all()


def test_chunks_do_not_repeat_and_seeds_differ() -> None:
    codes = np.zeros(40_000, dtype=np.int64)
    runs = [
        simulate_basic(codes, 128, (ONE // 3, ONE // 2), np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert runs[0].tobytes() == runs[1].tobytes()
    assert len(np.unique(runs[0]["bits"], axis=0)) == 40_000
    assert len(np.unique(np.concatenate([runs[0], runs[2]])["bits"], axis=0)) == 80_000


@pytest.mark.parametrize("threshold", [ONE // 3, 9 * ONE // 16, ONE // 1000, ONE - ONE // 50])
def test_coins_show_their_probability(threshold: int) -> None:
    state, out, ones, batches = seeded(np.random.default_rng(3)), np.zeros(LANES, np.uint64), 0, 500
    for _ in range(batches):
        coin_words(state, np.uint64(threshold), np.uint64(0), out)
        ones += int(np.bitwise_count(out).sum())
    trials = batches * LANES * 64
    wanted = float(Fraction(threshold, ONE))
    accept(proportion(ones, trials, wanted))
    # Wrong by 16 standard deviations, towards 1/2: an accepted one would be 8 of them off itself.
    away = 16 * (wanted * (1 - wanted) / trials) ** 0.5
    wrong = wanted - away if wanted > 0.5 else wanted + away
    reject(proportion(ones, trials, wrong), miss=1e-12)


def test_bits_are_independent_within_a_report_and_between_reports() -> None:
    none = np.full(200_000, -1)
    reports = simulate_basic(none, 128, (ONE // 3, ONE // 2), np.random.default_rng(4))
    ones = np.unpackbits(reports["bits"], axis=1, bitorder="little").astype(np.int64)
    pairs = [
        (ones[:, 3], ones[:, 4]),
        (ones[:, 3], ones[:, 67]),  # the same place in the next word
        (ones[0::2, 5], ones[1::2, 5]),
        (ones[0 : -LANES // 2 : LANES, 5], ones[LANES // 2 :: LANES, 5]),  # the same lane
    ]
    independent, together = [4 / 9, 2 / 9, 2 / 9, 1 / 9], [1 / 2, 1 / 6, 1 / 6, 1 / 6]
    for first, second in pairs:
        seen = np.bincount(2 * first + second, minlength=4)
        accept(goodness_of_fit(seen, independent))
        reject(goodness_of_fit(seen, together), miss=1e-12)


def test_cohorts_are_uniform_and_set_bits_have_their_own_probability() -> None:
    keys = [b"sa", b"sb"]
    words = fingerprints(keys)
    n, cohorts = 300_000, 7
    codes = np.zeros(n, dtype=np.int64)
    reports = simulate_bloom(
        words, codes, (cohorts, 2, 64), (ONE // 4, 3 * ONE // 4), np.random.default_rng(5)
    )
    totals, table = count_bits(reports, cohorts, 64)
    accept(goodness_of_fit(totals, np.full(cohorts, 1 / cohorts)))
    held = np.zeros((cohorts, 64), dtype=bool)
    held[np.arange(cohorts)[:, None], bloom_positions(words, cohorts, 2, 64)[0]] = True
    set_trials = int((totals[:, None] * held).sum())
    accept(proportion(int(table[held].sum()), set_trials, 0.75))
    accept(proportion(int(table[~held].sum()), 64 * n - set_trials, 0.25))
    # The bits of another string are no better than noise.
    other = np.zeros((cohorts, 64), dtype=bool)
    other[np.arange(cohorts)[:, None], bloom_positions(words, cohorts, 2, 64)[1]] = True
    other &= ~held
    trials = int((totals[:, None] * other).sum())
    reject(proportion(int(table[other].sum()), trials, 0.75), miss=1e-12)


def test_below_is_exact_where_rejection_matters() -> None:
    # Without rejection, 3 * 2^30 of 2^32 would give every third value twice as often.
    bound = 3 * 2**30
    state = seeded(np.random.default_rng(6))
    thirds = [int(below(state, np.uint64(bound))) % 3 for _ in range(30_000)]
    accept(goodness_of_fit(np.bincount(thirds, minlength=3), [1 / 3] * 3))
    biased = goodness_of_fit(np.bincount(thirds, minlength=3), [1 / 2, 1 / 4, 1 / 4])
    reject(biased, miss=1e-12)
