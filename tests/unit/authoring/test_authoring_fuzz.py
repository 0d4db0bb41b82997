"""Whatever a survey.toml holds, reading it gives a survey or problems, never a crash."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.authoring import Authored, authoring_of, read_authored
from deniable.protocol import PROFILE_MECHANISMS, Survey
from material.toml_writing import toml

PARAMETERS = sorted({*authoring_of("rappor").keys, *authoring_of("krr").keys})
names = [
    *("name", "owner", "people", "questions", "id", "version", "description", "expires", "epoch"),
    *("repeat", "send", "fields", "domain", "mechanism", "parameters", "type", "values", "edges"),
    *("low", "high", "bins", "scale", "candidates", *PARAMETERS),
]
words = "boolean strings categories numbers krr rappor once epoch always recorded log linear value"
texts = st.sampled_from(words.split()) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=4
)
keys = st.sampled_from(names) | texts
numbers = st.integers() | st.floats() | st.sampled_from([0, 1, 2, 0.5, 1e-6, 32, 2**64, 2**80])
values = st.recursive(
    st.booleans() | numbers | texts | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=8,
)
parameters = st.dictionaries(
    st.sampled_from(PARAMETERS),
    st.integers(-1, 70_000) | st.floats(-0.5, 1.5) | st.floats(1e-7, 40) | values,
    max_size=5,
)
domains = values | st.sampled_from(
    [
        "boolean",
        "strings",
        {"type": "categories", "values": ["a", "b", "c"]},
        {"type": "numbers", "low": 1, "high": 9, "bins": 4},
    ]
)
questions = st.fixed_dictionaries(
    {
        "id": st.just("q") | values,
        "description": st.just("d") | values,
        "expires": st.just(date(2099, 1, 1)) | values,
        "domain": domains,
        "mechanism": st.sampled_from(["krr", "rappor"]) | values,
        "parameters": parameters | values,
    },
    optional={
        "version": values,
        "epoch": values,
        "repeat": values,
        "send": values,
        "fields": values,
    },
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def _read(folder: Path, data: bytes) -> Authored:
    path = folder / "survey.toml"
    path.write_bytes(data)
    authored = read_authored(path)
    assert (authored.survey is None) == bool(authored.problems)
    for problem in (*authored.problems, *authored.warnings):
        assert problem.key
        assert problem.message
        assert problem.fix
        assert len(str(problem)) < 2_000
    if authored.survey is not None:
        assert Survey.from_published(authored.survey.published()) == authored.survey
    return authored


@given(st.dictionaries(keys, values, max_size=5))
def test_arbitrary_tables(folder: Path, table: dict[str, Any]) -> None:
    _read(folder, toml(table).encode())


@settings(max_examples=150)
@given(st.lists(questions, min_size=1, max_size=2))
def test_nearly_good_questions(folder: Path, tables: list[dict[str, Any]]) -> None:
    _read(folder, toml({"name": "n", "owner": "o", "questions": tables}).encode())


@settings(max_examples=150)
@given(
    parameters, st.sampled_from(["krr", "rappor"]), domains, st.sampled_from(["always", "recorded"])
)
def test_arbitrary_parameters_never_spend_more_than_wanted(
    folder: Path, wanted: dict[str, Any], mechanism: str, domain: Any, send: str
) -> None:
    base = {"id": "q", "description": "d", "expires": date(2099, 1, 1), "send": send}
    table = {**base, "domain": domain, "mechanism": mechanism, "parameters": wanted}
    authored = _read(folder, toml({"name": "n", "owner": "o", "questions": [table]}).encode())
    if authored.survey is None:
        return
    found = authored.survey.questions[0].fields[0].parameters
    if "epsilon" in wanted:
        assert found.epsilon_once <= wanted["epsilon"] * 1e6 * (1 + 1e-12)
    if "epsilon_forever" in wanted:
        assert found.epsilon_forever is not None
        assert found.epsilon_forever <= wanted["epsilon_forever"] * 1e6 * (1 + 1e-12)


records = st.fixed_dictionaries(
    {
        "id": st.just("q"),
        "description": st.just("d"),
        "expires": st.just(date(2099, 1, 1)),
        "mechanism": st.sampled_from([*PROFILE_MECHANISMS, "auto"]),
        "parameters": st.fixed_dictionaries(
            {"epsilon": st.floats(1e-7, 40)},
            optional={
                "order": st.integers(0, 5),
                "basis": st.sampled_from(["walsh", "contrasts"]) | values,
                "size": st.integers(0, 5),
                "asymmetric": st.booleans(),
                "g": st.integers(0, 70_000),
                "width": st.sampled_from([1, 2, 256, 300]),
            },
        ),
        "fields": st.lists(
            st.fixed_dictionaries({"name": st.sampled_from("abcdefgh") | texts, "domain": domains}),
            max_size=4,
        ),
    },
    optional={"send": st.sampled_from(["always", "recorded"]), "repeat": values},
)


@settings(max_examples=200)
@given(records)
def test_arbitrary_records_never_spend_more_than_wanted(
    folder: Path, table: dict[str, Any]
) -> None:
    authored = _read(folder, toml({"name": "n", "owner": "o", "questions": [table]}).encode())
    if authored.survey is not None:
        wanted = table["parameters"]["epsilon"] * 1e6 * (1 + 1e-12)
        assert authored.survey.questions[0].epsilon_once <= wanted


@given(
    st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "ignore"))
)
def test_arbitrary_bytes(folder: Path, data: bytes) -> None:
    assert _read(folder, data).problems
