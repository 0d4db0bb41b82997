"""One detection limit: the same number in explain, plan, estimate, discover and on the page."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette

from deniable.dashboard import dashboard_routes
from deniable.protocol import Survey
from deniable.results.table.text import limit_sentence
from deniable.store import STORE_FILE
from material.commands import call
from material.dashboards import Site, WatchedStore
from material.surveys import asked, survey

PEOPLE = 20_000
THREE = '{ type = "categories", values = ["a", "b", "c"] }'
NAMES = '{ type = "strings", candidates = "names.txt" }'
LETTERS = '{ type = "strings", alphabet = "abcdefgh", length = 6 }'
KINDS = {
    "krr": ("krr", THREE, 1.0),
    "oue": ("oue", THREE, 1.0),
    "olh": ("olh", THREE, 1.0),
    "hadamard": ("hadamard", THREE, 1.0),
    "strings": ("rappor", NAMES, 3.0),
    "pgr": ("pgr", NAMES, 3.0),
    "found": ("prefixes", LETTERS, 4.0),
}
APART = {"strings": 0.15, "pgr": 0.15, "found": 0.05}
"""Errors depend on how the very candidates share bits, and on the size of the group that tests
whole strings, which no plan knows."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("limits")
    (folder / "names.txt").write_text("".join(f"name{i}\n" for i in range(50)))
    (folder / "words.txt").write_text("abc\nfade\nbead\n")
    questions = (
        asked(name, domain, mechanism, f"epsilon = {epsilon}")
        for name, (mechanism, domain, epsilon) in KINDS.items()
    )
    text = survey(*questions, head=f"people = {PEOPLE}\n")
    (folder / "survey.toml").write_text(text)
    call("publish", folder / "survey.toml", "--output", folder / "survey.json")
    for name, (mechanism, _, _) in KINDS.items():
        words = ("--candidates", folder / "words.txt") if mechanism == "prefixes" else ()
        crowd = (name, "--people", PEOPLE, "--seed", 3, *words, "--survey", folder / "survey.json")
        call("simulate", *crowd, "--data", folder / "crowd")
    return folder


@pytest.fixture(scope="module")
def planned(folder: Path) -> dict[str, float]:
    told = json.loads(
        call("plan", "--survey", folder / "survey.toml", "--people", PEOPLE, "--json")
    )
    return {row["question"]: row["smallest_share"] for row in told["rows"]}


@pytest.mark.parametrize("name", KINDS)
def test_one_definition_everywhere(folder: Path, planned: dict[str, float], name: str) -> None:
    told = json.loads(call("explain", folder / "survey.toml", "--people", PEOPLE, "--json"))
    explained = next(one for one in told["questions"] if one["id"] == name)
    assert explained["detection_limit"]["value"] == planned[name]
    assert any(limit_sentence(planned[name]) in one for one in explained["sentences"])
    verb = "discover" if name == "found" else "estimate"
    place = ("--survey", folder / "survey.json", "--data", folder / "crowd", "--json")
    measured = json.loads(call(verb, name, *place))["limit"]
    assert limit_sentence(measured) in call(verb, name, *place[:-1])
    assert measured == pytest.approx(planned[name], rel=APART.get(name, 0.001))
    shown = _page(folder, name)
    assert limit_sentence(measured) in shown


def _page(folder: Path, name: str) -> str:
    published = Survey.load(folder / "survey.json")
    with WatchedStore(folder / "crowd" / STORE_FILE) as store:
        app = Starlette(routes=dashboard_routes(store, published, survey_folder=folder))
        text = Site(folder, published, store, app).get(f"/questions/{name}").text
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", text)))
