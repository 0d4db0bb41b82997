"""Alert rules and the dashboard for Grafana: promtool reads them, and they name real series."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from deniable.collector.held import Held
from deniable.collector.metrics import FAMILIES
from deniable.store import SqliteStore
from material.collector import body, collector, report
from material.tools import tool

DEPLOY = Path(__file__).parents[3] / "deploy"
SERIES = re.compile(r"\bdeniable_\w+")


def promtool(*words: object, input_: str = "") -> str:
    command = [tool("promtool"), *map(str, words)]
    done = subprocess.run(command, input=input_, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def family(series: str) -> str:
    return re.sub("_(bucket|sum|count)$", "", series)


def test_rules_and_configuration_are_sound_and_alerts_fire_when_they_should() -> None:
    promtool("check", "rules", DEPLOY / "alerts.yml")
    promtool("check", "config", DEPLOY / "prometheus.yml")
    assert "SUCCESS" in promtool("test", "rules", DEPLOY / "alerts_test.yml")
    named = set(map(family, SERIES.findall((DEPLOY / "alerts.yml").read_text())))
    assert named <= set(FAMILIES)


def test_every_panel_asks_for_series_that_there_are(tmp_path: Path) -> None:
    board = json.loads((DEPLOY / "grafana.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len(asked) >= 10
    named = {family(series) for text in asked for series in SERIES.findall(text)}
    unseen = {"deniable_info", "deniable_survey_info", "deniable_last_closing_timestamp_seconds"}
    assert named == set(FAMILIES) - unseen
    rules = [
        {"record": f"panel:{number}", "expr": text.replace("$survey", ".*")}
        for number, text in enumerate(asked)
    ]
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "g", "rules": rules}]}))
    promtool("check", "rules", tmp_path / "rules.yml")
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        assert panel["description"]


def test_promtool_finds_nothing_wrong_with_the_metrics(tmp_path: Path) -> None:
    now = [0.0]
    with (
        SqliteStore(tmp_path / "data" / "s") as store,
        collector(tmp_path, store) as app,
    ):
        app.app.state.collector.metrics.held = Held(lambda: now[0])
        for start in range(0, 600, 200):
            good = [report(number) for number in range(start, start + 200)]
            app.post(body(*good, *[{}] * 60, *good[:150]))
        now[0] += 600
        text = app.get("/metrics").body.decode()
    assert set(re.findall(r"# TYPE (\w+)", text)) == set(FAMILIES)
    assert promtool("check", "metrics", input_=text) == ""
