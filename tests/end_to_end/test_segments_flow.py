"""Segments and levels all the way: survey.toml, client, HTTP, store, estimate, export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable._words import plural
from deniable.ask import estimate
from deniable.client import Client
from deniable.protocol import Survey
from deniable.results.export import export_reports
from deniable.store import open_store
from material.clients import strict
from material.segmented import Straight, collecting, published


def _client(survey: Survey, folder: Path, straight: Straight, platform: str) -> Client:
    return strict(survey, folder, transport=straight, segments={"platform": platform})


def test_reports_with_segments_arrive_and_are_estimated_together(tmp_path: Path) -> None:
    survey = published(tmp_path)
    dark = survey.question("dark")
    assert dark is not None
    with open_store(tmp_path / "data") as store, collecting(tmp_path, store, survey) as collector:
        for number, platform in enumerate(("linux", "linux", "beos")):
            with _client(survey, tmp_path / f"c{number}", Straight(collector), platform) as client:
                client.record("dark", True)
                client.record("plain", True)
                assert client.flush()
        found = {t.batch.segments: t.reports for t in store.tallies() if t.batch.question == "dark"}
        assert found == {
            '{"channel":"(other)","platform":"linux"}': 2,
            '{"channel":"(other)","platform":"(other)"}': 1,
        }
        (table,) = estimate(store, dark)
        assert table.about.n == 3
        assert export_reports(store, dark, tmp_path / "dark.ndjson") == 3
    lines = [json.loads(line) for line in (tmp_path / "dark.ndjson").read_text().splitlines()]
    assert {line["segments"]["platform"] for line in lines} == {"(small)"}  # three are too few


def test_each_level_is_a_channel_of_its_own(tmp_path: Path) -> None:
    survey = published(tmp_path)
    with open_store(tmp_path / "data") as store, collecting(tmp_path, store, survey) as collector:
        for number, level in enumerate(("strict", "open", "open")):
            with _client(survey, tmp_path / f"c{number}", Straight(collector), "mac") as client:
                assert client.choose(level)
                client.record("colour", "red")
                assert client.flush()
                assert client.disclosed().epsilon == {"strict": 0.5, "open": 2.0}[level]
        for level, reports in (("strict", 1), ("open", 2)):
            asked = survey.question("colour", level=level)
            assert asked is not None
            (table,) = estimate(store, asked)
            assert table.about.n == reports
            told = plural(3 - reports, "report")
            assert any(f"Not counted: {told} of other levels" in note for note in table.notes)


@pytest.mark.parametrize(
    ("segments", "reason"),
    [
        ({"platform": "linux"}, "segments"),
        ({"platform": "amiga", "channel": "beta"}, "segments"),
        ({"platform": "linux", "channel": "beta", "more": "x"}, "segments"),
        (None, "segments"),
        ({"platform": "(small)", "channel": "beta"}, "schema"),
    ],
)
def test_the_collector_refuses_other_segments(
    tmp_path: Path, segments: dict[str, str] | None, reason: str
) -> None:
    survey = published(tmp_path)
    client = strict(survey, tmp_path / "client")
    client.record("dark", True)
    (report,) = client.pending()
    wire = {name: value for name, value in report.as_json().items() if name != "segments"}
    with open_store(tmp_path / "data") as store, collecting(tmp_path, store, survey) as collector:
        good = collector.post(json.dumps({"reports": [report.as_json()]}).encode())
        assert good.json["accepted"] == 1
        changed = {**wire, **({} if segments is None else {"segments": segments})}
        answer = collector.post(json.dumps({"reports": [changed]}).encode())
        assert [problem["reason"] for problem in answer.json["problems"]] == [reason]
        twice = json.dumps({"reports": [report.as_json()]}).replace(
            '"segments": {', '"segments": {"channel": "beta", '
        )
        answer = collector.post(twice.encode())
        assert [problem["reason"] for problem in answer.json["problems"]] == ["schema"]
