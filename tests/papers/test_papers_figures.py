"""Every figure of [EPK14] and [BJ18] at a tiny size: files, numbers, the same for the same seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deniable.cli.app import make_app
from deniable.errors import InvalidParameter
from deniable_papers import FIGURES, Figure, Outcome, figure, write
from deniable_papers.bj18.sweeps import Sweep
from deniable_papers.epk14 import fig2 as epk14_fig2
from deniable_papers.epk14 import fig6 as epk14_fig6
from deniable_papers.epk14 import table1 as epk14_table1

IDS = [one.id for one in FIGURES if one.id.startswith(("epk14-", "bj18-"))]
PEOPLE = {"epk14-fig1": 100, "bj18-hash": 300}
WANTED = {
    *(f"epk14-fig{number}" for number in (1, 2, 3, 4, 6, 7, 8)),
    *("epk14-table1", "epk14-table2"),
    *("bj18-bits", "bj18-hashes", "bj18-cohorts", "bj18-words", "bj18-hash"),
}


@pytest.fixture(autouse=True)
def _small_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps take their time from their grids, not from the people."""
    monkeypatch.setattr(epk14_fig2, "GRID", {"k": (128,), "h": (2, 4), "m": (8,)})
    monkeypatch.setattr(epk14_fig6, "CANDIDATES", 2_500)
    monkeypatch.setattr(epk14_fig6, "TAIL", 1_000)
    monkeypatch.setattr(epk14_table1, "NOISE_RUNS", 1)
    every = Sweep.settings
    monkeypatch.setattr(Sweep, "settings", lambda sweep: every(sweep)[:3:2])


def tiny(one: Figure, seed: int = 0) -> Outcome:
    return one.run(one.options(runs=1, people=PEOPLE.get(one.id, 20_000), seed=seed))


def test_every_figure_that_was_asked_for_is_there() -> None:
    assert set(IDS) == WANTED


@pytest.mark.parametrize("name", IDS)
def test_a_figure_runs_is_written_and_depends_on_its_seed_alone(name: str, tmp_path: Path) -> None:
    one = figure(name)
    outcome, again = tiny(one), tiny(one)
    assert outcome.notes
    assert outcome.paper
    numbers = json.dumps(outcome.ours, allow_nan=False)
    assert numbers == json.dumps(again.ours, allow_nan=False)
    assert outcome.tables == again.tables
    files = write(one, outcome, tmp_path)
    assert {path.suffix for path in files} == {".png", ".svg", ".csv"}
    assert all(path.stat().st_size > 100 for path in files)


@pytest.mark.parametrize("name", ["epk14-fig1", "epk14-fig4", "epk14-table2", "bj18-words"])
def test_another_seed_gives_other_numbers(name: str) -> None:
    assert tiny(figure(name)).ours != tiny(figure(name), seed=1).ours


def call(*arguments: object) -> str:
    result = CliRunner().invoke(make_app(["paper"]), ["paper", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_list_names_every_figure() -> None:
    listed: list[dict[str, Any]] = json.loads(call("list", "--json"))["figures"]
    assert [one["id"] for one in listed] == [one.id for one in FIGURES]
    text = call("list")
    assert all(one.id in text for one in FIGURES)


def test_json_of_table_1_has_the_promised_keys(tmp_path: Path) -> None:
    options = ("--runs", 1, "--people", 50_000, "--seed", 7, "--out", tmp_path, "--json")
    found = json.loads(call("epk14-table1", *options))
    assert (found["id"], found["seed"], found["runs"]) == ("epk14-table1", 7, 1)
    ours, pair = found["ours"], {"detected", "false"}
    assert found["paper"]["paper_decoder"]["bonferroni"] == {"detected": 47, "false": 2}
    assert set(ours["paper_decoder"]) == {"bonferroni", "bh"}
    assert set(ours["paper_decoder"]["bh"]) == pair
    for client in ("default", "retuned"):
        assert set(ours[client]) == {"holm", "storey", "coverage", "coverage_selected"}
        assert pair <= set(ours[client]["storey"])
        assert 0 <= ours[client]["coverage"] <= 1
    assert set(ours["missing"]) == {*pair, "false_share"}
    assert all(Path(path).exists() for path in found["files"])


def test_text_shows_the_paper_beside_ours(tmp_path: Path) -> None:
    text = call("epk14-fig3", "--runs", 1, "--people", 1000, "--out", tmp_path)
    assert "strings_at_1e8" in text
    assert "1,000" in text
    assert "epk14-fig3.png" in text


def test_real_data_takes_the_place_of_made_up_names(tmp_path: Path) -> None:
    lines = [f"wort{i},{6000 - i}" for i in range(5000)]
    (tmp_path / "words.csv").write_text("\n".join(["word,count", *lines]))
    one = figure("bj18-words")
    outcome = one.run(one.options(runs=1, people=5000, data=tmp_path))
    assert outcome.tables["words"][0]["word"] == "wort1"


def test_an_unknown_figure_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="There is no figure 'figure9'"):
        call("figure9")
