"""The demo, small: real clients over HTTP, simulated people, tables beside the truth."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def demo(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a small demo to its end."""
    command = [sys.executable, "-m", "deniable", "demo", "--once", "--output", str(folder)]
    command += ["--clients", "25", "--people", "20000", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)


def test_the_demo_prints_truth_estimate_and_interval_for_each_question(tmp_path: Path) -> None:
    told = json.loads(demo(tmp_path, "--json", "--seed", 5).stdout)
    assert told["people"] == 20_025
    found = {(result["question"], result["field"]): result for result in told["questions"]}
    sums = {question: sum_of_truths(result) for (question, _), result in found.items()}
    words = sums.pop("search")
    assert 0.1 < words <= 1  # of the words that were found
    single = ("dark-mode", "homepage", "memory", "device")
    assert sums == pytest.approx({**dict.fromkeys(single, 1.0), "features": 5.0})  # attributes
    for result in found.values():
        assert result["n"] == 20_025  # every client's report and every simulated one, once
        assert result["simulated"] == 20_025  # the clients' people are invented as well
    rows = [row for result in found.values() for row in result["rows"]]
    assert len(rows) > 50
    for row in rows:
        low, high = row["interval"]
        # An interval is of a share, from 0 to 1; the unbiased estimate may lie outside of that.
        assert low <= min(max(row["frequency"], 0.0), 1.0) <= high
        # 8 standard errors: so few rows fail by chance in fewer than one run in 10^12
        assert abs(row["frequency"] - row["truth"]) < 8 * row["std_error"]
    charts = {path.stem for path in tmp_path.glob("*.png")}
    of_fields = {"device-theme", "device-browser"}
    assert charts == {question for question, _ in found} | of_fields | {"browser"}
    (trend,) = told["trends"]
    assert (trend["question"], len(trend["groups"])) == ("browser", 12)
    # The share of the first browser falls from 44% to 16%, each known to 3 points: 7 errors.
    assert trend["change"]["p_value"] < 0.001
    for path in tmp_path.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_demo_finds_words_and_what_goes_together(tmp_path: Path) -> None:
    told = json.loads(demo(tmp_path, "--json", "--seed", 5).stdout)
    (search,) = (one for one in told["questions"] if one["question"] == "search")
    assert search["rows"][0]["value"] == "news"  # a quarter of the people: 20 standard errors
    (device,) = told["associations"]
    assert {cell["theme"] for cell in device["rows"]} == {"light", "dark", "system"}
    assert device["n"] == 20_025


def sum_of_truths(result: dict[str, list[dict[str, float]]]) -> float:
    return sum(row["truth"] for row in result["rows"])


def test_the_seed_fixes_the_population_and_a_second_run_starts_afresh(tmp_path: Path) -> None:
    runs = [json.loads(demo(tmp_path, "--json", "--seed", 5).stdout) for _ in range(2)]
    truths = [
        [(row["value"], row["truth"]) for q in run["questions"] for row in sorted_rows(q)]
        for run in runs
    ]
    assert truths[0] == truths[1]
    assert {q["n"] for q in runs[1]["questions"]} == {20_025}


def sorted_rows(result: dict[str, list[dict[str, object]]]) -> list[dict[str, object]]:
    return sorted(result["rows"], key=lambda row: str(row["value"]))


def test_the_demo_prints_a_table_for_people_whatever_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "1")  # speaks for the person here, not for invented ones
    monkeypatch.setenv("DENIABLE_WRITE_KEY", "for another collector")
    text = demo(tmp_path).stdout
    assert "truth" in text
    assert "intervals hold the population's share" in text
