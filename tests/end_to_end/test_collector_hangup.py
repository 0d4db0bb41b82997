"""SIGHUP: a newly published survey and changed keys are taken, and no request is lost."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deniable import Client
from deniable.collector.keyring import utc_date
from deniable.collector.keys_file import Purpose, end_keys, make_key
from deniable.protocol import Question, Report, Survey, batch_bytes
from deniable.store import open_store
from material.collector_process import EXPIRES, FIELD, JSON, QUESTION, SURVEY, TODAY, batch
from material.served import Serving, ask

LATER = Question("later", 1, "?", "team", EXPIRES, 1, "once", "recorded", (FIELD,))
LONGER = Survey("test", "team", (QUESTION, LATER))
ANSWER = Report("later", 1, LATER.digest, TODAY, b"\xff" * 16, bytes(10))


def sender(send: Callable[[int], None], stop: threading.Event) -> threading.Thread:
    def run() -> None:
        number = 0
        while not stop.is_set():
            send(number)
            number += 1

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def late(port: int, days: int) -> list[str]:
    """Send a report about an epoch so many days ago; return why it is refused."""
    sent = Report("words", 1, QUESTION.digest, TODAY - days, bytes([days]) * 16, bytes(10))
    answer = ask(port, "POST", "/v1/reports", batch_bytes([sent]), JSON)
    return [each["reason"] for each in json.loads(answer.body)["problems"]]


def test_a_published_survey_is_taken_without_losing_a_request(tmp_path: Path) -> None:
    survey = tmp_path / "survey.json"
    survey.write_bytes(SURVEY.published())
    statuses: list[int] = []
    stop = threading.Event()
    with Serving(tmp_path, "--survey", survey, "--data", tmp_path / "data") as serving:

        def send(number: int) -> None:
            answer = ask(serving.port, "POST", "/v1/reports", batch([number]), JSON)
            statuses.append(answer.status)

        def later() -> list[str]:
            answer = ask(serving.port, "POST", "/v1/reports", batch_bytes([ANSWER]), JSON)
            return [each["reason"] for each in json.loads(answer.body)["problems"]]

        assert later() == ["unknown_question"]
        thread = sender(send, stop)
        try:
            assert serving.hang_up() == {"taken": []}  # the same file
            survey.write_bytes(b'{"half": ')
            assert serving.hang_up() == {"taken": []}  # a broken one changes nothing
            for published in (LONGER, SURVEY) * 5:
                survey.write_bytes(published.published())
                assert serving.hang_up() == {"taken": [""]}
                found = ask(serving.port, "GET", "/v1/survey")
                assert found.body == published.published()
            survey.write_bytes(LONGER.published())
            serving.hang_up()
            assert later() == []
            assert ask(serving.port, "GET", "/questions/later").status == 200  # pages follow
        finally:
            stop.set()
            thread.join(30)
    assert set(statuses) == {200}
    with open_store(tmp_path / "data") as store:
        counted = store.counters()
    assert counted["words", "accepted"] == len(statuses)
    assert counted["later", "accepted"] == 1
    assert "The survey  stays as it was." in (tmp_path / "said").read_text()


def test_surveys_and_keys_come_and_go_while_a_collector_runs(tmp_path: Path) -> None:
    folder, keys = tmp_path / "surveys", tmp_path / "keys.json"
    for name, published in (("shop", SURVEY), ("game", LONGER)):
        (folder / name).mkdir(parents=True)
        (folder / name / "survey.json").write_bytes(published.published())
    shop = make_key(keys, Purpose.APP, "till", today=utc_date(), survey="shop")[1]
    options = ("--surveys", folder, "--data", tmp_path / "data", "--keys", keys)
    with Serving(tmp_path, *options) as serving:

        def post(name: str, key: str) -> int:
            shown = {**JSON, "authorization": f"Bearer {key}"}
            return ask(serving.port, "POST", f"/s/{name}/v1/reports", batch([1]), shown).status

        assert (post("shop", shop), post("game", shop), post("late", shop)) == (200, 401, 404)
        (folder / "late").mkdir()
        (folder / "late" / "survey.json").write_bytes(SURVEY.published())
        every = make_key(keys, Purpose.APP, "suite", today=utc_date())[1]
        end_keys(keys, lambda key: key.name == "till", utc_date())
        assert serving.hang_up() == {"taken": []}
        assert serving.told() == {"taken": ["late"]}
        assert (post("shop", shop), post("shop", every), post("late", every)) == (401, 200, 200)
        assert ask(serving.port, "GET", "/s/late/").status == 200
        # A device needs nothing new: the survey's address is the collector's.
        address = f"http://127.0.0.1:{serving.port}/s/late"
        with Client(
            folder / "late/survey.json", tmp_path / "state", address, write_key=every
        ) as it:
            it.opt_in()
            it.record("words", "hello", wait=True)
            it.flush()
        keys.write_text("{}")
        serving.hang_up()
        assert post("shop", every) == 200  # a broken file changes nothing
    for name, reports in {"shop": 1, "late": 2}.items():
        with open_store(tmp_path / "data" / name) as store:
            assert store.counters()["words", "accepted"] == reports, name
    assert "The keys stay as they were." in (tmp_path / "said").read_text()


def test_a_new_survey_that_cannot_be_served_keeps_out_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "surveys"
    for name in ("shop", "Wrong", "broken", "good"):
        (folder / name).mkdir(parents=True)
    (folder / "shop" / "survey.json").write_bytes(SURVEY.published())
    with Serving(tmp_path, "--surveys", folder, "--data", tmp_path / "data") as serving:
        (folder / "Wrong" / "survey.json").write_bytes(SURVEY.published())
        (folder / "broken" / "survey.json").write_bytes(b'{"half": ')
        (folder / "good" / "survey.json").write_bytes(SURVEY.published())
        assert serving.hang_up() == {"taken": []}
        assert serving.told() == {"taken": ["good"]}
        assert ask(serving.port, "POST", "/s/good/v1/reports", batch([1]), JSON).status == 200
        (folder / "broken" / "survey.json").write_bytes(SURVEY.published())
        assert serving.hang_up() == {"taken": []}
        assert serving.told() == {"taken": ["broken"]}
    said = (tmp_path / "said").read_text()
    assert "The new survey broken is not served." in said
    assert "Got 'Wrong'." in said


def test_a_shorter_retention_of_a_question_is_taken_while_reports_arrive(tmp_path: Path) -> None:
    survey = tmp_path / "survey.json"
    survey.write_bytes(SURVEY.published())
    own = replace(SURVEY, questions=(replace(QUESTION, retention_days=30),))
    statuses: list[int] = []
    stop = threading.Event()
    with Serving(tmp_path, "--survey", survey, "--data", tmp_path / "data") as serving:

        def send(number: int) -> None:
            answer = ask(serving.port, "POST", "/v1/reports", batch([number]), JSON)
            statuses.append(answer.status)

        thread = sender(send, stop)
        try:
            survey.write_bytes(own.published())
            assert serving.hang_up() == {"taken": [""]}
            assert ask(serving.port, "GET", "/v1/survey").body == own.published()
            page = ask(serving.port, "GET", "/questions/words").body.decode()
            assert "Reports are deleted 30 days after the end of their epoch" in page
            # Shorter than late reports are taken for: what is past it is refused from now on.
            assert late(serving.port, 4) == []
            shorter = replace(SURVEY, questions=(replace(QUESTION, retention_days=3),))
            survey.write_bytes(shorter.published())
            assert serving.hang_up() == {"taken": [""]}
            assert late(serving.port, 4) == ["too_late"]
            assert late(serving.port, 3) == []
        finally:
            stop.set()
            thread.join(30)
    assert set(statuses) == {200}  # the digest is the same: what waits on devices is taken


def test_a_collector_ends_with_its_terminal(tmp_path: Path) -> None:
    (tmp_path / "survey.json").write_bytes(SURVEY.published())
    terminal, inside = pty.openpty()

    def own_the_terminal() -> None:
        fcntl.ioctl(inside, termios.TIOCSCTTY, 0)

    words = [sys.executable, "-m", "deniable", "serve", "--port", "0"]
    with (tmp_path / "said").open("wb") as said:
        process = subprocess.Popen(
            words,
            cwd=tmp_path,
            stdin=inside,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,
            preexec_fn=own_the_terminal,
        )
    os.close(inside)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"Collecting")
        process.send_signal(signal.SIGHUP)  # an operator's: it goes on
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        os.close(terminal)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()
