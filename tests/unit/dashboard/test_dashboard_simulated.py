"""Simulated reports on the pages: marked on every one, and never recommended into a live store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable.mechanisms import mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Question
from deniable.store import Batch
from material.dashboards import EPOCH, Site, add

PAGES = ("/", "/health", "/questions/dark")


def question(site: Site, name: str = "dark") -> Question:
    asked = site.survey.question(name)
    assert asked is not None
    return asked


def simulate(site: Site, people: int, seed: int, share: float = 0.5) -> None:
    asked, rng = question(site), np.random.default_rng(seed)
    mechanism = mechanism_for(asked.fields[0].parameters)
    reports = {"value": mechanism.simulate((rng.random(people) < share).astype(int), rng)}
    batch = Batch(asked.id, asked.version, asked.digest, EPOCH, simulated=True)
    site.store.begin_simulation(batch, seed, people, among_real=True)
    site.store.append_records(batch, join_records(asked, reports), asked.record_size)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_says_that_reports_are_simulated(tmp_path: Path, path: str) -> None:
    site = Site.empty(tmp_path)
    simulate(site, 400, 1)
    assert "400 simulated reports" in site.page(path).text


@pytest.mark.parametrize("path", PAGES)
def test_every_page_says_how_many_of_a_mixed_store_are(tmp_path: Path, path: str) -> None:
    site = Site.empty(tmp_path)
    add(site.store, question(site), 50)
    simulate(site, 400, 1)
    text = site.page(path).text
    assert "450 reports, 400 of them simulated" in text
    assert "500 simulated" not in text


@pytest.mark.parametrize("path", PAGES)
def test_real_reports_are_not_marked(tmp_path: Path, path: str) -> None:
    site = Site.empty(tmp_path)
    add(site.store, question(site), 50)
    assert "of them simulated" not in site.page(path).text
    assert "simulated report" not in site.page(path).text.lower()


def test_the_counters_are_apart_on_the_health_page(tmp_path: Path) -> None:
    site = Site.empty(tmp_path)
    add(site.store, question(site), 50)
    simulate(site, 400, 1)
    rows = site.page("/health").rows
    header = next(row for row in rows if "Accepted" in row)
    row = dict(zip(header, next(row for row in rows if row[0] == "dark"), strict=True))
    assert (row["Accepted"], row["Simulated"]) == ("50", "400")


def test_captions_alternative_texts_and_files_are_marked(tmp_path: Path) -> None:
    site = Site.empty(tmp_path)
    simulate(site, 400, 1)
    page = site.page("/questions/dark")
    alts = [values["aria-label"] for _, values in page.elements if values.get("role") == "group"]
    assert alts
    assert ("span", {"class": "made-up"}) in page.elements  # in red, and in words
    assert all("400 simulated reports" in alt for alt in alts)
    for name in ("json", "csv", "svg"):
        assert "simulated" in site.get(f"/questions/dark/result.{name}").text
    assert "400 simulated reports" in site.get("/questions/dark/result.svg").text


def test_a_crowd_that_was_removed_is_not_shown_again(tmp_path: Path) -> None:
    """As many people with other answers: what was kept in memory is not of them."""
    site = Site.empty(tmp_path)
    simulate(site, 3_000, 1, share=0.0)
    before = site.page("/questions/dark").rows
    site.store.remove_simulated()
    simulate(site, 3_000, 2, share=1.0)
    assert site.page("/questions/dark").rows != before


def test_an_empty_dashboard_recommends_no_mixing(tmp_path: Path) -> None:
    site = Site.empty(tmp_path)
    for path in ("/", "/questions/dark"):
        text = site.page(path).text
        assert "store" in text
        assert "--data simulated" in text
        assert "never shows here" in text
        assert "--data data" not in text
        assert "into-real-store" not in text
