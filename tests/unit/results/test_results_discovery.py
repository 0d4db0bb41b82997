"""Discoveries as results: rows, notes, JSON and the tree, from the reports in a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.ask import Options, discover
from deniable.ask.discover import is_discovered
from deniable.errors import InvalidParameter
from deniable.results.charts.beginnings import heights, tree_words
from deniable.results.table import Table, as_text
from deniable.results.table.files import chart_svg
from deniable.store import SqliteStore
from material.discovery_store import WORDS, asked, filled, published


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Table:
    folder = tmp_path_factory.mktemp("discovery")
    (one,) = discover(filled(folder), asked(published(folder)), Options(beam=50, threads=1))
    return one


def test_rows_are_the_strings_that_were_found(found: Table) -> None:
    assert [row.value for row in found.rows if row.holm] == WORDS
    assert all(row.holm and row.storey for row in found.rows)
    assert found.about.n == 30_000
    assert found.about.mechanism == "prefixes"


def test_the_text_says_what_was_tested_and_what_not_learnable(found: Table) -> None:
    text = as_text(found)
    assert "abbaca" in text
    assert "Detection limit: a share of about" in text
    assert "corrected for all of them (Holm)" in text
    assert "cannot be known from reports" in text


def test_json_has_tests_limits_levels_and_the_tree(found: Table) -> None:
    data = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert 0 < data["limit"] < 1
    assert data["verifiers"] < data["n"]
    assert [level["kept"] for level in data["parts"]["levels"]["rows"]] == [50] * len(
        data["parts"]["levels"]["rows"]
    )
    for row in data["rows"]:
        assert row["uncorrected"] <= row["p_value"] < 0.05
    leaves = [branch["text"] for branch in data["parts"]["tree"]["rows"] if branch["found"]]
    assert sorted(leaves) == sorted(WORDS)


def test_the_tree_leads_from_beginnings_to_strings(found: Table) -> None:
    tree = found.parts["tree"].rows
    assert tree[0].cells == ("", -1, 1.0, False)
    for place, branch in enumerate(tree[1:], 1):
        assert 0 <= branch.parent < place
        assert branch.text.startswith(tree[branch.parent].text)
        assert len(branch.text) > len(tree[branch.parent].text) or branch.found
    assert tree_words(found.parts["tree"]) == (
        "A tree of 4 beginnings that lead to 4 strings. "
        "Most frequent: abba 39%, abbaca 32%, <b> 18%."
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_tree_is_drawn(found: Table, theme: str) -> None:
    picture = chart_svg(found.parts["tree"], theme=theme, width=640).decode()
    assert "abbaca" in picture
    assert "&lt;b&gt;" in picture
    with pytest.raises(InvalidParameter, match="theme"):
        found.parts["tree"].chart(theme="pink")


def test_heights_give_every_name_a_line_of_its_own_under_its_parent() -> None:
    assert heights([-1, 0, 1, 1, 0]) == [0, 1, 2, 3, 4]
    assert heights([-1, 0, 0, 1, 2, 1]) == [0, 1, 4, 2, 5, 3]
    assert heights([]) == []


def test_no_reports_yet(tmp_path: Path) -> None:
    survey = published(tmp_path)
    with SqliteStore(tmp_path / "empty.sqlite3") as store:
        (one,) = discover(store, asked(survey))
    assert one.rows == ()
    assert "no reports yet" in as_text(one)
    assert one.as_json()["limit"] is None
    assert len(one.parts["tree"].rows) == 1


def test_only_grown_strings_can_be_discovered(tmp_path: Path) -> None:
    survey = published(tmp_path)
    assert is_discovered(asked(survey).fields[0])
    assert not is_discovered(asked(survey, "dark").fields[0])
    with SqliteStore(tmp_path / "empty.sqlite3") as store:
        with pytest.raises(InvalidParameter, match="no strings to discover"):
            discover(store, asked(survey, "dark"))
        with pytest.raises(InvalidParameter, match="no field 'other'"):
            discover(store, asked(survey), Options(fields=["other"]))
