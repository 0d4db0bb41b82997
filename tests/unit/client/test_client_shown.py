"""What a client shows: notice, explanation, the debug mode; and when it asks."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from deniable.client import Client, Consent
from deniable.client.asking import CI_VARIABLES, somebody_is_there
from deniable.client.explaining import kind
from deniable.errors import RecordRefused
from deniable.protocol import (
    Attribute,
    Boolean,
    Categories,
    Domain,
    Numbers,
    Profile,
    Report,
    Sets,
    Strings,
    StringSets,
)
from material.clients import (
    BLOOM,
    COLOURS,
    Script,
    a_field,
    files,
    question,
    strict,
    strings,
    survey,
)

ASKED = survey(
    strings("page", epoch=7),
    question("flag", repeat="once"),
    question("always", send="always"),
    question("both", fields=(a_field("one"), a_field("two", COLOURS))),
)
VALUES = {"page": "my-own-page", "flag": True, "always": True, "both": {"one": True, "two": "red"}}


def printed(text: str) -> list[Report]:
    lines = [line for line in text.splitlines() if line.startswith("{")]
    return [Report.from_json(each) for line in lines for each in json.loads(line)["reports"]]


@pytest.mark.parametrize("is_strict", [False, True])
def test_the_debug_mode_prints_every_report_and_touches_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_strict: bool
) -> None:
    device = strict(ASKED, tmp_path)
    device.record("flag", True)
    device.close()
    before = files(tmp_path)
    script = Script()
    with Client(ASKED, tmp_path, transport=script, strict=is_strict, debug=True) as client:
        for _ in range(3):  # neither an epoch nor a question that is asked once is used up
            for name, value in VALUES.items():
                client.record(name, value, wait=True)
        assert client.flush()
        assert len(client.pending()) == 1  # the one that waited before
        assert client.disclosed().epsilon == 1.0
        assert not client.refresh()
    assert files(tmp_path) == before
    assert script.requests == []
    told = capsys.readouterr().err
    reports = printed(told)
    assert [report.question for report in reports] == list(VALUES) * 3
    for report in reports:
        asked = next(each for each in ASKED.questions if each.id == report.question)
        assert (report.digest, len(report.record)) == (asked.digest, asked.record_size)
    assert "my-own-page" not in told


def test_debug_reports_come_from_another_secret_in_every_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A permanent question: one secret gives the same bytes, another one others."""
    asked = survey(strings("page", {**BLOOM, "p": 0.0, "q": 1.0}))
    device = strict(asked, tmp_path)
    device.record("page", "a")
    (own,) = device.pending()
    records = []
    for _ in range(2):
        with strict(asked, tmp_path, debug=True) as client:
            client.record("page", "a")
            client.record("page", "a")
        one, two = printed(capsys.readouterr().err)
        assert one.record == two.record
        records.append(one.record)
    assert len({own.record, *records}) == 3  # equal by chance: 128 bits agree


def test_the_debug_mode_needs_consent_and_keeps_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_DEBUG", "1")
    folder = tmp_path / "state"
    client = strict(ASKED, folder, consent=None)
    with pytest.raises(RecordRefused, match="consent"):
        client.record("flag", True)
    client.opt_in()
    client.record("flag", True)
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    with pytest.raises(RecordRefused, match="consent"):
        client.record("flag", True)
    monkeypatch.delenv("DO_NOT_TRACK")
    client.opt_out()
    assert client.consent is Consent.DENIED
    client.close()
    assert not folder.exists()
    assert len(printed(capsys.readouterr().err)) == 1
    monkeypatch.setenv("DENIABLE_DEBUG", "0")
    strict(ASKED, folder).close()
    assert folder.exists()


def test_a_closed_standard_error_harms_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (closed, None):
        monkeypatch.setattr(sys, "stderr", stream)
        strict(ASKED, tmp_path, debug=True).record("flag", True)


def test_the_explanation_says_what_would_leave_and_what_waits(tmp_path: Path) -> None:
    client = strict(ASKED, tmp_path, consent=None)
    assert "You have not been asked yet" in client.explain()
    assert client.notice().count("  - Why?") == 4
    client.opt_in()
    client.record("page", "my-own-page")
    told = client.explain()
    for words in (
        "page (version 1): Why?",
        "at most once in 7 days",
        "at most 3 in 4 after one report, and at most 81 in 82 after all of one answer",
        "and there is only one",
        "two: One of red, green, blue.",
        "also where there is nothing to say",
        "You have agreed.",
        "epsilon 4.395 of at most 1,000,000",
        "Waiting to be sent: 1 report.",
    ):
        assert words in told
    assert "my-own-page" not in told
    client.opt_out()
    assert "You have declined" in client.explain()


def test_the_environment_is_named_where_it_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    client = strict(ASKED, tmp_path)
    assert "The environment says no (DO_NOT_TRACK" in client.explain()


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (Boolean(), "Yes or no."),
        (Categories(tuple("abcdefghij")), "One of a, b, c, d, e, f, g, h and 2 more."),
        (Numbers(("0", "10")), "A number, and of it only its range: < 0, 0 to 10, >= 10."),
        (Sets(("a", "b", "c"), 2), "Up to 2 of a, b, c."),
        (StringSets(most=3), "Up to 3 texts, of which one is drawn and sent as a shared code."),
        (Strings(), "A text, sent as a code that many texts share."),
        (
            Profile((Attribute("a", Boolean()), Attribute("b", COLOURS))),
            "2 answers in one report: a, b.",
        ),
    ],
)
def test_every_kind_of_domain_has_words(domain: Domain, words: str) -> None:
    assert kind(domain) == words


def test_a_domain_without_words_says_so() -> None:
    with pytest.raises(NotImplementedError, match="no words for a domain of str"):
        kind("surprise")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CI_VARIABLES)
def test_nobody_sits_at_a_build_service(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, stream, Terminal())
    assert somebody_is_there({})
    assert somebody_is_there({name: "false"})
    assert not somebody_is_there({name: "1"})
    for stream in ("stdin", "stdout", "stderr"):
        with monkeypatch.context() as one:
            one.setattr(sys, stream, io.StringIO())
            assert not somebody_is_there({})
