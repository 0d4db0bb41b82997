"""Discoveries as results: rows, notes, JSON and the tree, from the reports in a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.errors import InvalidParameter
from deniable.results import as_text
from deniable.results.chart_files import svg_of
from deniable.results.discovery import Discovered, discover_question, is_discovered
from deniable.results.discovery_tree import Branch, heights, tree_chart, tree_words
from deniable.store import SqliteStore
from material.discovery_store import WORDS, asked, filled, published


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Discovered:
    folder = tmp_path_factory.mktemp("discovery")
    (one,) = discover_question(filled(folder), asked(published(folder)), beam=50, threads=1)
    return one


def test_rows_are_the_strings_that_were_found(found: Discovered) -> None:
    assert [row.value for row in found.result.rows if row.holm] == WORDS
    assert all(row.holm and row.storey for row in found.result.rows)
    assert found.result.n == 30_000
    assert found.result.mechanism == "prefixes"


def test_the_text_says_what_was_tested_and_what_not_learnable(found: Discovered) -> None:
    text = as_text(found.result)
    assert "abbaca" in text
    assert "Not learnable: a string that" in text
    assert "corrected for all of them (Holm)" in text
    assert "cannot be known from reports" in text


def test_json_has_tests_limits_levels_and_the_tree(found: Discovered) -> None:
    data = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert 0 < data["learnable"] < 1
    assert data["verifiers"] < data["n"]
    assert [level["kept"] for level in data["levels"]] == [50] * len(data["levels"])
    for row in data["rows"]:
        assert row["p_value"] <= row["corrected"] < 0.05
    leaves = [branch["text"] for branch in data["tree"] if branch["found"]]
    assert sorted(leaves) == sorted(WORDS)


def test_the_tree_leads_from_beginnings_to_strings(found: Discovered) -> None:
    tree = found.tree
    assert tree[0] == Branch("", -1, 1.0, False)
    for place, branch in enumerate(tree[1:], 1):
        assert 0 <= branch.parent < place
        assert branch.text.startswith(tree[branch.parent].text)
        assert len(branch.text) > len(tree[branch.parent].text) or branch.found
    assert tree_words(tree).endswith("lead to 4 strings.")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_tree_is_drawn(found: Discovered, theme: str) -> None:
    picture = svg_of(tree_chart(found.tree, theme=theme, width=640).to_dict()).decode()
    assert "abbaca" in picture
    assert "&lt;b&gt;" in picture
    with pytest.raises(InvalidParameter, match="theme"):
        tree_chart(found.tree, theme="pink")


def test_heights_put_parents_amid_their_children() -> None:
    tree = [Branch("", -1, 1, False), Branch("a", 0, 1, False), Branch("ab", 1, 1, True)]
    tree += [Branch("ac", 1, 1, True), Branch("b", 0, 1, True)]
    assert heights(tree) == [1.25, 0.5, 0, 1, 2]
    assert heights([]) == []


def test_no_reports_yet(tmp_path: Path) -> None:
    survey = published(tmp_path)
    with SqliteStore(tmp_path / "empty.sqlite3") as store:
        (one,) = discover_question(store, asked(survey))
    assert one.result.rows == ()
    assert "no reports yet" in as_text(one.result)
    assert one.as_json()["learnable"] is None
    assert len(one.tree) == 1


def test_only_grown_strings_can_be_discovered(tmp_path: Path) -> None:
    survey = published(tmp_path)
    assert is_discovered(asked(survey).fields[0])
    assert not is_discovered(asked(survey, "dark").fields[0])
    with SqliteStore(tmp_path / "empty.sqlite3") as store:
        with pytest.raises(InvalidParameter, match="no strings to discover"):
            discover_question(store, asked(survey, "dark"))
        with pytest.raises(InvalidParameter, match="no strings to discover"):
            discover_question(store, asked(survey), field="other")
