"""A fetched survey: kept, checked, and never able to do harm."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from deniable.client import Client, Consent, Response
from deniable.errors import RecordRefused
from deniable.protocol import Survey
from deniable.protocol.survey import MAX_SURVEY_BYTES
from material.clients import BLOOM, Clock, Script, strict, strings, survey

OLD = survey(strings())
NEW = survey(strings(), strings(version=2), strings("more"))


def serving(*surveys: Survey) -> Script:
    return Script([lambda _, s=s: Response(200, {}, s.published()) for s in surveys])


def test_a_fetched_survey_is_used_and_outlives_a_restart(tmp_path: Path) -> None:
    script = serving(NEW)
    client = strict(OLD, tmp_path, transport=script)
    assert client.refresh()
    assert client.survey == NEW
    client.record("page", "a")
    client.record("more", "a")
    assert {report.version for report in client.pending() if report.question == "page"} == {2}
    assert strict(OLD, tmp_path).survey == NEW
    newer_app = survey(strings("bundled-later"))
    assert strict(newer_app, tmp_path).survey == newer_app


def test_the_entity_tag_is_ours(tmp_path: Path) -> None:
    script = Script([lambda _: Response(304)] * 2)
    client = strict(OLD, tmp_path, transport=script)
    assert client.refresh()
    assert client.survey is OLD
    tag = hashlib.sha256(OLD.published()).hexdigest()
    assert dict(script.requests[0].headers) == {"If-None-Match": f'"{tag}"'}
    assert (script.requests[0].method, script.requests[0].path) == ("GET", "/v1/survey")
    assert script.requests[0].largest_answer == MAX_SURVEY_BYTES


def test_a_tag_chosen_by_the_server_is_not_sent_back(tmp_path: Path) -> None:
    answer = Response(200, {"etag": '"device-4711"'}, NEW.published())
    script = Script([lambda _: answer, lambda _: answer])
    client = strict(OLD, tmp_path, transport=script)
    assert client.refresh()
    assert client.refresh()
    assert "4711" not in str([dict(request.headers) for request in script.requests])


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (Response(200, {}, b""), "bad_survey"),
        (Response(200, {}, b"<html>"), "bad_survey"),
        (Response(200, {}, OLD.published()[:-1]), "bad_survey"),
        (Response(200, {}, OLD.published().replace(b'"bits":128', b'"bits":0')), "bad_survey"),
        (Response(404), "unreachable"),
        (Response(500), "unreachable"),
    ],
)
def test_a_bad_survey_is_counted_and_the_old_one_kept(
    tmp_path: Path, response: Response, reason: str
) -> None:
    client = strict(OLD, tmp_path, transport=Script([lambda _: response]))
    assert not client.refresh()
    assert client.survey is OLD
    assert client.counters() == {("", reason): 1}
    client.record("page", "a")


def test_a_fetched_survey_cannot_change_a_version_or_the_ceiling(tmp_path: Path) -> None:
    clock = Clock()
    louder = survey(strings(parameters={**BLOOM, "f": 0.01}))
    costly = survey(strings("page", {"epsilon": 32.0}, version=2, repeat="once"))
    client = strict(OLD, tmp_path, transport=serving(louder, costly), clock=clock, ceiling=6.0)
    client.record("page", "a")
    reasons = []
    for _ in range(2):
        clock.forward(days=1)
        assert client.refresh()
        with pytest.raises(RecordRefused) as caught:
            client.record("page", "a")
        reasons.append(caught.value.reason)
    assert reasons == ["changed", "ceiling"]
    assert len(client.pending()) == 1


def test_nothing_is_fetched_without_consent_or_endpoint(tmp_path: Path) -> None:
    script = serving(NEW)
    assert not strict(OLD, tmp_path / "a", consent=None, transport=script).refresh()
    assert script.requests == []
    assert not strict(OLD, tmp_path / "b").refresh()


def test_the_background_client_refreshes_too(tmp_path: Path) -> None:
    with Client(OLD, tmp_path, consent=Consent.GRANTED, transport=serving(NEW)) as client:
        assert client.refresh()
        client.record("more", "a")
        assert client.flush()
        assert ("more", "uploaded") in client.counters()
