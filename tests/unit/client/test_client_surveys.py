"""A fetched survey: it may ask for less than the app's, and marks no device."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from deniable.client import Client, Consent, Response
from deniable.errors import InvalidParameter, RecordRefused
from deniable.protocol import Question, Survey
from deniable.protocol.segments import Segment
from deniable.protocol.survey import MAX_SURVEY_BYTES
from material.clients import BLOOM, Clock, Script, question, strict, strings, survey

UNTIL = date(2027, 12, 31)
OLD = survey(strings(expires=UNTIL), question("other", expires=UNTIL))
PAGE, OTHER = OLD.questions


def serving(*surveys: Survey) -> Script:
    return Script([lambda _, s=s: Response(200, {}, s.published()) for s in surveys])


def fetched(tmp_path: Path, new: Survey, own: Survey = OLD, **more: object) -> Client:
    client = strict(own, tmp_path, transport=serving(new), **more)
    assert client.refresh()
    return client


def sha256(asked: Survey) -> str:
    return hashlib.sha256(asked.published()).hexdigest()


def refused(client: Client, name: str, value: object = "a") -> str:
    try:
        client.record(name, value)
    except RecordRefused as refusal:
        return refusal.reason
    return ""


def test_questions_are_withdrawn_and_come_back(tmp_path: Path) -> None:
    clock = Clock()
    script = serving(survey(OTHER), OLD)
    client = strict(OLD, tmp_path, transport=script, clock=clock)
    assert client.refresh()
    assert [q.id for q in client.survey.asked] == ["other"]
    assert refused(client, "page") == "unknown_question"
    again = strict(OLD, tmp_path, transport=script, clock=clock)
    assert [q.id for q in again.survey.asked] == ["other"]  # over a restart
    assert again.refresh()
    assert again.survey == OLD
    newer_app = survey(strings("bundled-later"))
    assert strict(newer_app, tmp_path).survey == newer_app


def test_expiry_and_share_and_ceiling_are_the_lower_ones(tmp_path: Path) -> None:
    nearer = replace(PAGE, expires=date(2026, 5, 1), asked=2**60)
    later = replace(OTHER, expires=date(2099, 1, 1))
    client = fetched(tmp_path, replace(survey(nearer, later), ceiling=10**6), ceiling=None)
    page, other = client.survey.asked
    assert (page.expires, page.asked) == (date(2026, 5, 1), 2**60)
    assert (other.expires, other.asked) == (UNTIL, None)
    assert client.disclosed().ceiling == 1.0
    fewer = survey(replace(PAGE, asked=2**60), OTHER)
    greedy = fetched(tmp_path / "b", survey(replace(PAGE, asked=2**61), OTHER), fewer)
    assert greedy.survey.asked[0].asked == 2**60
    assert fetched(tmp_path / "c", OLD, fewer).survey.asked[0].asked == 2**60


def test_texts_and_segments_of_the_server_are_not_taken(tmp_path: Path) -> None:
    marked = replace(PAGE, description="device 4711", segments=(Segment("who", ("you",)),))
    client = fetched(tmp_path, Survey("device 4711", "4711", (marked, OTHER)))
    assert client.survey == OLD


def test_without_the_apps_word_no_new_digest_is_answered(tmp_path: Path) -> None:
    new = survey(strings(version=2), strings("more"), OTHER)
    client = fetched(tmp_path, new)
    assert [refused(client, name) for name in ("page", "more")] == ["unknown_question"] * 2
    assert refused(client, "other", True) == ""
    assert client.counters()["page", "asks_more"] == 1
    assert client.counters()["", "asks_more"] == 1  # a name of the server's is not kept
    beside = fetched(tmp_path / "b", survey(PAGE, strings(version=2), OTHER))
    assert refused(beside, "page") == ""  # the bundled version is still asked
    assert {report.version for report in beside.pending()} == {1}


def test_another_digest_under_the_bundled_version_is_not_answered(tmp_path: Path) -> None:
    louder = survey(strings(parameters={**BLOOM, "f": 0.01}), OTHER)
    for trusted in (False, True):
        client = fetched(tmp_path / str(trusted), louder, trust_surveys=trusted)
        assert refused(client, "page") == "unknown_question"


def test_levels_are_withdrawn_together(tmp_path: Path) -> None:
    low = replace(question("q", parameters={"epsilon": 0.5}), level="strict")
    high = replace(question("q", parameters={"epsilon": 2.0}), level="open")
    own = replace(survey(low, high, OTHER), people=10**6)
    client = fetched(tmp_path, replace(survey(high, OTHER), people=10**6), own)
    # Else those who never chose would answer at the level that is left.
    assert refused(client, "q", True) == "unknown_question"


def test_an_older_version_does_not_return_when_the_newest_is_withdrawn(tmp_path: Path) -> None:
    own = survey(PAGE, strings(version=2), OTHER)
    client = fetched(tmp_path, survey(PAGE, OTHER), own)
    assert refused(client, "page") == "unknown_question"


def test_a_withdrawn_question_that_is_always_sent_still_reports_its_absence(tmp_path: Path) -> None:
    clock = Clock()
    always = question("q", send="always")
    client = strict(survey(always, OTHER), tmp_path, clock=clock, transport=serving(survey(OTHER)))
    assert client.refresh()
    clock.forward(days=1)
    client.flush()
    assert client.disclosed().questions[0].question == "q"


def version_2(**more: object) -> Question:
    return question("q", version=2, **more)  # type: ignore[arg-type]


EQUAL: dict[str, tuple[Question, Question]] = {
    "the same": (question("q"), version_2()),
    "less epsilon": (question("q"), version_2(parameters={"epsilon": 0.5})),
    "a longer epoch": (question("q"), version_2(epoch=7)),
    "once": (question("q"), version_2(repeat="once")),
    "permanent": (question("q"), version_2(repeat="permanent")),
    "always": (question("q"), version_2(send="always", parameters={"epsilon": 0.5})),
}
MORE: dict[str, tuple[Question, Question]] = {
    "more epsilon": (question("q"), version_2(parameters={"epsilon": 15.9})),
    "a shorter epoch": (question("q", epoch=7), version_2()),
    "once to epoch": (question("q", repeat="once"), version_2()),
    "once to permanent": (question("q", repeat="once"), version_2(repeat="permanent")),
    "permanent to epoch": (question("q", repeat="permanent"), version_2()),
    "always to recorded": (question("q", send="always"), version_2()),
    "segments": (question("q"), replace(version_2(), segments=(Segment("s", ("a",)),))),
    "values of a segment": (
        replace(question("q"), segments=(Segment("s", ("a",)),)),
        replace(version_2(), segments=(Segment("s", ("a", "b")),)),
    ),
    "levels": (question("q"), replace(version_2(), level="low")),
}


@pytest.mark.parametrize("name", EQUAL)
def test_with_the_apps_word_a_version_that_asks_no_more_is_answered(
    tmp_path: Path, name: str
) -> None:
    old, new = EQUAL[name]
    server = replace(survey(new), earlier=(old,))
    for trusted in (True, [sha256(server)]):
        client = fetched(tmp_path / str(trusted), server, survey(old), trust_surveys=trusted)
        assert client.survey.asked == (new,)
        assert refused(client, "q", True) == ""
    for trusted in (False, [], [sha256(OLD)]):
        client = fetched(tmp_path / f"{trusted}n", server, survey(old), trust_surveys=trusted)
        assert client.survey.asked == ()


@pytest.mark.parametrize("name", MORE)
def test_with_the_apps_word_no_version_brings_more(tmp_path: Path, name: str) -> None:
    old, new = MORE[name]
    own, server = (replace(survey(q), people=10**6) for q in (old, new))
    for trusted in (True, [sha256(server)]):
        client = fetched(tmp_path / str(len(str(trusted))), server, own, trust_surveys=trusted)
        assert client.survey.asked == ()
        assert refused(client, "q", True) == "unknown_question"
        assert client.counters()["q", "asks_more"] == 1


def test_with_the_apps_word_expiry_and_share_stay_the_lower_ones(tmp_path: Path) -> None:
    old = replace(question("q", expires=UNTIL), asked=2**60)
    new = version_2(expires=date(2099, 1, 1))
    extra = question("extra", expires=date(2099, 1, 1))
    client = fetched(tmp_path, survey(new, extra), survey(old), trust_surveys=True)
    assert [(q.version, q.expires, q.asked) for q in client.survey.asked] == [
        (2, UNTIL, 2**60),
        (1, UNTIL, None),
    ]


def test_epsilon_is_not_spent_again_by_another_version(tmp_path: Path) -> None:
    """16 looks at one value through 16 versions at the old epsilon."""
    versions = [survey(question("q", version=n)) for n in range(2, 18)]
    script = serving(*versions, survey(question("q")))
    own = survey(question("q"))
    client = strict(own, tmp_path, transport=script, trust_surveys=True)
    told = []
    for _ in range(17):
        assert client.refresh()
        told.append(refused(client, "q", True))
    assert told == ["", *["fetched"] * 16]  # one version, and then not the bundled one either
    assert client.disclosed().epsilon == 1.0
    newer = strict(survey(question("q", version=20)), tmp_path)
    assert refused(newer, "q", True) == ""  # what an app bundles is its own affair


def test_a_version_that_may_not_be_answered_sets_nothing_aside(tmp_path: Path) -> None:
    """Two questions of epsilon 1 under a ceiling of 2: the second is paid for, whoever is first."""
    own = survey(question("q"), question("other"))
    new = survey(question("q", version=2), question("other"))
    for secret in range(8):  # in half of the orders "q" would set aside first
        client = strict(
            own,
            tmp_path / str(secret),
            transport=serving(new),
            trust_surveys=True,
            ceiling=2.0,
            account_secret=bytes([secret]) * 16,
        )
        assert refused(client, "q", True) == ""
        assert client.refresh()
        assert refused(client, "q", True) == "fetched"
        assert refused(client, "other", True) == ""


def test_who_answered_the_bundled_version_answers_no_fetched_one(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(
        survey(question("q")),
        tmp_path,
        transport=serving(survey(version_2()), survey(question("q"))),
        trust_surveys=True,
        clock=clock,
    )
    assert refused(client, "q", True) == ""
    assert client.refresh()
    assert refused(client, "q", True) == "fetched"
    assert client.refresh()
    clock.forward(days=1)
    assert refused(client, "q", True) == ""


@pytest.mark.parametrize("word", [None, 1, "ab" * 32, ["AB" * 32], ["ab"], [7], b"x"])
def test_the_apps_word_is_a_flag_or_hashes(tmp_path: Path, word: object) -> None:
    with pytest.raises(InvalidParameter, match="'trust_surveys'"):
        Client(OLD, tmp_path, trust_surveys=word)  # type: ignore[arg-type]


def test_the_request_is_the_same_from_every_device_at_any_time(tmp_path: Path) -> None:
    answer = Response(200, {"etag": '"device-4711"'}, survey(OTHER).published())
    seen = []
    for name in ("a", "b"):
        script = Script([lambda _: answer] * 3)
        client = strict(OLD, tmp_path / name, transport=script)
        assert client.refresh()
        assert client.refresh()
        client.close()
        assert strict(OLD, tmp_path / name, transport=script).refresh()
        seen += [(r.method, r.path, dict(r.headers), r.body) for r in script.requests]
        assert script.requests[0].largest_answer == MAX_SURVEY_BYTES
    assert seen == [("GET", "/v1/survey", {}, None)] * 6


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (Response(200, {}, b""), "bad_survey"),
        (Response(200, {}, b"<html>"), "bad_survey"),
        (Response(200, {}, OLD.published()[:-1]), "bad_survey"),
        (Response(200, {}, OLD.published().replace(b'"bits":128', b'"bits":0')), "bad_survey"),
        (Response(304), "unreachable"),
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


def test_nothing_is_fetched_without_consent_or_endpoint(tmp_path: Path) -> None:
    script = serving(OLD)
    assert not strict(OLD, tmp_path / "a", consent=None, transport=script).refresh()
    assert script.requests == []
    assert not strict(OLD, tmp_path / "b").refresh()


def test_the_background_client_refreshes_too(tmp_path: Path) -> None:
    script: Script = serving(survey(OTHER))
    with Client(OLD, tmp_path, consent=Consent.GRANTED, transport=script) as client:
        assert client.refresh()
        client.record("other", True)
        assert client.flush()
        assert ("other", "uploaded") in client.counters()


def test_a_longer_retention_needs_the_apps_word(tmp_path: Path) -> None:
    own = replace(OLD, retention_days=30)
    longer = replace(OLD, questions=(replace(PAGE, retention_days=31), OTHER), retention_days=30)
    client = fetched(tmp_path / "no", longer, own)
    assert [q.id for q in client.survey.asked] == ["other"]
    assert refused(client, "page") == "unknown_question"
    assert client.counters()["page", "asks_more"] == 1
    client = fetched(tmp_path / "yes", longer, own, trust_surveys=[sha256(longer)])
    assert [q.id for q in client.survey.asked] == ["page", "other"]
    shorter = replace(own, questions=(replace(PAGE, retention_days=7), OTHER))
    client = fetched(tmp_path / "less", shorter, own)
    assert refused(client, "page") == ""
    assert client.survey.asked[0].retention_days == 7
