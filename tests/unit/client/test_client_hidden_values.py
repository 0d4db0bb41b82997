"""A true value is nowhere: not in a file, a log, an error or a repr."""

from __future__ import annotations

import copy
import gc
import io
import logging
import pickle
import tempfile
import traceback
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.client import Client, Consent
from deniable.client.recorder import Entry
from deniable.errors import RecordRefused
from deniable.protocol import Numbers, Strings
from material.clients import COLOURS, Clock, a_field, files, question, strict, strings, survey

MARK = "zq-Marker-7f3a91"
ASKED = survey(
    strings("text"),
    question("colour", COLOURS),
    question("number", Numbers(("0", "10"))),
    question("flag"),
    question("pair", fields=(a_field("one"), a_field("two", Strings(), "rappor"))),
)
MARKED = st.text(max_size=40).map(lambda text: MARK + text)
VALUES = st.one_of(
    MARKED,
    MARKED.map(lambda text: text + "\ud800"),
    MARKED.map(lambda text: text * 300),
    MARKED.map(str.encode),
    st.lists(MARKED, min_size=1, max_size=2),
    st.fixed_dictionaries({"one": st.booleans(), "two": MARKED}),
    st.dictionaries(MARKED, MARKED, min_size=1, max_size=2),
)


def check(*shown: object) -> None:
    for text in shown:
        assert MARK not in str(text)
        assert MARK not in repr(text)


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(["text", "colour", "number", "flag", "pair", MARK]), value=VALUES)
def test_a_strict_client_shows_a_value_nowhere(name: str, value: object) -> None:
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logger = logging.getLogger("deniable")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with tempfile.TemporaryDirectory() as folder:
            client = strict(ASKED, Path(folder), clock=Clock())
            try:
                client.record(name, value)
            except RecordRefused as error:
                check(error, error.args, error.__cause__, error.__context__, vars(error))
                check("".join(traceback.format_exception(error)).replace(f"{MARK}{{", ""))
                check(copy.copy(error), pickle.loads(pickle.dumps(error)))  # noqa: S301
            check(client, client.counters(), client.disclosed(), client.pending(), vars(client))
            assert MARK.encode() not in files(Path(folder))  # with the log of the database
            client.close()
            assert MARK.encode() not in files(Path(folder))
        check(log.getvalue())
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


def test_the_search_would_find_a_value_that_was_written(tmp_path: Path) -> None:
    client = strict(ASKED, tmp_path)
    client.record("text", MARK)
    with client._device.database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES ('leak', ?)", (MARK,))
    assert MARK.encode() in files(tmp_path)


def test_a_value_that_waits_in_the_queue_cannot_be_printed(tmp_path: Path) -> None:
    with Client(ASKED, tmp_path, consent=Consent.GRANTED) as client:
        assert client.flush()
        with client._device.database.transaction():  # the thread must wait
            client.record("text", MARK)
            client.record("pair", {"one": True, "two": MARK})
            waiting = [thing for thing in gc.get_objects() if isinstance(thing, Entry)]
            assert waiting
            check(*waiting, vars(client._worker))
            assert repr(waiting[0]).endswith("<hidden>)")
        assert client.flush()
        assert len(client.pending()) == 2
    assert MARK.encode() not in files(tmp_path)


def test_an_unknown_name_is_not_kept_since_it_may_be_the_value(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.DEBUG, logger="deniable"),
        Client(ASKED, tmp_path, consent=Consent.GRANTED) as client,
    ):
        client.record(MARK, "text")
        client.flush()
        assert client.counters() == {("", "unknown_question"): 1}
    assert MARK not in caplog.text
    assert MARK.encode() not in files(tmp_path)


def test_an_unexpected_failure_is_counted_and_logged_by_its_type_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bytes:
        raise KeyError(MARK)

    monkeypatch.setattr("deniable.client.recorder.encode_answers", broken)
    with Client(ASKED, tmp_path, consent=Consent.GRANTED) as client:
        client.record("text", MARK)
        client.flush()
        assert client.counters() == {("text", "internal"): 1}
    assert "KeyError" in caplog.text
    assert MARK not in caplog.text
    with pytest.raises(RecordRefused) as caught:
        strict(ASKED, tmp_path).record("text", MARK)
    check(caught.value, caught.value.__cause__, caught.value.__context__)


def test_only_what_is_randomised_is_in_the_database(tmp_path: Path) -> None:
    client = strict(ASKED, tmp_path)
    client.record("text", MARK)
    (report,) = client.pending()
    answer = ASKED.questions[0].answers(MARK)[0]
    left = files(tmp_path)
    assert report.record in left
    for derived in (answer.key, answer.words[0].to_bytes(8, "little"), Strings().answer(MARK).key):
        assert derived not in left
