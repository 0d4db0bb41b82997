"""The formulas behind the figures, against exact values."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from deniable.decode import decode
from deniable.errors import InvalidParameter
from deniable.mechanisms import Rappor
from deniable_papers.bj18 import experiment as bj18
from deniable_papers.bj18 import hash_function as bj18_hash
from deniable_papers.bj18.murmur3 import murmur3
from deniable_papers.bj18.words import errors
from deniable_papers.common.limits import std_error_of_count
from deniable_papers.common.populations import domains, exponential, numbered, words, zipf
from deniable_papers.common.scoring import averaged, coverage, found_and_false, precision_and_recall
from deniable_papers.epk14 import fig3 as epk14_fig3
from deniable_papers.epk14 import fig6 as epk14_fig6
from deniable_papers.epk14 import table1 as epk14_table1
from deniable_papers.epk14 import table2 as epk14_table2
from deniable_papers.epk14.attack import false_discovery_rate, observed_posterior, posterior
from deniable_papers.epk14.fig1 import MECHANISM, counted, life
from deniable_papers.epk14.fig2 import client, settings
from deniable_papers.epk14.fig4 import normal_shares

TWO = Rappor(bits=128, hashes=2, cohorts=8, f=0.5, p=0.5, q=0.75)  # q* = 11/16, p* = 9/16


def test_the_posterior_is_bayes_rule() -> None:
    half, rare = np.array([0.5]), np.array([0.1])
    assert posterior(TWO, half, 2)[0] == pytest.approx(121 / 202)
    assert posterior(TWO, half, 1)[0] == pytest.approx(55 / 118)
    assert posterior(TWO, half, 0)[0] == pytest.approx(25 / 74)
    assert posterior(TWO, rare, 2)[0] == pytest.approx(121 / 850)
    assert false_discovery_rate(TWO, rare)[0] == pytest.approx(729 / 850)


def test_the_posterior_is_certain_at_both_ends() -> None:
    ends = np.array([0.0, 1.0])
    for ones in range(3):
        assert posterior(TWO, ends, ones).tolist() == [0.0, 1.0]


def test_simulated_reports_follow_the_posterior() -> None:
    # Deterministic by its seed; 0.02 is about six standard errors of the rarest group.
    found = observed_posterior(TWO, 0.5, 100_000, np.random.default_rng(3))
    expected = [float(posterior(TWO, np.array([0.5]), ones)[0]) for ones in range(3)]
    assert found == pytest.approx(expected, abs=0.02)


def test_the_limit_of_learning_is_the_papers() -> None:
    assert epk14_fig3.critical(10**4) == pytest.approx(4.4171734, abs=1e-6)
    assert epk14_fig3.most_strings(1e8, 10**4) == pytest.approx(5000 / 4.4171734, rel=1e-6)
    assert epk14_fig3.most_strings(1e8, 10**4, 0.95) == pytest.approx(
        5000 / (4.4171734 + 1.6448536), rel=1e-6
    )


def test_standard_errors_of_the_tables_are_the_printed_ones() -> None:
    assert std_error_of_count(epk14_table1.PAPER, 10**6) == pytest.approx(2806.2, abs=0.1)
    assert std_error_of_count(epk14_table2.MECHANISM, 186_792) == pytest.approx(1212.8, abs=0.1)
    homepages = std_error_of_count(epk14_fig6.MECHANISM, 14_000_000)
    assert 14_000 / homepages == pytest.approx(0.67, abs=0.005)


def test_the_clients_have_the_papers_epsilons() -> None:
    assert epk14_table1.PAPER.epsilon == pytest.approx(1.0743, abs=1e-4)
    assert epk14_table1.RETUNED.epsilon == pytest.approx(1.074286, abs=2e-6)
    assert epk14_table1.RETUNED.epsilon_forever == pytest.approx(4.394450, abs=2e-6)
    assert epk14_table1.PAPER.epsilon_forever == pytest.approx(4.394450, abs=2e-6)
    assert epk14_fig6.MECHANISM.epsilon == pytest.approx(0.5343, abs=1e-4)
    for h in (2, 16):
        assert client(128, h, 8).epsilon == pytest.approx(math.log(3), abs=1e-5)


def test_a_default_sweep_leaves_out_the_largest_designs_only() -> None:
    assert len(settings(full=True)) == 64
    left = {(s.label["k"], s.label["m"]) for s in settings(full=False)}
    assert (1024, 16) in left
    assert (1024, 32) not in left


def test_bj18_epsilon_fits_f_only_after_rounding() -> None:
    assert bj18.client().epsilon_forever == pytest.approx(4 * math.log(0.635 / 0.365), abs=2e-6)
    assert bj18.noise_for(2) == pytest.approx(0.7320508, abs=1e-6)
    exact = bj18.client(f=bj18.noise_for(2)).epsilon_forever
    assert exact == pytest.approx(2 * math.log(3), abs=1e-5)


@pytest.mark.parametrize(
    ("key", "seed", "expected"),
    [
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"\xff\xff\xff\xff", 0, 0x76293B50),
        (b"!Ce\x87", 0, 0xF55B516B),
        (b"!Ce", 0, 0x7E4A8634),
        (b"!", 0, 0x72661CF4),
        (b"Hello, world!", 0x9747B28C, 0x24884CBA),
    ],
)
def test_murmur3_has_the_published_values(key: bytes, seed: int, expected: int) -> None:
    assert murmur3(key, seed) == expected


def test_uniformity_finds_uneven_slices_and_passes_even_ones() -> None:
    names = [f"word{i}" for i in range(1500)]
    one = bj18_hash.uniformity(bj18_hash.occupancy(bj18_hash.one_digit, names, 48))
    two = bj18_hash.uniformity(bj18_hash.occupancy(bj18_hash.two_digits, names, 48))
    assert one["empty_bits"] == 32
    assert two["p_value"] < 1e-12
    for family in (bj18_hash.murmur, bj18_hash.own):
        assert bj18_hash.uniformity(bj18_hash.occupancy(family, names, 48))["p_value"] > 1e-3


def test_chi_square_is_pearsons() -> None:
    found = bj18_hash.uniformity(np.array([10, 20, 30, 0]))
    assert found["chi2_per_degree"] == pytest.approx((25 + 25 + 225 + 225) / 15 / 3)
    assert found["empty_bits"] == 1


def test_populations_sum_to_one_and_have_their_shapes() -> None:
    shares = exponential(100, 50, 5.0)
    assert shares.sum() == pytest.approx(1)
    assert shares[99] / shares[0] == pytest.approx(math.exp(-5))
    assert not shares[100:].any()
    assert zipf(4).tolist() == pytest.approx([12 / 25, 6 / 25, 4 / 25, 3 / 25])
    assert normal_shares().sum() == pytest.approx(1)
    assert normal_shares()[50] == pytest.approx(math.erf(0.05 / math.sqrt(2)))
    assert epk14_fig6.shares()[: epk14_fig6.HEAD].sum() == pytest.approx(0.85)
    rows = epk14_table2.running()
    assert rows.sum() * epk14_table2.MACHINES == pytest.approx(epk14_table2.REPORTS)
    assert rows.max() < 1


def test_names_of_runs_differ_but_not_within_a_seed() -> None:
    first, again, other = (numbered(3, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again
    assert not set(first) & set(other)
    assert numbered(2) == ["V1", "V2"]


def test_real_files_are_read_from_their_directory(tmp_path: Path) -> None:
    (tmp_path / "domains.txt").write_text("b.example\na.example\n\nb.example\nc.example\n")
    (tmp_path / "words.csv").write_text("word,count\nthe,9\nof,5\nand,4\n")
    assert domains(tmp_path, 3) == ["b.example", "a.example", "c.example"]
    names, counts = words(tmp_path, 2)
    assert (names, counts.tolist()) == (["of", "and"], [5.0, 4.0])
    with pytest.raises(InvalidParameter, match="must have 4 names"):
        domains(tmp_path, 4)
    with pytest.raises(InvalidParameter, match="too few"):
        words(tmp_path, 3)


@pytest.mark.parametrize("text", ["word,count\nthe,9\nof,many\n", "word,count\nthe,9\nof\n"])
def test_a_bad_line_of_words_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "words.csv").write_text(text)
    with pytest.raises(InvalidParameter, match="a word and a count"):
        words(tmp_path, 1)


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "domains.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidParameter, match="UTF-8"):
        domains(tmp_path, 1)


def test_detected_false_precision_and_recall() -> None:
    found, truth = np.array([True, True, False, True]), np.array([0.5, 0.5, 0.0, 0.0])
    assert found_and_false(found, truth) == {"detected": 3, "false": 1}
    assert precision_and_recall(found, truth) == {"precision": 2 / 3, "recall": 1.0}
    assert precision_and_recall(~found & found, truth) == {"precision": 1.0, "recall": 0.0}


def test_coverage_counts_intervals_that_hold_the_truth() -> None:
    counts = TWO.accumulate(TWO.simulate(["a"] * 20_000, np.random.default_rng(2)))
    decoded = decode(TWO, counts, ["a", "b"])
    assert decoded.storey.tolist() == [True, False]
    right = coverage(decoded, np.array([1.0, 0.0]))
    wrong = coverage(decoded, np.array([5.0, 0.0]))
    assert right == {"coverage": 1.0, "coverage_selected": 1.0}
    assert wrong == {"coverage": 0.5, "coverage_selected": 0.0}


def test_averages_go_into_nested_numbers() -> None:
    runs = [{"a": 1.0, "b": {"c": 2.0}}, {"a": 2.0, "b": {"c": 4.0}}]
    assert averaged(runs) == {"a": 1.5, "b": {"c": 3.0}}


def test_relative_errors_are_about_words_that_people_hold() -> None:
    truth = np.array([0.4, 0.2, 0.0])
    found = errors(np.array([0.2, 0.2, 0.5]), truth)
    assert found["top10_mean_relative_error"] == pytest.approx(0.25)
    assert found["top90_median_relative_error"] == pytest.approx(0.25)


def test_the_life_of_a_report_shows_what_the_encoder_drew() -> None:
    true, permanent, report = life(np.random.default_rng(5))
    assert true.shape == permanent.shape == report.shape == (256,)
    found = counted((true, permanent, report))
    assert found["bloom_bits"] == 4
    assert found["of_these_in_report"] <= found["bloom_bits_in_permanent"] <= 4
    assert found["ones_in_report"] == report.sum()
    assert MECHANISM.parameters.cohorts == 1
    again = Counter(tuple(life(np.random.default_rng(5))[2].tolist()) for _ in range(2))
    assert again == {tuple(report.tolist()): 2}
