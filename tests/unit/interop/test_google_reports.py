"""Reports of Google's clients: read, counted, written, and decoded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.interop import google_reports
from deniable.interop.google_files import read_triple, write_counts, write_map, write_params
from deniable.interop.google_rappor import GoogleParams, bloom_bits
from deniable.interop.google_reports import (
    GoogleReport,
    count_reports,
    read_reports,
)
from deniable.testing.statistics import accept, mean, reject
from material.google_rappor import permanent_response, write_reports

Floats = NDArray[np.float64]
PARAMS = GoogleParams(4, 1, 2, 0.25, 0.75, 0.5)
HEADER = "client,cohort,bloom,prr,irr\r\n"


def read_text(folder: Path, text: str) -> list[GoogleReport]:
    path = folder / "reports.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return list(read_reports(path, PARAMS))


def test_bit_strings_begin_with_the_most_significant_bit(tmp_path: Path) -> None:
    reports = read_text(tmp_path, HEADER + "c1,1,0010,1010,1000\nc2,0,,,0001\n")
    assert reports == [
        GoogleReport("c1", 1, 0b0010, 0b1010, 0b1000),
        GoogleReport("c2", 0, None, None, 0b0001),
    ]
    assert count_reports(reports, PARAMS).tolist() == [[1, 1, 0, 0, 0], [1, 0, 0, 0, 1]]


def test_both_ways(tmp_path: Path) -> None:
    text = HEADER + 'c1,1,0010,1010,1000\r\n"c,2",0,,,0001\r\n'
    reports = read_text(tmp_path, text)
    write_reports(tmp_path / "again.csv", PARAMS, iter(reports))
    assert (tmp_path / "again.csv").read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 must be the header client,cohort,bloom,prr,irr"),
        ("client,cohort,irr\n", "line 1 must be the header"),
        (HEADER + "c1,0,0010,0001\n", "line 2 must hold client,cohort,bloom,prr,irr"),
        (HEADER + "c1,2,0010,0010,0010\n", "line 2 must hold integers from 0 to 1"),
        (HEADER + "c1,x,0010,0010,0010\n", "line 2 must hold integers."),
        (HEADER + "c1,1,0010,0010,001\n", "line 2 must have 4 digits 0 or 1 (k) in column irr"),
        (HEADER + "c1,1,0010,0010,\n", "in column irr"),
        (HEADER + "c1,1,0010,0012,0010\n", "in column prr"),
        (HEADER + "c1,1,0b10,0010,0010\n", "in column bloom"),
        (HEADER + "c1,1,0010,0010,0_10\n", "in column irr"),
    ],
)
def test_bad_reports_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_text(tmp_path, text)
    assert str(caught.value).startswith("reports.csv, line ")
    assert message in str(caught.value)


def test_what_stands_in_a_bad_row_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_text(tmp_path, HEADER + "client-77,1,0110x,0110x,0110x\n")
    assert "0110x" not in str(caught.value)
    assert "client-77" not in str(caught.value)
    assert repr(GoogleReport("c1", 1, 2, 3, 4)) == "GoogleReport(<hidden>)"


def test_chunks_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = [GoogleReport("c", i % 2, None, None, i % 16) for i in range(100)]
    whole = count_reports(reports, PARAMS)
    monkeypatch.setattr(google_reports, "_CHUNK", 7)
    assert (count_reports(iter(reports), PARAMS) == whole).all()
    assert whole[:, 0].tolist() == [50, 50]


def client_reports(
    params: GoogleParams, words: list[str], rng: np.random.Generator
) -> list[GoogleReport]:
    """Google's Python client, one person per word."""
    reports = []
    for person, word in enumerate(words):
        cohort = int(rng.integers(params.m))
        bloom = 0
        for bit in bloom_bits(word.encode(), cohort, params.h, params.k):
            bloom |= 1 << bit
        prr = permanent_response(b"secret %d" % person, bloom, params.k, params.f)
        drawn = rng.random(params.k).tolist()
        chances = [params.q if prr >> i & 1 else params.p for i in range(params.k)]
        irr = sum((drawn[i] < chances[i]) << i for i in range(params.k))
        reports.append(GoogleReport(f"c{person}", cohort, None, None, irr))
    return reports


def least_squares(
    folder: Path, params: GoogleParams, words: list[str], candidates: list[str]
) -> tuple[Floats, Floats]:
    """Write all files, read the triple, and solve for frequencies and their standard errors."""
    reports = client_reports(params, words, np.random.default_rng(7))
    write_reports(folder / "reports.csv", params, reports)
    counts = count_reports(read_reports(folder / "reports.csv", params), params)
    write_params(folder / "params.csv", params)
    write_counts(folder / "counts.csv", counts)
    write_map(folder / "map.csv", params, candidates)
    google = read_triple(folder)
    design = np.zeros((len(candidates), params.m, params.k))
    for v, bits in enumerate(google.positions):
        design[v, np.arange(params.m)[:, None], bits] = 1
    x = design.reshape(len(candidates), -1).T
    tallies = google.accumulated
    share = tallies.table / tallies.reports[:, None]
    gap = google.params.q_star - google.params.p_star
    y = ((share - google.params.p_star) / gap).ravel()
    pseudo = np.linalg.pinv(x)
    noise = 1 / (4 * gap**2 * np.repeat(tallies.reports, params.k))
    return pseudo @ y, np.sqrt((pseudo**2) @ noise)


def test_without_noise_the_counts_are_the_truth() -> None:
    params = GoogleParams(32, 2, 2, 0.0, 1.0, 0.0)
    words = ["a"] * 6 + ["b"] * 3 + ["c"]
    reports = client_reports(params, words, np.random.default_rng(1))
    counts = count_reports(reports, params)
    for cohort in range(params.m):
        held = [w for w, r in zip(words, reports, strict=True) if r.cohort == cohort]
        expected = [0] * params.k
        for word in held:
            for bit in set(bloom_bits(word.encode(), cohort, params.h, params.k)):
                expected[bit] += 1
        assert counts[cohort].tolist() == [len(held), *expected]


def test_reports_of_googles_client_decode(tmp_path: Path) -> None:
    params = GoogleParams(32, 1, 4, 0.25, 0.75, 0.5)
    people = 8_000
    words = ["common"] * (people // 2) + ["rare"] * (people // 2)
    found, error = least_squares(tmp_path, params, words, ["common", "rare", "nobody"])
    for frequency, std_error, truth in zip(found, error, (0.5, 0.5, 0.0), strict=True):
        # The noise is bounded by a bit's largest variance, 1/4: the test is on the safe side.
        accept(mean(float(frequency), truth, float(std_error)))
    # A hash that were off by one cohort would find nobody.
    reject(mean(float(found[0]), 0.0, float(error[0])), miss=1e-9)
