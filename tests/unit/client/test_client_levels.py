"""Levels, segments and the coin of who is asked, on the device."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from deniable.client import Client, Consent
from deniable.client.encode import is_asked
from deniable.client.secret import FILE_NAME
from deniable.errors import InvalidParameter, RecordRefused
from deniable.protocol import Question, Survey
from deniable.protocol.segments import Segment
from deniable.testing.statistics import accept, proportion, reject
from material.clients import BLOOM, Clock, question, strict, strings

PLATFORM = Segment("platform", ("linux", "mac"))


def levels(**changes: object) -> tuple[Question, ...]:
    """Two levels of a question with a permanent response, and their epsilons for ever."""
    lax = {**BLOOM, "f": 0.25}
    made = [strings("page", parameters) for parameters in (BLOOM, lax)]
    return tuple(
        replace(each, level=name, **changes)  # type: ignore[arg-type]
        for each, name in zip(made, ("strict", "open"), strict=True)
    )


def _costs(asked: tuple[Question, ...]) -> list[int]:
    return [each.epsilon_forever or 0 for each in asked]


def test_the_first_level_listed_is_the_default(tmp_path: Path) -> None:
    asked = levels()
    with strict(Survey("s", "o", asked), tmp_path) as client:
        client.record("page", "x")
        assert [report.digest for report in client.pending()] == [asked[0].digest]
        assert client.disclosed().questions[0].micros == _costs(asked)[0]


def test_a_change_of_level_costs_both_and_brings_no_second_report_of_an_epoch(
    tmp_path: Path,
) -> None:
    asked, clock = levels(), Clock()
    with strict(Survey("s", "o", asked), tmp_path, clock=clock) as client:
        client.record("page", "x")
        assert client.choose("open")
        with pytest.raises(RecordRefused, match="already"):
            client.record("page", "x")
        clock.forward(days=1)
        client.record("page", "x")
        assert {report.digest for report in client.pending()} == {q.digest for q in asked}
        assert client.disclosed().questions[0].micros == sum(_costs(asked))
        clock.forward(days=1)
        client.choose("strict")
        client.record("page", "x")  # paid for already, at both levels
        assert client.disclosed().questions[0].micros == sum(_costs(asked))


def test_the_choice_outlives_restarts_and_opting_out(tmp_path: Path) -> None:
    survey = Survey("s", "o", levels())
    with strict(survey, tmp_path, consent=None) as client:
        assert client.choose("open")  # before consent: held in memory
        assert list(tmp_path.iterdir()) == []
        client.opt_in()
    with strict(survey, tmp_path) as client:
        assert [q.level for q in client.survey.asked] == ["open"]
        client.opt_out()
        client.opt_in()
    with strict(survey, tmp_path) as client:
        assert [q.level for q in client.survey.asked] == ["open"]


def test_a_question_without_the_chosen_level_is_not_answered(tmp_path: Path) -> None:
    other = replace(question("other"), level="open")
    one = question("one")
    with strict(Survey("s", "o", (*levels(), other, one)), tmp_path) as client:
        client.choose("strict")
        with pytest.raises(RecordRefused, match="no such question"):
            client.record("other", True)
        client.record("one", True)
        client.record("page", "x")
        with pytest.raises(InvalidParameter, match="strict, open"):
            client.choose("lax")


def test_another_process_s_choice_holds_at_once(tmp_path: Path) -> None:
    survey, clock = Survey("s", "o", levels()), Clock()
    with strict(survey, tmp_path, clock=clock) as one, strict(survey, tmp_path, clock=clock) as two:
        two.choose("open")
        with pytest.raises(RecordRefused, match="Another process"):
            one.record("page", "x")
        one.record("page", "x")
        assert [q.level for q in one.survey.asked] == ["open"]


def test_only_the_chosen_level_is_set_aside(tmp_path: Path) -> None:
    asked = levels()
    room = sum(_costs(asked)[:1]) / 1e6 + 0.000001
    with strict(Survey("s", "o", asked), tmp_path, ceiling=room) as client:
        client.record("page", "x")


def test_an_absent_answer_is_reported_at_the_level(tmp_path: Path) -> None:
    clock = Clock()
    asked = tuple(
        replace(question("q", send="always", parameters={"epsilon": e}), level=name)
        for e, name in ((0.5, "strict"), (2.0, "open"))
    )
    with strict(Survey("s", "o", asked), tmp_path, clock=clock) as client:
        client.choose("open")
        client.flush()
        clock.forward(days=1)
        client.flush()
        assert [report.digest for report in client.pending()] == [asked[1].digest]


def test_a_new_value_of_a_segment_redraws_nothing(tmp_path: Path) -> None:
    asked = replace(strings("page", {"f": 0.5, "p": 0.0, "q": 1.0, "k": 64, "h": 2, "m": 4}))
    records, clock = [], Clock()
    for values in (("linux",), ("linux", "beos")):
        survey = Survey("s", "o", (replace(asked, segments=(Segment("platform", values),)),))
        with strict(survey, tmp_path, clock=clock, segments={"platform": "beos"}) as client:
            client.record("page", "x")
            records = [(report.segments, report.record) for report in client.pending()]
        clock.forward(days=1)
    (one, first), (two, second) = sorted(records)
    assert first == second
    assert (one, two) == ('{"platform":"(other)"}', '{"platform":"beos"}')


def test_segments_wait_in_the_outbox_as_they_were(tmp_path: Path) -> None:
    survey = Survey("s", "o", (replace(question("q"), segments=(PLATFORM,)), question("plain")))
    with strict(survey, tmp_path, segments={"platform": "mac", "unknown": "x"}) as client:
        client.record("q", True)
        client.record("plain", True)
    with strict(survey, tmp_path, segments={"platform": "linux"}) as client:
        told = {report.question: report.segments for report in client.pending()}
    assert told == {"q": '{"platform":"mac"}', "plain": ""}


@pytest.mark.parametrize("segments", [{"platform": 1}, ["platform"], {1: "linux"}])
def test_segments_are_a_mapping_of_texts(tmp_path: Path, segments: object) -> None:
    with pytest.raises(InvalidParameter, match="'segments' parameter"):
        Client(Survey("s", "o", (question("q"),)), tmp_path, segments=segments)  # type: ignore[arg-type]


def _some(threshold: int, **changes: object) -> Question:
    return replace(question("q", **changes), asked=threshold)  # type: ignore[arg-type]


def test_a_device_that_is_not_asked_spends_and_sends_nothing(tmp_path: Path) -> None:
    clock = Clock()
    survey = Survey("s", "o", (_some(1, send="always"), question("other")))
    with strict(survey, tmp_path, clock=clock, ceiling=1.0) as client:
        with pytest.raises(RecordRefused, match="not this one"):
            client.record("q", True)
        client.record("other", True)  # what the first would set aside is free
        clock.forward(days=3)
        client.flush()
        assert [report.question for report in client.pending()] == ["other"]
        assert client.counters()["q", "not_asked"] >= 2


def test_the_coin_is_the_secret_s_and_a_larger_share_keeps_who_was_asked(tmp_path: Path) -> None:
    with strict(Survey("s", "o", (_some(2**63),)), tmp_path) as client:
        try:
            client.record("q", True)
            asked = True
        except RecordRefused:
            asked = False
    secret = (tmp_path / FILE_NAME).read_bytes()
    assert is_asked(secret, _some(2**63)) == asked
    told = [is_asked(secret, _some(2**60 * i)) for i in range(1, 16)]
    assert told == sorted(told)
    assert is_asked(secret, replace(_some(2**63), version=2, level="strict")) == asked


def test_the_share_of_devices_that_are_asked() -> None:
    secrets = [i.to_bytes(32, "little") for i in range(4_000)]
    asked = sum(is_asked(secret, _some(2**64 // 10)) for secret in secrets)
    accept(proportion(asked, len(secrets), 0.1), alpha=1e-9)
    # 4,000 x 0.1: standard deviation 19; 0.15 expects 600, some ten of its deviations away.
    reject(proportion(asked, len(secrets), 0.15), alpha=1e-9, miss=1e-9)


def test_a_client_without_segments_and_levels_loads_nothing_for_them(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from deniable import Client\n"
        f"client = Client({str(tmp_path / 'survey.json')!r}, {str(tmp_path / 'state')!r})\n"
        "client.opt_in(); client.record('q', True, wait=True); client.close()\n"
        "print(*sorted(name for name in sys.modules if name.startswith('deniable.')))"
    )
    loaded = {}
    for name, asked in (("plain", question("q")), ("clear", _with_platform(question("q")))):
        (tmp_path / "survey.json").write_bytes(Survey("s", "o", (asked,)).published())
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        loaded[name] = set(done.stdout.split())
    assert loaded["clear"] - loaded["plain"] == {
        "deniable.protocol.levels",
        "deniable.protocol.segments",
    }


def _with_platform(asked: Question) -> Question:
    return replace(asked, segments=(PLATFORM,))


def test_no_consent_no_level_on_the_disk(tmp_path: Path) -> None:
    survey = Survey("s", "o", levels())
    with strict(survey, tmp_path, consent=Consent.DENIED) as client:
        client.choose("open")
        assert list(tmp_path.iterdir()) == []
