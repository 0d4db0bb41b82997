"""Every verb that reads a store, and the collector itself, over PostgreSQL."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deniable.cli.app import make_app
from deniable.protocol import Report
from deniable.store import open_store
from deniable.store.place import place_of
from material.cluster import Cluster
from material.collector_process import JSON, SURVEY, batch
from material.served import Serving, ask
from material.store_kinds import PostgresStores


@pytest.fixture
def stores(cluster: Cluster, tmp_path: Path) -> Iterator[PostgresStores]:
    made = PostgresStores(cluster, f"e{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:12]}")
    yield made
    made.end()


def call(*words: object) -> str:
    done = CliRunner().invoke(make_app([str(words[0])]), [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_collector_serves_over_postgresql(stores: PostgresStores, tmp_path: Path) -> None:
    survey, place = tmp_path / "survey.json", stores.place()
    survey.write_bytes(SURVEY.published())
    command = [sys.executable, "-m", "deniable", "serve", "--json", "--port", "0"]
    environment = {**os.environ, "DENIABLE_DATA": place}
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(
            [*command, "--survey", str(survey)],
            stdout=subprocess.PIPE,
            stderr=said,
            env=environment,
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, (tmp_path / "said").read_text()
        port = int(json.loads(line)["address"].rpartition(":")[2])
        answers = []
        for numbers in (range(30), range(10, 40)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("POST", "/v1/reports", batch(numbers), JSON)
            answers.append(json.loads(connection.getresponse().read()))
            connection.close()
        assert [(a["accepted"], a["duplicates"]) for a in answers] == [(30, 0), (10, 20)]
        for path in ("/readyz", "/v1/counters", "/"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.status == 200, (path, answer.read())
            connection.close()
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert (tmp_path / "said").read_text() == ""
    with open_store(place, create=False) as store:
        assert store.counters() == {("words", "accepted"): 40, ("words", "duplicate"): 20}


def test_verbs_read_a_store_in_postgresql(stores: PostgresStores, tmp_path: Path) -> None:
    place = stores.place("simulated")
    survey = tmp_path / "survey.json"
    survey.write_bytes(SURVEY.published())
    words = tmp_path / "words"
    words.write_text("one\ntwo\nthree\n")
    at = ("--survey", survey, "--data", place, "--json")
    told = json.loads(call("simulate", "words", "--people", 5_000, "--candidates", words, *at))
    assert (told["people"], told["data"]) == (5_000, place)
    assert "5000" in call("count", "words", *at)
    estimated = json.loads(call("estimate", "words", "--candidates", words, *at))
    assert "one" in json.dumps(estimated)
    out = tmp_path / "reports.parquet"
    call("export", "words", "--survey", survey, "--data", place, "--output", out)
    assert out.exists()
    assert json.loads(call("store", "check", "--data", place, "--json"))["sound"]
    assert json.loads(call("store", "close", "words", "--data", place, "--json"))["closed"] == 1
    found = json.loads(call("audit", "store", "--data", place, "--json"))
    held = {each["check"]: each["holds"] for each in found["findings"]}
    assert held["no column for a sender"]
    assert held["no ids of closed epochs"]
    assert held["a silent log"]
    removed = json.loads(call("simulate", "--remove", "--data", place, "--json"))
    assert removed["removed"] == 5_000


def test_the_audit_names_a_table_that_keeps_more_and_a_server_that_logs(
    stores: PostgresStores, cluster: Cluster
) -> None:
    from deniable.audit.store.database import database_findings

    with stores.open() as store:
        store.append([Report("q", 1, bytes(32), 3, bytes(16), bytes(4))])
        store.remember({b"key": (store.tallies()[0].stamp, b"counts")})
        store.expire({("q", 1): 4}, {("q", 1): 1})  # tables that are made when they are needed
    columns = next(each for each in database_findings(stores.place()) if "column" in each.check)
    assert columns.holds, columns.words
    stores.query("ALTER TABLE counters ADD COLUMN seen timestamptz")
    with cluster.connect() as direct:
        direct.execute("ALTER ROLE deniable SET log_statement = 'all'")
    try:
        held = {each.check: each for each in database_findings(stores.place())}
    finally:
        with cluster.connect() as direct:
            direct.execute("ALTER ROLE deniable RESET log_statement")
    assert not held["no column for a sender"].holds
    assert "'seen' of 'counters'" in held["no column for a sender"].words
    assert not held["a silent log"].holds
    assert "log_statement = all" in held["a silent log"].words


def test_the_audit_says_what_its_user_may_not_see(stores: PostgresStores, cluster: Cluster) -> None:
    from deniable.audit.store.database import database_findings

    stores.open().close()
    schema = stores.place().partition("schema=")[2]
    role = f"plain_{schema}"[:60]
    with cluster.connect() as direct:
        direct.execute(f"CREATE ROLE {role} LOGIN")
        direct.execute(f"GRANT ALL ON SCHEMA {schema} TO {role}")
        direct.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}")
    try:
        place = stores.place().replace("deniable@", f"{role}@")
        held = {each.check: each for each in database_findings(place)}
    finally:
        with cluster.connect() as direct:
            direct.execute(f"DROP OWNED BY {role}")
            direct.execute(f"DROP ROLE {role}")
    assert not held["a silent log"].holds
    assert "GRANT pg_read_all_settings" in held["a silent log"].words
    assert held["no column for a sender"].holds


def test_each_of_several_surveys_has_a_schema_of_its_own(
    stores: PostgresStores, cluster: Cluster, tmp_path: Path
) -> None:
    for name in ("shop", "game-2"):
        (tmp_path / "surveys" / name).mkdir(parents=True)
        (tmp_path / "surveys" / name / "survey.json").write_bytes(SURVEY.published())
    place = stores.place()
    schema = place.partition("schema=")[2]
    try:
        with Serving(tmp_path, "--surveys", tmp_path / "surveys", "--data", place) as serving:
            for name, numbers in (("shop", range(30)), ("game-2", range(20))):
                sent = ask(serving.port, "POST", f"/s/{name}/v1/reports", batch(numbers), JSON)
                assert json.loads(sent.body)["accepted"] == len(numbers)  # the same ids, apart
        for name, reports in (("shop", 30), ("game-2", 20)):
            with open_store(place_of(place, name), create=False) as store:
                assert store.counters() == {("words", "accepted"): reports}
                assert store.size() > 0
    finally:
        with cluster.connect() as direct:
            for name in ("shop", "game_2"):
                direct.execute(f"DROP SCHEMA IF EXISTS {schema}_{name} CASCADE")
