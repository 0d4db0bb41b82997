"""A real client and a real collector: a wrong key or an older survey loses nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deniable.client import Client, Consent
from deniable.collector import hash_write_keys
from deniable.protocol import Survey
from material.collector_process import QUESTION, SURVEY, Running

KEY = "the key of this release"
NEWER = replace(QUESTION, id="later", version=2)
ASKED = Survey("test", "team", (QUESTION, NEWER))


def test_reports_outlive_a_wrong_key_and_an_older_survey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DO_NOT_TRACK", raising=False)
    monkeypatch.delenv("DENIABLE_CONSENT", raising=False)
    assert all(question.id != NEWER.id for question in SURVEY.questions)
    with Running(tmp_path / "collector", write_key_hashes=hash_write_keys(KEY)) as collector:
        for key in (None, "the key before", KEY):
            with Client(
                ASKED,
                tmp_path / "state",
                collector.address,
                consent=Consent.GRANTED,
                ceiling=1e6,
                write_key=key,
            ) as client:
                client.record("words", "a")
                client.record("later", "b")
                assert not client.flush(60)
                left = {report.question for report in client.pending()}
                counts = client.counters()
            assert left == ({"later"} if key == KEY else {"words", "later"})
            assert counts["", "status_401"] >= 1
    assert counts["words", "uploaded"] == 1
    assert counts["later", "waiting_unknown_question"] >= 1
