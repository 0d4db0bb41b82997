"""Pictures of attributes, tables in text, and strange labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from deniable.ask.profiles import (
    Profiles,
    along_tree,
    pairs_table,
    sample_table,
    shares_of,
    tree_table,
)
from deniable.ask.profiles import reports as profile_reports
from deniable.ask.profiles.pairs import EDGE_COLUMNS, PAIR_COLUMNS
from deniable.engines.accumulated import Accumulated
from deniable.errors import InvalidParameter
from deniable.marginals.tree import Edge
from deniable.mechanisms import mechanism_of
from deniable.results.charts.attributes import correlations, dependency_tree, layout
from deniable.results.charts.files import png_of
from deniable.results.table import About, Table, as_text, plain, save
from deniable.results.table.files import chart_svg
from material.results import EPOCH, HOSTILE, question

BODY = """
repeat = "permanent"
mechanism = "coefficients"
parameters = { epsilon = 2.0, order = 2 }
[[questions.fields]]
name = "a"
domain = "boolean"
[[questions.fields]]
name = "b"
domain = { type = "categories", values = VALUES }
[[questions.fields]]
name = "c"
domain = { type = "numbers", edges = [0, 1, 2] }
"""


def reports_of(folder: Path, values: list[str], people: int, epochs: dict[int, int]) -> Profiles:
    text = "[" + ", ".join('"' + "".join(f"\\U{ord(c):08x}" for c in v) + '"' for v in values) + "]"
    asked = question(folder, BODY.replace("VALUES", text))
    (field,) = asked.fields
    mechanism = mechanism_of(field, absent=False)
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.integers(0, size, people) for size in (2, len(values), 4)])
    counts = mechanism.accumulate(mechanism.simulate(codes, rng))
    return Profiles.of(Accumulated(asked, {field.name: counts}, epochs))


def test_strange_labels_are_shown_and_drawn(tmp_path: Path) -> None:
    values = [text for text in HOSTILE if 0 < len(text.encode()) <= 200 and "\x00" not in text]
    reports = reports_of(tmp_path, values, 20_000, {EPOCH: 20_000})
    view = shares_of(reports, [reports.table(["b", "a"])])
    text = as_text(view)
    assert all(character.isprintable() for character in text.replace("\n", ""))
    for end in ("csv", "json", "parquet", "png", "svg", "html"):
        save(view, tmp_path / f"table.{end}")
        assert (tmp_path / f"table.{end}").stat().st_size > 500
    page = (tmp_path / "table.html").read_text()
    assert "<script>alert" not in page


def test_permanent_noise_that_comes_back_widens_the_errors(tmp_path: Path) -> None:
    once = reports_of(tmp_path, ["x", "y"], 4_000, {EPOCH: 4_000}).table(["a"]).raw
    twice = reports_of(tmp_path, ["x", "y"], 4_000, {EPOCH: 2_000, EPOCH + 1: 2_000})
    again = twice.table(["a"]).raw
    assert once.std_error is not None
    assert again.std_error is not None
    np.testing.assert_allclose(again.std_error, np.sqrt(2) * once.std_error)
    np.testing.assert_allclose(again.probability, once.probability)


def test_pairs_of_independent_attributes_are_not_found(tmp_path: Path) -> None:
    reports = reports_of(tmp_path, ["x", "y", "z"], 30_000, {EPOCH: 30_000})
    view = pairs_table(reports)
    assert not any(row.holm for row in view.rows)
    assert chart_svg(view).startswith(b"<svg")


def test_a_tree_is_laid_out_without_crossing() -> None:
    edges = (Edge(0, 1, 0.5, 1.0), Edge(0, 2, 0.4, 0.3), Edge(2, 3, 0.3), Edge(2, 4, 0.2))
    names = "abcde"
    rows = [(names[e.first], names[e.second], e.information, e.confidence) for e in edges]
    tree = Table.of(about_attributes(names), EDGE_COLUMNS, rows, picture=dependency_tree)
    places = layout(tree)
    assert list(places) == list(names)
    assert places["a"][0] == 0 or places["c"][0] == 0  # the root is one of the two in the middle
    assert len(set(places.values())) == 5
    for row in tree.rows:
        assert abs(places[row.first][0] - places[row.second][0]) == 1
    for theme in ("light", "dark"):
        picture = png_of(tree.chart(theme=theme, width=340).to_dict(), scale=1)
        assert picture.startswith(b"\x89PNG")


def about_attributes(names: Sequence[str]) -> About:
    return About("tree", more={"collected": {"attributes": list(names), "order": 2}})


@pytest.mark.parametrize("width", [340, 980])
def test_a_heat_map_of_many_attributes_fits(width: int) -> None:
    names = [f"attribute{i}" for i in range(32)]
    rows = [("attribute0", "attribute31", *(0.1,) * 5, 1, 0.5, False, False)]
    table = Table.of(about_attributes(names), PAIR_COLUMNS, rows, picture=correlations)
    assert chart_svg(table, width=width).startswith(b"<svg")


def test_constant_attributes_have_tables_and_no_correlation(tmp_path: Path) -> None:
    asked = question(tmp_path, BODY.replace("VALUES", '["x", "y"]'))
    (field,) = asked.fields
    mechanism = mechanism_of(field, absent=False)
    rng = np.random.default_rng(2)  # noise that leaves b as constant as it is
    codes = np.tile([1, 0, 2], (50_000, 1))
    counts = mechanism.accumulate(mechanism.simulate(codes, rng))
    reports = Profiles.of(Accumulated(asked, {field.name: counts}, {EPOCH: 50_000}))
    both = reports.table(["a", "b"])
    assert both.smoothed.probability[1, 0] > 0.95
    assert both.smoothed.probability[:, 1].tolist() == [0, 0]
    view = pairs_table(reports)
    picture = tmp_path / "constant.svg"
    save(view, picture)
    assert "n/a" in picture.read_text(encoding="utf-8")
    assert ">null<" not in picture.read_text(encoding="utf-8")
    json.dumps(view.as_json(), allow_nan=False)
    assert not any(row["holm"] for row in view.rows)
    assert len(tree_table(reports).rows) == 2
    records = sample_table(reports, 100, rng).rows
    assert np.mean([row["a"] == "true" for row in records]) > 0.9


def test_fewer_reports_than_coefficients_say_what_is_unknown(tmp_path: Path) -> None:
    reports = reports_of(tmp_path, ["x", "y", "z"], 4, {EPOCH: 4})
    view = shares_of(reports, reports.tables(2))
    json.dumps(view.as_json(), allow_nan=False)
    assert any(plain(row["raw"]) is None for row in view.rows)
    # Nothing was learned: smoothed shares would be noise.
    assert as_text(view).startswith("Nothing was learned")
    assert all(plain(row["smoothed"]) is None for row in view.rows)
    assert "n/a" in as_text(view)
    assert any("unknown" in note for note in view.notes)
    pairs = pairs_table(reports)
    json.dumps(pairs.as_json(), allow_nan=False)
    assert any(plain(row["p_value"]) is None for row in pairs.rows)
    for few in (pairs, tree_table(reports)):
        assert any(note.startswith("Too few reports: of") for note in few.notes)
    assert as_text(tree_table(reports))
    along = along_tree(reports, ["a", "c"], {})
    assert as_text(along).startswith("Nothing was learned")
    assert all(plain(row["along_tree"]) is None for row in along.rows)
    save(along, tmp_path / "along.csv")
    picture = shares_of(reports, [reports.table(["a", "c"])])
    save(picture, tmp_path / "few.svg")


def test_all_attributes_at_once_where_all_were_collected(tmp_path: Path) -> None:
    asked = question(
        tmp_path, BODY.replace("VALUES", '["x", "y"]').replace("order = 2", "order = 3")
    )
    (field,) = asked.fields
    mechanism = mechanism_of(field, absent=False)
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.integers(0, size, 5_000) for size in (2, 2, 4)])
    counts = mechanism.accumulate(mechanism.simulate(codes, rng))
    reports = Profiles.of(Accumulated(asked, {field.name: counts}, {EPOCH: 5_000}))
    both = reports.table(["c", "a", "b"])
    assert both.raw.probability.shape == (4, 2, 2)
    assert both.smoothed.probability.sum() == pytest.approx(1)
    with pytest.raises(InvalidParameter, match="has no attribute 'd'"):
        reports.table(["a", "b", "c", "d"])


def test_a_table_beyond_memory_is_refused_before_it_is_made(tmp_path: Path) -> None:
    fields = "".join(
        f'[[questions.fields]]\nname = "x{i}"\ndomain = "boolean"\n' for i in range(14)
    )
    body = f'mechanism = "inp_ps"\nparameters = {{ epsilon = 3.0 }}\n{fields}'
    asked = question(tmp_path, body)
    (field,) = asked.fields
    mechanism = mechanism_of(field, absent=False)
    rng = np.random.default_rng(1)
    counts = mechanism.accumulate(mechanism.simulate(rng.integers(0, 2, (500, 14)), rng))
    reports = Profiles.of(Accumulated(asked, {field.name: counts}, {EPOCH: 500}))
    assert reports.order == 14
    names = reports.profile.names
    assert reports.table(names[:3]).raw.probability.size == 8
    with pytest.raises(InvalidParameter, match="would have 16,384 cells: at most 2,048"):
        reports.table(names)
    with pytest.raises(InvalidParameter, match="would have 4,096 cells"):
        reports.tables(12)


def test_too_many_tables_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = reports_of(tmp_path, ["x", "y"], 100, {EPOCH: 100})
    monkeypatch.setattr(profile_reports, "MOST_TABLES", 2)
    with pytest.raises(InvalidParameter, match="3 tables of 2 attributes: more than 2"):
        reports.tables(2)
