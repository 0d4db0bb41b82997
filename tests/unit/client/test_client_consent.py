"""Consent: unknown means nothing at all, opting out destroys, opting in resets nothing."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.client import Client, Consent
from deniable.client.consent import from_environment
from deniable.errors import InvalidParameter, RecordRefused
from material.clients import BLOOM, Clock, Script, files, question, strict, strings, survey

ASKED = survey(strings(), question("once", repeat="once"))


def reason_of(client: Client, name: str = "page", value: object = "a") -> str:
    with pytest.raises(RecordRefused) as caught:
        client.record(name, value)
    return caught.value.reason


def test_unknown_consent_writes_nothing(tmp_path: Path) -> None:
    client = strict(ASKED, tmp_path / "state", consent=None, transport=Script())
    assert client.consent is Consent.UNKNOWN
    assert reason_of(client) == "no_consent"
    assert reason_of(client, "page", object()) == "no_consent"  # the value is not even looked at
    assert client.flush()
    assert not client.refresh()
    assert client.pending() == []
    assert client.disclosed().questions == ()
    client.close()
    assert not (tmp_path / "state").exists()
    assert client.counters() == {("page", "no_consent"): 2}


def test_unknown_consent_writes_nothing_in_the_background_either(tmp_path: Path) -> None:
    with Client(ASKED, tmp_path / "state") as client:
        client.record("page", "a")
        assert client.flush()
    assert not (tmp_path / "state").exists()
    assert client.counters() == {("page", "no_consent"): 1}


def test_consent_is_stored(tmp_path: Path) -> None:
    strict(ASKED, tmp_path, consent=Consent.GRANTED).close()
    client = strict(ASKED, tmp_path, consent=None)
    assert client.consent is Consent.GRANTED
    client.record("page", "a")
    client.opt_out()
    assert client.consent is Consent.DENIED
    assert strict(ASKED, tmp_path, consent=None).consent is Consent.DENIED


def test_stored_consent_goes_with_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    strict(ASKED, folder, consent=Consent.GRANTED).close()
    client = strict(ASKED, folder, consent=None)
    client.record("page", "a")
    shutil.rmtree(folder)
    assert reason_of(client, "once", True) == "no_consent"
    assert not folder.exists()


def test_an_opt_out_in_another_process_is_found_in_the_transaction(tmp_path: Path) -> None:
    client, other = strict(ASKED, tmp_path), strict(ASKED, tmp_path)
    client.record("page", "a")
    other.opt_out()
    assert reason_of(client, "once", True) == "no_consent"
    assert client.pending() == []
    # From now on this process knows it, too: a value is not even looked at.
    assert reason_of(client, "page", object()) == "no_consent"


def test_an_opt_out_is_not_undone_by_an_argument(tmp_path: Path) -> None:
    strict(ASKED, tmp_path).opt_out()
    client = strict(ASKED, tmp_path, consent=Consent.GRANTED)
    assert client.consent is Consent.DENIED
    assert reason_of(client) == "no_consent"
    client.opt_in()
    client.record("page", "a")


def test_an_app_that_keeps_the_setting_itself_can_change_it_both_ways(tmp_path: Path) -> None:
    strict(ASKED, tmp_path, consent=Consent.GRANTED).record("page", "a")
    off = strict(ASKED, tmp_path, consent=Consent.DENIED)
    assert off.consent is Consent.DENIED
    assert off.pending() == []
    assert not (tmp_path / "secret").exists()
    assert strict(ASKED, tmp_path, consent=Consent.GRANTED).consent is Consent.GRANTED


def test_a_denial_at_first_start_makes_no_file(tmp_path: Path) -> None:
    client = strict(ASKED, tmp_path / "state", consent=Consent.DENIED)
    assert client.consent is Consent.DENIED
    assert not (tmp_path / "state").exists()


def test_opting_out_destroys_and_opting_in_resets_nothing(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(ASKED, tmp_path, clock=clock)
    client.record("page", "a")
    client.record("once", True)
    secret = (tmp_path / "secret").read_bytes()
    waiting = client.pending()
    with sqlite3.connect(tmp_path / "client.sqlite3") as other:
        tags = [row[0] for row in other.execute("SELECT tag FROM tags")]
    other.close()
    before = client.disclosed()
    assert len(waiting) == 2
    assert len(tags) == 2  # of the value, and that a value of the question was paid for
    assert all(report.id in files(tmp_path) for report in waiting)
    client.opt_out()
    left = files(tmp_path)
    for gone in (
        secret,
        *tags,
        *(r.id for r in waiting),
        *(r.record for r in waiting if r.question == "page"),
    ):
        assert gone not in left
    assert client.pending() == []
    assert client.disclosed() == before
    assert reason_of(client) == "no_consent"
    client.opt_in()
    assert reason_of(client) == "answered"
    assert reason_of(client, "once", True) == "answered"
    clock.forward(days=1)
    client.record("page", "a")  # with a new secret, the same value is a new disclosure
    page = {q.question: q for q in client.disclosed().questions}["page"]
    assert (page.reports, page.answers) == (2, 2)
    assert page.micros == 2 * {q.question: q for q in before.questions}["page"].micros
    assert (tmp_path / "secret").read_bytes() != secret


def test_opting_out_and_in_does_not_reset_the_ceiling(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(strings()), tmp_path, clock=clock, ceiling=5.0)  # one answer costs 4.4
    client.record("page", "a")
    client.opt_out()
    client.opt_in()
    clock.forward(days=1)
    assert reason_of(client) == "ceiling"


def test_opting_out_also_wipes_the_secret_of_a_device_that_uses_an_account(tmp_path: Path) -> None:
    strict(ASKED, tmp_path).record("page", "a")
    assert (tmp_path / "secret").exists()
    strict(ASKED, tmp_path, account_secret=bytes(16)).opt_out()
    assert not (tmp_path / "secret").exists()


def test_a_wipe_that_a_crash_interrupted_is_finished(tmp_path: Path) -> None:
    strict(ASKED, tmp_path).opt_out()
    (tmp_path / "secret").write_bytes(bytes(32))
    strict(ASKED, tmp_path, consent=None)
    assert not (tmp_path / "secret").exists()


def test_another_process_that_opts_out_is_obeyed_at_once(tmp_path: Path) -> None:
    clock = Clock()
    client, other = (strict(ASKED, tmp_path, clock=clock) for _ in range(2))
    client.record("page", "a")
    other.opt_out()
    assert reason_of(client, "once", True) == "no_consent"
    other.opt_in()
    client.record("once", True)


@pytest.mark.parametrize("name", ["DO_NOT_TRACK", "DENIABLE_CONSENT"])
def test_the_environment_stops_everything_and_destroys_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    script = Script()
    strict(ASKED, tmp_path).record("page", "a")
    before = files(tmp_path)
    monkeypatch.setenv(name, {"DO_NOT_TRACK": "1"}.get(name, "denied"))
    client = strict(ASKED, tmp_path, consent=Consent.GRANTED, transport=script)
    client.opt_in()
    assert client.consent is Consent.DENIED
    assert reason_of(client, "once", True) == "no_consent"
    assert client.flush()
    assert script.requests == []
    assert len(client.pending()) == 1
    assert before.count(b"secret\n") == files(tmp_path).count(b"secret\n")
    monkeypatch.delenv(name)
    assert client.flush()
    assert len(script.reports) == 1


def test_the_environment_grants_over_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_CONSENT", "granted")
    client = strict(ASKED, tmp_path, consent=Consent.DENIED)
    client.record("page", "a")
    assert len(client.pending()) == 1


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, Consent.UNKNOWN),
        ({"DO_NOT_TRACK": ""}, Consent.UNKNOWN),
        ({"DO_NOT_TRACK": "0"}, Consent.UNKNOWN),
        ({"DO_NOT_TRACK": "1"}, Consent.DENIED),
        ({"DO_NOT_TRACK": "true", "DENIABLE_CONSENT": "granted"}, Consent.DENIED),
        ({"DO_NOT_TRACK": "0", "DENIABLE_CONSENT": "granted"}, Consent.GRANTED),
        ({"DENIABLE_CONSENT": " Granted "}, Consent.GRANTED),
        ({"DENIABLE_CONSENT": "denied"}, Consent.DENIED),
        ({"DENIABLE_CONSENT": ""}, Consent.UNKNOWN),
    ],
)
def test_what_the_environment_says(environment: dict[str, str], expected: Consent) -> None:
    assert from_environment(environment) is expected


@given(st.text())
def test_no_other_word_grants(word: str) -> None:
    said = from_environment({"DENIABLE_CONSENT": word})
    assert (said is Consent.GRANTED) == (word.strip().lower() == "granted")


def test_an_unknown_stored_word_grants_nothing(tmp_path: Path) -> None:
    strict(ASKED, tmp_path).close()
    with sqlite3.connect(tmp_path / "client.sqlite3") as other:
        other.execute("UPDATE meta SET value = 'maybe' WHERE name = 'consent'")
    other.close()
    assert strict(ASKED, tmp_path, consent=None).consent is Consent.UNKNOWN


def test_consent_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="'consent'"):
        Client(ASKED, tmp_path, consent=True)  # type: ignore[arg-type]


def test_values_that_wait_when_consent_is_withdrawn_are_refused(tmp_path: Path) -> None:
    with Client(survey(strings(parameters=BLOOM)), tmp_path, consent=Consent.GRANTED) as client:
        assert client.flush()
        with client._device.database.transaction():  # the thread cannot commit meanwhile
            client.record("page", "a")
            client._device.consent._here = "opted_out"
        client.flush()
        assert client.pending() == []
        assert client.counters() == {("page", "no_consent"): 1}
