"""Files of the first version of the contract are opened as they are, by this code and all later.

tests/fixtures/v1 has a survey, a store with closed and open epochs, segments and levels, and a
client's folder with its ledger, pins, a fetched survey and waiting reports: one was refused for
now, one is held until its epoch is over. `fixtures/made_v1.py` made them, once.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from deniable.audit.wire.captured_requests import Exchange
from deniable.audit.wire.recording_proxy import Tape, recording_proxy, running_collector
from deniable.authoring import resolve
from deniable.client import Client, database
from deniable.errors import InvalidSurvey, RecordRefused, StoreError
from deniable.protocol import Report, Survey
from deniable.protocol.compact import numbers_of, read_compact
from deniable.protocol.epochs import day_number
from deniable.store import open_store
from deniable.store.check import check_store
from deniable.store.sqlite import schema
from fixtures.looking import NOW, client_facts, open_client, store_facts, survey_of
from fixtures.made_v1 import VALUES

V1 = Path(__file__).resolve().parent.parent / "fixtures" / "v1"
EXPECTED = json.loads((V1 / "expected.json").read_text("utf-8"))
TOMORROW = NOW + timedelta(days=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy that may be written to, with the modes that the files had."""
    copy = tmp_path / "v1"
    shutil.copytree(V1, copy)
    for path in copy.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return copy


def reports(items: list[object]) -> set[Report]:
    return {Report.from_json(item) for item in items}


WAITING = reports(EXPECTED["client"]["waiting"])


def travelled(exchanges: list[Exchange], survey: Survey) -> list[set[Report]]:
    """Return the reports of each upload, as they were on the wire."""
    known = {question.digest: question for question in survey.known}
    found = []
    for exchange in exchanges:
        packed = read_compact(exchange.body)
        question = known[packed.digest]
        texts = {number: text for text, number in numbers_of(question)[1].items()}
        name = (question.id, question.version, question.digest)
        found.append(
            {
                Report(*name, row.epoch, row.id, row.record, texts[row.combination])
                for row in packed.rows()
            }
        )
    return found


def test_the_survey_reads_and_is_published_as_it_was() -> None:
    body = (V1 / "survey.json").read_bytes()
    survey = Survey.from_published(body)
    assert survey.published() == body
    assert {q.digest for q in survey.known} >= {report.digest for report in WAITING}
    assert [(q.id, q.version) for q in survey.earlier] == [("dark", 1)]


def test_the_store_counts_and_estimates_as_it_did(folder: Path) -> None:
    found, expected = store_facts(folder), dict(EXPECTED["store"])
    # Shares are sums of integers times a number: only the order of additions may change.
    for name, shares in expected.pop("shares").items():
        assert found["shares"][name] == pytest.approx(shares, rel=1e-12)
    del found["shares"]
    assert found == expected
    assert check_store(folder / "store").problems == ()


def test_the_store_goes_on_where_it_was(folder: Path) -> None:
    """It knows the ids of open epochs, takes more, and closes what is open."""
    sent = sorted(reports(EXPECTED["sent"]), key=lambda report: report.id)
    with open_store(folder / "store", create=False) as store:
        assert not any(store.append(sent).new)
        fresh = replace(sent[0], id=bytes(16))
        assert store.append([fresh]).new == (True,)
        before = {t.batch.question: t.reports for t in store.tallies()}
        assert store.close_question("dark", floor=20) == 1
        assert {t.batch.question: t.reports for t in store.tallies()} == before
    assert check_store(folder / "store").problems == ()


def test_the_client_says_what_it_said(folder: Path) -> None:
    assert client_facts(folder) == EXPECTED["client"]


def test_waiting_reports_are_uploaded_bit_for_bit(folder: Path) -> None:
    survey, tape, moment = survey_of(folder), Tape(), [NOW]
    before = {tuple(tally[:5]): tally[5] for tally in EXPECTED["store"]["tallies"]}
    with (
        running_collector(survey, folder / "store", lambda: day_number(moment[0])) as (url, store),
        recording_proxy(url, tape) as address,
        open_client(folder, address, lambda: moment[0]) as client,
    ):
        assert client.flush()
        assert {report.question for report in client.pending()} == {"mood"}
        moment[0] = TOMORROW
        assert client.flush()
        assert client.pending() == []
        for tally in store.tallies():
            batch = tally.batch
            key = (batch.question, batch.version, batch.epoch, batch.digest.hex()[:8])
            same = sum(
                r.digest == batch.digest and r.epoch == batch.epoch and r.segments == batch.segments
                for r in WAITING
            )
            assert tally.reports == before.get((*key, batch.segments), 0) + same
        counters = client.counters()
    uploads = travelled(tape.exchanges, survey)
    assert all(len({report.digest for report in upload}) == 1 for upload in uploads)
    assert set().union(*uploads) == WAITING
    assert counters["homepage", "uploaded"] == 2


def test_a_start_sends_only_what_is_due(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "client" / "client.sqlite3")) as connection:
        rows = connection.execute("SELECT id, due <= ? FROM outbox", (int(NOW.timestamp()),))
        due = {identity for identity, is_due in rows if is_due}
    assert 0 < len(due) < len(WAITING) - 1
    tape = Tape()
    with (
        running_collector(survey_of(folder), folder / "store", lambda: day_number(NOW)) as (url, _),
        recording_proxy(url, tape) as address,
    ):
        open_client(folder, address).close()
    uploads = travelled(tape.exchanges, survey_of(folder))
    assert {report.id for upload in uploads for report in upload} == due


def test_a_value_that_was_paid_for_has_the_same_permanent_report(folder: Path) -> None:
    (kept,) = (report for report in WAITING if report.question == "editor")
    with open_client(folder, clock=lambda: TOMORROW) as client:
        spent = client.disclosed().epsilon
        client.record("editor", VALUES["editor"])
        made = {r.record for r in client.pending() if r.question == "editor"}
        assert made == {kept.record}
        assert client.disclosed().epsilon == spent


def refusal(client: Client, name: str) -> str:
    with pytest.raises(RecordRefused) as caught:
        client.record(name, VALUES[name])
    return caught.value.reason


def test_epochs_pins_level_and_what_was_withdrawn_still_hold(folder: Path) -> None:
    with open_client(folder) as client:
        assert refusal(client, "dark") == refusal(client, "colour") == "answered"
        assert refusal(client, "trip") == refusal(client, "homepage") == "unknown_question"
        levels = {q.level for q in client._device.bundle.survey.asked if q.id == "colour"}
        assert levels == {"strict"}


def test_another_contract_under_a_pinned_version_is_refused(folder: Path) -> None:
    survey = survey_of(folder)
    dark = next(q for q in survey.questions if q.id == "dark")
    (field,) = dark.fields
    louder = resolve("krr", {"epsilon": 3.0}, field.domain, False)
    other = replace(dark, fields=(replace(field, parameters=louder),))
    changed = replace(survey, questions=(other,), earlier=())
    with Client(changed, folder / "client", strict=True, clock=_tomorrow) as client:
        assert refusal(client, "dark") == "changed"


def _tomorrow() -> datetime:
    return TOMORROW


def test_a_later_version_migrates_them_with_all_they_hold(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as a step that does not exist yet can show: appended, as steps are."""
    statement = "CREATE TABLE notes (note TEXT PRIMARY KEY) WITHOUT ROWID"
    step = folder / "schema_2.sql"
    step.write_text(statement, "utf-8")
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, (statement,)))
    monkeypatch.setattr(database, "MIGRATIONS", (*database.MIGRATIONS, step))
    assert store_facts(folder)["counts"] == EXPECTED["store"]["counts"]
    assert client_facts(folder) == EXPECTED["client"]
    for path in (folder / "store" / "reports.sqlite3", folder / "client" / "client.sqlite3"):
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT COUNT(*) FROM notes").fetchone() == (0,)


def newer(path: Path) -> bytes:
    """Make a database one of a version that does not exist yet, and return its bytes."""
    with closing(sqlite3.connect(path)) as connection:
        latest = max(schema.schema_version(), len(database.MIGRATIONS))
        connection.execute(f"PRAGMA user_version = {latest + 1}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


def told(*arguments: object) -> tuple[int, str]:
    """Run a command in a process of its own that must refuse; return its code and its words."""
    command = [sys.executable, "-m", "deniable", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "verb", [["estimate", "dark"], ["store", "check"], ["serve", "--port", "0"]]
)
def test_a_newer_store_is_refused_in_plain_words(folder: Path, verb: list[str]) -> None:
    path = folder / "store" / "reports.sqlite3"
    kept = newer(path)
    survey = [] if verb[0] == "store" else ["--survey", folder / "survey.json"]
    code, words = told(*verb, "--data", folder / "store", *survey)
    assert code == 4
    assert f"schema version {schema.schema_version() + 1}" in words
    assert "Upgrade deniable." in words
    assert path.read_bytes() == kept


def test_a_newer_client_folder_is_refused_in_plain_words(folder: Path) -> None:
    path = folder / "client" / "client.sqlite3"
    kept = newer(path)
    with open_client(folder) as client:
        with pytest.raises(StoreError, match="upgrade deniable"):
            client.disclosed()
        assert refusal(client, "mood") == "storage"
    assert path.read_bytes() == kept


def test_a_newer_survey_is_refused_in_plain_words(folder: Path) -> None:
    path = folder / "survey.json"
    body = (
        path.read_bytes()
        .replace(b'"deniable":1', b'"deniable":2')
        .replace(b'"floor":20', b'"floor":20,"something_new":1')
    )
    path.write_bytes(body)
    with pytest.raises(InvalidSurvey, match="upgrade deniable"):
        open_client(folder)
    for verb in (["estimate", "dark"], ["serve", "--port", "0"]):
        code, words = told(*verb, "--survey", path, "--data", folder / "store")
        assert code == 1
        assert "upgrade deniable" in words
