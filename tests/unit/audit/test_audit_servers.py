"""Malicious servers: each attempt fails, and succeeds against a client that believes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.audit.attack import servers_asking_more as servers
from deniable.audit.attack.malicious_server import Life, live
from deniable.client import history, surveys, upload
from deniable.client.surveys import Bundle
from deniable.client.upload import Uploader

ATTEMPTS = {
    "more epsilon by a new version",
    "an expiry in 2099",
    "an expiry in 2099 by a new version",
    "a shorter epoch",
    "once to epoch, permanent to epoch",
    "always to recorded",
    "segments",
    "segments by a new version",
    "a larger share of devices asked",
    "16 looks through 16 versions at the old epsilon",
    "levels",
    "a higher ceiling",
    "survey bytes of its own for each device",
    "a version of its own for each device",
    "a question of its own for each device",
    "a refused form for one device",
}


def test_every_attempt_fails() -> None:
    found = servers.server_findings()
    assert {finding.check for finding in found} == ATTEMPTS
    assert [finding.as_json() for finding in found if not finding.holds] == []


def believe(bundled: Bundle, fetched: Bundle, trusted: surveys.Trusted) -> tuple[Bundle, list[str]]:
    """A client as it was: whatever is fetched is answered."""
    del bundled, trusted
    return fetched, []


def test_control_every_attempt_succeeds_with_a_client_that_believes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(surveys, "narrowed", believe)
    monkeypatch.setattr(history, "check_versions", lambda *_: None)
    monkeypatch.setattr(surveys, "ceiling_of", lambda app, own, now: now.survey.ceiling or app)
    found = {finding.check: finding.holds for finding in servers.server_findings()}
    # Bytes of its own mark no device even then, since the request holds nothing of them.
    assert {name for name, holds in found.items() if holds} == {
        "survey bytes of its own for each device",
        "a refused form for one device",
    }


def test_control_a_client_that_remembers_a_refused_form_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told, post = [], Uploader._post

    def remembering(self, media_type, body):  # type: ignore[no-untyped-def]
        told.append(media_type)
        kind = upload.MEDIA_TYPE if upload.MEDIA_TYPE in told else media_type
        return post(self, kind, body)

    monkeypatch.setattr(Uploader, "_post", remembering)
    assert not servers._known_by_form(tmp_path).holds


def test_control_a_conditional_request_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def conditional(transport, current):  # type: ignore[no-untyped-def]
        tag = {"If-None-Match": current.digest.hex()}
        response = transport.send(surveys.Request("GET", surveys.PATH, tag, largest_answer=2**20))
        return None if response.body == current.body else Bundle.read(response.body)

    monkeypatch.setattr(surveys, "fetch", conditional)
    assert not servers._known_by_bytes(tmp_path).holds


def test_with_the_flag_a_version_of_its_own_still_marks_a_device(tmp_path: Path) -> None:
    """What remains, as SECURITY.md says: a list of hashes in place of the flag ends it."""
    shown = servers._versions(101, 101)
    told = live(tmp_path, Life(servers.OWN, servers.START, trust=True), shown)
    assert {question.digest for question in shown[0].questions} >= told.digests
    assert told.reports.total() == 3
