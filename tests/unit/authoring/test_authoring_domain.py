"""Domains as people write them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deniable.authoring.domain import read_domain
from deniable.authoring.problems import Notes
from deniable.protocol import Boolean, Categories, Numbers, Strings
from deniable.protocol.domain_reading import domain_from_published

finite = st.floats(-1e299, 1e299) | st.integers(-(10**20), 10**20)


def _problems(raw: object) -> list[tuple[str, str]]:
    notes = Notes("domain")
    assert read_domain(raw, notes) is None
    assert notes.problems
    assert all(problem.fix for problem in notes.problems)
    return [(problem.key, problem.message) for problem in notes.problems]


def test_short_and_long_spellings() -> None:
    for raw, domain in (
        ("boolean", Boolean()),
        ({"type": "boolean"}, Boolean()),
        ("strings", Strings()),
        ({"type": "categories", "values": ["a", "e\u0301"]}, Categories(("a", "é"))),
        ({"type": "numbers", "edges": [0, 0.5, 1e20]}, Numbers(("0", "0.5", "1e+20"))),
    ):
        notes = Notes()
        assert read_domain(raw, notes) == domain
        assert notes.problems == []


@pytest.mark.parametrize("raw", [None, 5, [], "colour", {}, {"type": 5}, {"type": ["boolean"]}])
def test_what_is_no_domain(raw: object) -> None:
    ((key, message),) = _problems(raw)
    assert key == "domain"
    assert "missing" in message or "boolean, categories, strings, numbers" in message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "2 to 65,536 names. Got none"),
        ([], "2 to 65,536 names. Got 0"),
        (["a"], "Got 1"),
        ([str(i) for i in range(10**6)], "Got 1,000,000"),
        ("ab", "Got none"),
        (["a", 1], "strings of 1 to 4,096"),
        (["a", ""], "strings of 1 to 4,096"),
        (["a", "b" * 4097], "strings of 1 to 4,096"),
        (["a", "é" * 2049], "strings of 1 to 4,096"),
        (["a", "é", "e\u0301"], "appear twice (after NFC): ['é']"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_categories_that_are_refused(values: Any, message: str) -> None:
    raw = {"type": "categories"} | ({} if values is None else {"values": values})
    ((key, said),) = _problems(raw)
    assert key == "domain.values"
    assert message in said


def test_one_repeated_name_among_65536_is_found_quickly() -> None:
    names = [str(i) for i in range(65_535)]
    ((_, message),) = _problems({"type": "categories", "values": [*names, "7"]})
    assert "['7']" in message


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        ({}, ["domain"]),
        ({"edges": [1], "low": 0}, ["domain"]),
        ({"edges": []}, ["domain.edges"]),
        ({"edges": 5}, ["domain.edges"]),
        ({"edges": [1, "2"]}, ["domain.edges"]),
        ({"edges": [True]}, ["domain.edges"]),
        ({"edges": [math.nan]}, ["domain.edges"]),
        ({"edges": [math.inf]}, ["domain.edges"]),
        ({"edges": [10**400]}, ["domain.edges"]),
        ({"edges": [2, 1]}, ["domain.edges"]),
        ({"edges": [1, 1.0]}, ["domain.edges"]),
        ({"edges": [2**53, 2**53 + 1]}, ["domain.edges"]),
        ({"edges": list(range(65_536))}, ["domain.edges"]),
        ({"low": 1}, ["domain.high", "domain.bins"]),
        ({"low": 0, "high": 1}, ["domain.bins"]),
        ({"low": 0, "high": 1, "bins": 0}, ["domain.bins"]),
        ({"low": 0, "high": 1, "bins": 65_535}, ["domain.bins"]),
        ({"low": 0, "high": 1, "bins": 2.0}, ["domain.bins"]),
        ({"low": 1, "high": 1, "bins": 2}, ["domain.high"]),
        ({"low": 2, "high": 1, "bins": 2}, ["domain.high"]),
        ({"low": math.nan, "high": 1, "bins": 2}, ["domain.low"]),
        ({"low": "0", "high": math.inf, "bins": 2}, ["domain.low", "domain.high"]),
        ({"low": 0, "high": 1, "bins": 2, "scale": "log"}, ["domain.low"]),
        ({"low": 2, "high": 1, "bins": 2, "scale": "cubic"}, ["domain.scale", "domain.high"]),
        ({"low": 1, "high": math.nextafter(1, 2), "bins": 9}, ["domain.edges"]),
        ({"low": 0, "high": 1, "bins": 2, "step": 3}, None),
    ],
    ids=lambda value: str(value)[:50],
)
def test_numbers_that_are_refused(table: dict[str, Any], keys: list[str] | None) -> None:
    if keys is None:  # the domain can be read; the unknown key is noted beside it
        notes = Notes("domain")
        assert read_domain({"type": "numbers", **table}, notes) is not None
        assert [problem.key for problem in notes.problems] == ["domain.step"]
        return
    assert [key for key, _ in _problems({"type": "numbers", **table})] == keys


def _edges(**table: Any) -> tuple[str, ...]:
    domain = read_domain({"type": "numbers", **table}, Notes())
    assert isinstance(domain, Numbers)
    return domain.edges


def test_edges_are_the_ones_a_person_expects() -> None:
    assert _edges(low=0, high=1, bins=10)[:4] == ("0", "0.1", "0.2", "0.3")
    assert _edges(low=0.1, high=0.7, bins=6) == ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7")
    assert _edges(low=1, high=1000, bins=3, scale="log") == ("1", "10", "100", "1000")
    assert _edges(low=0.001, high=1, bins=3, scale="log") == ("0.001", "0.01", "0.1", "1")
    assert _edges(low=-5, high=5, bins=1) == ("-5", "5")
    assert len(_edges(low=0, high=65_534, bins=65_534)) == 65_535
    assert _edges(low=1e-299, high=1e299, bins=2, scale="log") == ("1e-299", "1", "1e+299")
    assert _edges(low=0, high=10**18, bins=2) == ("0", "5e+17", "1e+18")


@given(finite, finite, st.integers(1, 50), st.sampled_from(["linear", "log"]))
def test_spread_edges_rise_and_are_read_back(low: Any, high: Any, bins: int, scale: str) -> None:
    assume(low < high)
    domain = read_domain(
        {"type": "numbers", "low": low, "high": high, "bins": bins, "scale": scale}, Notes()
    )
    assume(domain is not None)
    assert isinstance(domain, Numbers)
    assert len(domain.edges) == bins + 1
    assert (domain.bounds[0], domain.bounds[-1]) == (float(low), float(high))
    assert all(a < b for a, b in pairwise(domain.bounds))
    assert domain_from_published(domain.published()) == domain


@given(st.lists(finite, min_size=1, max_size=9))
def test_edges_are_exact_doubles(edges: list[Any]) -> None:
    numbers = sorted({float(edge) for edge in edges})
    domain = read_domain({"type": "numbers", "edges": numbers}, Notes())
    assert isinstance(domain, Numbers)
    assert list(domain.bounds) == numbers
    assert domain_from_published(domain.published()) == domain
