"""Trends, comparisons, numbers and histories as a person asks for them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from material.commands import call, run
from material.surveys import BOOLEAN, asked, profile, survey

SCHEMA = json.loads((Path(__file__).parents[3] / "spec/schemas/table.json").read_text())
NUMBERS = '{ type = "numbers", low = 1, high = 256, bins = 8, scale = "log" }'
ARM = """
[[segments]]
name = "arm"
values = ["old", "new"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("time")
    text = survey(
        asked(
            "browser",
            '{ type = "categories", values = ["a", "b", "c"] }',
            "rappor",
            "epsilon = 2.0, epsilon_forever = 5.0",
        ),
        asked("size", NUMBERS, "krr", "epsilon = 3.0"),
        profile("many", "marg_ps", "epsilon = 3.0, order = 2", ("x", BOOLEAN), ("y", BOOLEAN)),
    )
    head, _, rest = text.partition("[[questions]]")
    text = f"{head}people = 1_000_000\n{ARM}\n[[questions]]{rest}"
    for name in ("browser", "size", "many"):
        text = text.replace(
            f'id = "{name}"\n', f'id = "{name}"\nrepeat = "epoch"\nsegments = ["arm"]\n'
        )
    (folder / "survey.toml").write_text(text)
    call("publish", folder / "survey.toml", "--output", folder / "survey.json")
    history = ("--people", 1_500, "--epochs", 6, "--drift", 0.9, "--churn", 0.1, "--seed", 3)
    place = ("--survey", folder / "survey.json", "--data", folder / "crowd")
    told = json.loads(call("simulate", "browser", "size", "many", *history, *place, "--json"))
    assert [one["question"] for one in told["questions"]] == ["browser", "size", "many"]
    assert len(told["questions"][0]["history"]) == 6
    return folder


def told(folder: Path, *words: object) -> Any:
    place = ("--survey", folder / "survey.json", "--data", folder / "crowd", "--json")
    found = json.loads(call(*words, *place))
    if "columns" in found:
        jsonschema.validate(found, SCHEMA)
    return found


def test_a_trend_has_groups_and_the_change(folder: Path) -> None:
    found = told(folder, "estimate", "browser", "--by", "epoch")
    assert found["by"] == "epoch"
    assert [group["n"] for group in found["groups"]] == [1_500] * 6
    assert {"epoch", "from", "to", "n", "rows"} == set(found["groups"][0])
    assert found["change"]["p_value"] < 0.05
    assert set(found["change"]["largest"]) == {"answer", "epoch", "difference", "low", "high"}
    same = told(folder, "estimate", "browser", "--by", "epoch", "--same-people")
    assert same["change"]["p_value"] <= found["change"]["p_value"]
    pooled = told(folder, "estimate", "browser")
    assert any("The shares change" in note for note in pooled["notes"])


def test_pooled_errors_are_those_of_kept_noise_and_new_people_have_smaller_ones(
    folder: Path,
) -> None:
    pooled = told(folder, "estimate", "size")["rows"][3]["std_error"]
    new = told(folder, "estimate", "size", "--new-people")["rows"][3]["std_error"]
    one = told(folder, "estimate", "size", "--epoch", 0 + _epochs(folder)[0])
    assert new < pooled < one["rows"][3]["std_error"]


def _epochs(folder: Path) -> list[int]:
    return [group["epoch"] for group in told(folder, "estimate", "size", "--by", "epoch")["groups"]]


def test_epochs_are_chosen_by_number_and_by_day(folder: Path) -> None:
    groups = told(folder, "estimate", "size", "--by", "epoch")["groups"]
    since, until = groups[1]["from"], groups[3]["to"]
    some = told(folder, "estimate", "size", "--since", since, "--until", until)
    assert some["n"] == 4_500
    assert some["epochs"]["first"] == groups[1]["epoch"]
    assert told(folder, "count", "size", "--epoch", groups[0]["epoch"])["epochs"] == {
        str(groups[0]["epoch"]): 1_500
    }
    wrong = run(
        "estimate",
        "size",
        "--epoch",
        1,
        "--since",
        since,
        "--survey",
        folder / "survey.json",
        "--data",
        folder / "crowd",
    )
    assert "either --epoch" in str(wrong.exception)


def test_counts_are_a_file_that_takes_a_stores_place(folder: Path) -> None:
    place = ("--survey", folder / "survey.json")
    call("count", "size", "-o", folder / "size.counts", *place, "--data", folder / "crowd")
    store = told(folder, "estimate", "size")
    file = json.loads(
        call("estimate", "size", "--counts", folder / "size.counts", *place, "--json")
    )
    assert file == store
    both = folder / "both.counts"
    call("merge", folder / "size.counts", folder / "size.counts", "-o", both, *place)
    twice = json.loads(call("estimate", "size", "--counts", both, *place, "--json"))
    assert twice["n"] == 2 * store["n"]
    many = run("marginals", "many", "--counts", folder / "size.counts", *place)
    assert "another digest" in str(many.exception)


def test_segments_are_compared_and_chosen(folder: Path) -> None:
    found = told(folder, "compare", "browser", "--by", "arm", "--against", "new")
    assert found["reference"] == "new"
    assert {row["arm"] for row in found["rows"]} == {"old", "(other)"}
    assert 0 <= found["test"]["p_value"] <= 1
    assert found["test"]["degrees"] == 6
    old = told(folder, "estimate", "browser", "--where", "arm=old")
    assert old["n"] == next(g["n"] for g in found["groups"] if g["arm"] == "old")
    both = told(folder, "estimate", "browser", "--by", "epoch", "--by", "arm")
    assert set(both["changes"]) == {"old", "new", "(other)"}
    wrong = run(
        "compare",
        "browser",
        "--by",
        "country",
        "--survey",
        folder / "survey.json",
        "--data",
        folder / "crowd",
    )
    assert "no segment 'country'" in str(wrong.exception)


def test_an_archive_is_compared_by_processes_as_by_threads(folder: Path) -> None:
    closed, archive = folder / "closed", folder / "archive"
    shutil.copytree(folder / "crowd", closed)
    call("store", "close", "browser", "--data", closed)
    survey = ("--survey", folder / "survey.json")
    call("export", "browser", "--archive", archive, "--data", closed, *survey)
    words = ("compare", "browser", "--by", "arm", *survey, "--json")
    threads = call(*words, "--data", archive)
    assert json.loads(threads)["test"]["degrees"] == 6
    assert call(*words, "--data", archive, "--engine", "processes") == threads
    refused = run(*words, "--data", archive, "--master", "local[2]")
    assert "--master is Spark's" in str(refused.exception)


def test_numbers_have_a_mean_quantiles_and_a_curve(folder: Path) -> None:
    found = told(folder, "estimate", "size", "--quantile", 0.99, "--above", 16)
    names = [row["value"] for row in found["rows"]]
    assert names[:3] == ["mean", "lower quartile", "median"]
    assert names[-1] == "share from 16 on"
    for row in found["rows"]:
        low, high = row["interval"]
        assert row["estimate"] is None or (low is None or low <= row["estimate"])
        assert row["estimate"] is None or (high is None or row["estimate"] <= high)
    assert told(folder, "estimate", "size", "--cumulative")["kind"] == "cumulative"
    over = told(folder, "estimate", "size", "--numbers", "--by", "epoch")
    assert len(over["groups"]) == 6
    none = run(
        "estimate",
        "browser",
        "--numbers",
        "--survey",
        folder / "survey.json",
        "--data",
        folder / "crowd",
    )
    assert "no numbers" in str(none.exception)


def test_attributes_have_trends_too(folder: Path) -> None:
    found = told(folder, "marginals", "many", "--by", "epoch")
    assert len(found["groups"]) == 6
    assert found["change"]["degrees"] == 5
    alone = told(folder, "marginals", "many", "--attributes", "x", "y", "--by", "arm")
    assert {group["arm"] for group in alone["groups"]} == {"old", "new", "(other)"}


def test_pictures_of_trends_are_drawn(folder: Path) -> None:
    place = ("--survey", folder / "survey.json", "--data", folder / "crowd")
    for name, words in {
        "a.svg": ("estimate", "browser", "--by", "epoch", "--by", "arm"),
        "b.svg": ("estimate", "size", "--numbers", "--by", "epoch"),
        "c.svg": ("compare", "browser", "--by", "arm"),
    }.items():
        call(*words, *place, "-o", folder / name)
        assert (folder / name).read_bytes().startswith(b"<svg")


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        (("--numbers", "--crafted", 0.01), "--crafted is about the shares"),
        (("--cumulative", "--interval", "exact"), "--interval exact is about the shares"),
        (("--cumulative", "--by", "epoch"), "--cumulative goes alone"),
    ],
)
def test_wishes_that_numbers_do_not_follow_are_refused(
    folder: Path, wish: tuple[object, ...], told: str
) -> None:
    place = ("--survey", folder / "survey.json", "--data", folder / "crowd")
    refused = run("estimate", "size", *wish, *place)
    assert refused.exit_code != 0
    assert told in f"{refused.output} {refused.exception}"
