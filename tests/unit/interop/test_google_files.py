"""Params, counts and map files: read, written, and refused with their lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.interop import google_files
from deniable.interop.google_files import (
    read_counts,
    read_map,
    read_params,
    read_triple,
    write_counts,
    write_map,
    write_params,
)
from deniable.interop.google_rappor import GoogleParams, GoogleRappor, bloom_bits
from material.google_rappor import write_triple

PARAMS = GoogleParams(4, 2, 2, 0.25, 0.75, 0.5)


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_params_as_google_writes_them(tmp_path: Path) -> None:
    path = written(tmp_path / "params.csv", "k,h,m,p,q,f\r\n32,1,64,0.25,0.75,0.5\r\n")
    params = read_params(path)
    assert params == GoogleParams(32, 1, 64, 0.25, 0.75, 0.5)
    write_params(path, params)
    assert path.read_bytes() == b"k,h,m,p,q,f\r\n32,1,64,0.25,0.75,0.5\r\n"
    assert read_params(path) == params


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 must be the header k,h,m,p,q,f"),
        ("k,h,m,p,f,q\n1,1,1,0,1,0\n", "line 1 must be the header"),
        ("k, h, m, p, q, f\n1,1,1,0,1,0\n", "line 1 must be the header"),
        ("k,h,m,p,q,f\n", "line 2 must hold the six numbers"),
        ("k,h,m,p,q,f\n8,1,1,0.25,0.75\n", "line 2 must hold the six numbers"),
        ("k,h,m,p,q,f\n8.5,1,1,0.25,0.75,0\n", "line 2 must hold integers"),
        ("k,h,m,p,q,f\n1_0,1,1,0.25,0.75,0\n", "line 2 must hold integers"),
        ("k,h,m,p,q,f\n8,1,1,1/4,0.75,0\n", "line 2 must hold p, q and f as decimals"),
        ("k,h,m,p,q,f\n8,1,1,nan,0.75,0\n", "line 2 cannot be. The 'p' parameter"),
        ("k,h,m,p,q,f\n0,1,1,0.25,0.75,0\n", "line 2 cannot be. The 'k' parameter"),
        ("k,h,m,p,q,f\n8,1,1,0.5,0.5,0\n", "line 2 cannot be. Reports with"),
        ("k,h,m,p,q,f\n8,1,1,0.25,0.75,0\n8,1,1,0,1,0\n", "line 3 is one too many"),
        (b"k,h,m,p,q,f\n\xff\n", "line 1 or one soon after it is not UTF-8"),
        ('k,h,m,p,q,f\n"8,1,1,0,1,0\n', "line 2 is not CSV"),
    ],
)
def test_bad_params_are_refused_with_their_line(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_params(written(tmp_path / "params.csv", text))
    assert f"params.csv, {message}" in str(caught.value)


def test_counts_both_ways(tmp_path: Path) -> None:
    path = written(tmp_path / "counts.csv", "9,1,2,3,9\n\n0,0,0,0,0\n\n")
    counts = read_counts(path, PARAMS)
    assert counts.tolist() == [[9, 1, 2, 3, 9], [0, 0, 0, 0, 0]]
    write_counts(path, counts)
    assert path.read_bytes() == b"9,1,2,3,9\r\n0,0,0,0,0\r\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9,1,2,3,9\n", "line 2 is missing: there must be 2 rows"),
        ("", "line 1 is missing"),
        ("9,1,2,3,9\n" * 3, "line 3 does not fit: there must be 2 rows (m) of 5"),
        ("9,1,2,3\n9,1,2,3\n", "line 1 does not fit"),
        ("9,1,2,3,9\n9,1,2,3,10\n", "line 2 counts a bit more often than there are reports"),
        ("9,1,2,3,-1\n9,1,2,3,9\n", "line 1 must hold integers from 0"),
        ("9,1,2,3,x\n9,1,2,3,9\n", "line 1 must hold integers."),
        (f"{10**30},1,2,3,9\n9,1,2,3,9\n", "line 1 must hold integers from 0"),
    ],
)
def test_bad_counts_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_counts(written(tmp_path / "counts.csv", text), PARAMS)
    assert f"counts.csv, {message}" in str(caught.value)


def test_a_map_by_hand(tmp_path: Path) -> None:
    # k = 4, h = 2, m = 2: cohort 0 has 1..4, cohort 1 has 5..8.
    path = written(tmp_path / "map.csv", 'v1,1,4,5,8\r\n"a ""b"", c",2,2,7,6\r\n')
    candidates, positions, repeats = read_map(path, PARAMS)
    assert candidates == ("v1", 'a "b", c')
    assert positions.tolist() == [[[0, 3], [0, 3]], [[1, 1], [2, 1]]]
    assert repeats == 0


def test_a_map_of_googles_hash(tmp_path: Path) -> None:
    words = ["v1", "v2", "", "a,b", 'qu"ote', "two\nlines", "ünïcode"]
    write_map(tmp_path / "map.csv", PARAMS, words)
    candidates, positions, _ = read_map(tmp_path / "map.csv", PARAMS)
    assert candidates == tuple(words)
    assert positions.tolist() == [
        [bloom_bits(word.encode(), cohort, 2, 4) for cohort in range(2)] for word in words
    ]
    assert (positions == PARAMS.positions(words)).all()


def test_a_repeated_string_is_left_out_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "map.csv", "a,1,4,5,8\nb,1,1,5,5\na,1,4,5,8\n")
    candidates, positions, repeats = read_map(path, PARAMS)
    assert candidates == ("a", "b")
    assert len(positions) == 2
    assert repeats == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 is missing: there must be a candidate"),
        ("a,1,4,5\n", "line 1 must hold a string and 4 integers"),
        ("a,1,4,5,8\nb,1,4,5,x\n", "line 2 must hold integers."),
        ("a,1,4,5,8\nb,0,4,5,8\n", "line 2 must hold integers from 1 to 8"),
        ("a,1,4,5,9\n", "line 1 must hold integers from 1 to 8"),
        ('"two\nlines",1,4,5,8\nb,1,5,5,8\n', "line 3 has a bit in the column of another"),
        ("a,1,4,5,8\nb,1,4,5,8\na,1,3,5,8\n", "line 3 lists a string again, with other bits"),
        ('"a,1,4,5,8\n', "line 1 is not CSV"),
    ],
)
def test_bad_maps_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_map(written(tmp_path / "map.csv", text), PARAMS)
    assert f"map.csv, {message}" in str(caught.value)


def test_chunks_of_a_map_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(google_files, "_CHUNK", 3)
    words = [f"w{i}" for i in range(10)]
    write_map(tmp_path / "map.csv", PARAMS, words)
    candidates, positions, _ = read_map(tmp_path / "map.csv", PARAMS)
    assert candidates == tuple(words)
    assert (positions == PARAMS.positions(words)).all()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    k=st.integers(1, 40),
    h=st.integers(1, 4),
    m=st.integers(1, 4),
    words=st.lists(st.text(st.characters(codec="utf-8"), max_size=9), min_size=1, unique=True),
    seed=st.integers(0, 2**32),
)
def test_a_triple_comes_back(
    tmp_path: Path, k: int, h: int, m: int, words: list[str], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    params = GoogleParams(k, h, m, 0.1, 0.9, float(rng.random()))
    totals = rng.integers(0, 10**9, (m, 1))
    counts = np.hstack([totals, (totals * rng.random((m, k))).astype(np.int64)])
    google = GoogleRappor(params, counts, tuple(words), params.positions(words))
    write_triple(tmp_path, google, "case_")
    back = read_triple(tmp_path, "case_")
    assert back.params == google.params
    assert back.candidates == google.candidates
    assert (back.counts == google.counts).all()
    assert (back.positions == google.positions).all()
    assert back.notes == ()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write_params(tmp_path / "params.csv", PARAMS)
    with pytest.raises(InvalidParameter, match=r"'counts\.csv' cannot be read"):
        read_triple(tmp_path)


def test_a_note_says_what_was_left_out(tmp_path: Path) -> None:
    write_params(tmp_path / "params.csv", PARAMS)
    write_counts(tmp_path / "counts.csv", np.zeros((2, 5), dtype=np.int64))
    written(tmp_path / "map.csv", "a,1,4,5,8\na,1,4,5,8\n")
    assert read_triple(tmp_path).notes == ("Rows of the map that repeat a string, left out: 1.",)
