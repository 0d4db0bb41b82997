"""What the ceiling leaves out: decided by the secret, whatever the order of calls."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.client import Client, Response, ledger
from deniable.client.database import FILE_NAME, MIGRATIONS
from deniable.client.randomness import SystemDraws
from deniable.client.reservation import Reserving, Terms, in_order, paid_mark
from deniable.client.secret import AccountSecret, SecretFile
from deniable.errors import RecordRefused
from deniable.protocol import Question, Survey
from deniable.protocol.composition import first_cost, first_fit
from deniable.protocol.epochs import day_number, day_of
from deniable.protocol.epsilon import MICRO
from material.clients import COLOURS, Clock, Script, question, strict, strings, survey

ACCOUNT = b"an account's own secret of many bytes"


def reason_of(client: Client, name: str, value: object) -> str:
    try:
        client.record(name, value)
    except RecordRefused as refusal:
        return refusal.reason
    return ""


def spent(client: Client) -> int:
    return sum(line.micros for line in client.disclosed().questions)


@st.composite
def questions(draw: st.DrawFn, name: str) -> Question:
    """A question of any way to be charged, of some epsilon."""
    kind = draw(st.sampled_from(["once", "epoch", "permanent", "memoised", "always"]))
    epsilon = draw(st.sampled_from([0.25, 0.5, 1.0, 1.5, 3.0]))
    parameters: dict[str, object] = {"epsilon": epsilon}
    if kind in ("memoised", "always"):
        parameters["epsilon_forever"] = 2 * epsilon
    return question(
        name,
        COLOURS,
        parameters=parameters,
        repeat=kind if kind in ("once", "permanent") else "epoch",
        send="always" if kind == "always" else "recorded",
        epoch=draw(st.sampled_from([1, 1, 2])),
    )


@st.composite
def surveys(draw: st.DrawFn) -> Survey:
    number = draw(st.integers(1, 7))
    return survey(*(draw(questions(f"q{i}")) for i in range(number)))


def answered(
    asked: Survey, secret: bytes, ceiling: float, days: Sequence[Sequence[tuple[str, str]]]
) -> tuple[set[str], int]:
    """Return the questions that were ever answered with these calls of each day, and the sum."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as directory:
        client = strict(asked, Path(directory), clock=clock, ceiling=ceiling, account_secret=secret)
        for calls in days:
            for name, value in calls:
                assert reason_of(client, name, value) in ("", "answered", "ceiling")
                assert spent(client) <= ceiling * 10**6
            clock.forward(days=1)
        return {line.question for line in client.disclosed().questions}, spent(client)


@settings(max_examples=60, deadline=None)
@given(
    surveys(),
    st.binary(min_size=16, max_size=16),
    st.sampled_from([0.3, 1.0, 2.5, 4.0, 8.0]),
    st.randoms(use_true_random=False),
    st.integers(1, 4),
)
def test_the_order_of_calls_changes_nothing(
    asked: Survey, secret: bytes, ceiling: float, rng: random.Random, length: int
) -> None:
    """The same questions are answered, whichever is called first on whichever day."""
    plans = []
    for _ in range(2):
        # Every question is called on every day, in another order and with other values.
        days = []
        for _ in range(length):
            calls = [(q.id, rng.choice(COLOURS.values)) for q in asked.questions]
            rng.shuffle(calls)
            days.append(calls)
        plans.append(answered(asked, secret, ceiling, days))
    assert plans[0][0] == plans[1][0]
    assert max(total for _, total in plans) <= ceiling * 10**6


@settings(max_examples=60, deadline=None)
@given(surveys(), st.binary(min_size=16, max_size=16), st.sampled_from([0.3, 1.0, 2.5, 4.0, 8.0]))
def test_what_is_answered_is_what_the_order_says(
    asked: Survey, secret: bytes, ceiling: float
) -> None:
    """The slow twin: walk the order from an empty ledger."""
    walked = in_order(AccountSecret(secret).load(), asked.questions)
    fits = first_fit([first_cost(q) for q in walked], round(ceiling * 10**6))
    expected = {q.id for q, fit in zip(walked, fits, strict=True) if fit}
    calls = [(q.id, "red") for q in asked.questions]
    assert answered(asked, secret, ceiling, [calls])[0] == expected


def test_first_come_would_not_pass() -> None:
    """The negative control: taking whoever comes first depends on the order of calls."""
    costs = {"a": 3, "b": 2, "c": 1}
    orders = (["a", "b", "c"], ["c", "b", "a"])
    taken = [
        {name for name, fit in zip(o, first_fit([costs[n] for n in o], 3), strict=True) if fit}
        for o in orders
    ]
    assert taken[0] != taken[1]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=9), st.integers(-3, 30), st.data())
def test_paying_lets_the_same_others_in(costs: list[int], room: int, data: st.DataObject) -> None:
    """The lemma of `first_fit`: payments, and spending of what is left, leave it as it is."""
    fits = first_fit(costs, room)
    assert sum(c for c, fit in zip(costs, fits, strict=True) if fit) <= max(room, 0)
    fitting = [i for i, fit in enumerate(fits) if fit]
    left = room - sum(costs[i] for i in fitting)
    extra = data.draw(st.integers(0, max(0, left)))
    assert first_fit(costs, room - extra) == fits or left < 0
    if fitting:
        paid = data.draw(st.sampled_from(fitting))
        rest = costs[:paid] + costs[paid + 1 :]
        assert first_fit(rest, room - costs[paid]) == fits[:paid] + fits[paid + 1 :]


@settings(max_examples=200, deadline=None)
@given(surveys(), st.binary(min_size=32, max_size=32), st.integers(0, 20), st.data())
def test_where_there_is_plenty_looking_closely_finds_room(
    asked: Survey, secret: bytes, ceiling: int, data: st.DataObject
) -> None:
    """Whatever was paid for: a report that is let in without a look would be with one."""
    free = ceiling * MICRO // 4
    mine = data.draw(st.sampled_from(asked.questions))
    micros = data.draw(st.integers(0, first_cost(mine)))
    terms = Terms(asked, free, 0, frozenset(q.digest for q in asked.known), b"")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(MIGRATIONS[0].read_text("utf-8"))
        for paid in data.draw(st.sets(st.sampled_from(asked.questions))):
            ledger.mark_paid(connection, paid_mark(secret, paid))
        reserving = Reserving()
        reserving.take_up(asked, secret)
        plenty = reserving.has_plenty(mine, micros, free)
        closely = reserving.now(connection, terms, secret, free, frozenset())
    assert reserving.mark(secret, mine) == paid_mark(secret, mine)
    assert plenty <= (micros <= closely.room(mine, free))
    assert plenty == (sum(first_cost(q) for q in asked.questions) <= free)


def one_each(*names: str, **more: object) -> Survey:
    return survey(*(question(name, COLOURS, **more) for name in names))  # type: ignore[arg-type]


def test_only_what_is_left_pays_for_further_epochs(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(one_each("a", "b"), tmp_path, clock=clock, ceiling=3)
    for reason in ("", "", "ceiling"):  # a's first epoch, what is left, then b's own share
        assert reason_of(client, "a", "red") == reason
        clock.forward(days=1)
    assert reason_of(client, "b", "red") == ""
    assert client.disclosed().epsilon == 3.0


@pytest.mark.parametrize("account", [None, bytes(range(32))])
def test_what_is_paid_is_noted_again_after_another_process_wiped_it(
    tmp_path: Path, account: bytes | None
) -> None:
    """A client looks for the mark of the secret that it knows; another may have opted out."""
    asked, clock = one_each("a"), Clock()
    client = strict(asked, tmp_path, clock=clock, account_secret=account)
    other = strict(asked, tmp_path, clock=clock, account_secret=account)
    for _ in range(3):
        for _ in range(2):
            client.record("a", "red")
            clock.forward(days=1)
        secret = AccountSecret(account) if account else SecretFile(tmp_path, SystemDraws())
        with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
            tags = {bytes(row[0]) for row in connection.execute("SELECT tag FROM tags")}
        assert tags == {paid_mark(secret.load(), asked.questions[0])}
        other.opt_out()
        other.opt_in()


def test_only_what_is_left_pays_for_changed_values(tmp_path: Path) -> None:
    clock = Clock()
    kept = {"epsilon": 0.5, "epsilon_forever": 1.0}
    asked = one_each("a", "b", parameters=kept)
    client = strict(asked, tmp_path, clock=clock, ceiling=2.5)
    client.record("a", "red")
    clock.forward(days=1)
    assert reason_of(client, "a", "blue") == "ceiling"
    client.record("a", "red")  # costs nothing
    client.record("b", "red")
    assert client.disclosed().epsilon == 2.0


def test_a_question_that_does_not_fit_leaves_room_for_cheaper_ones(tmp_path: Path) -> None:
    asked = survey(
        question("dear", parameters={"epsilon": 9.0}), question("cheap"), question("fair")
    )
    client = strict(asked, tmp_path, ceiling=2)
    assert reason_of(client, "dear", True) == "ceiling"
    assert [reason_of(client, name, True) for name in ("cheap", "fair")] == ["", ""]


def test_new_questions_do_not_take_what_is_spent(tmp_path: Path) -> None:
    """A device that answered keeps its answers; the new survey's questions share the rest."""
    names = [f"q{i}" for i in range(8)]
    clock = Clock()
    client = strict(one_each(*names[:2], repeat="permanent"), tmp_path, clock=clock, ceiling=4)
    assert [reason_of(client, name, "red") for name in names[:2]] == ["", ""]
    clock.forward(days=1)
    more = strict(one_each(*names, repeat="permanent"), tmp_path, clock=clock, ceiling=4)
    reasons = {name: reason_of(more, name, "red") for name in names}
    assert reasons["q0"] == reasons["q1"] == ""  # paid for already
    assert sorted(reasons[name] for name in names[2:]) == ["", "", *["ceiling"] * 4]
    assert more.disclosed().epsilon == 4.0


def test_a_new_version_sets_aside_anew_and_old_charges_stay(tmp_path: Path) -> None:
    old, new = question("q", COLOURS), question("q", COLOURS, version=2)
    other = question("other", COLOURS)
    first = strict(survey(old, other), tmp_path, ceiling=3)
    first.record("q", "red")
    second = strict(replace(survey(new, other), earlier=(old,)), tmp_path, ceiling=3)
    assert [reason_of(second, n, "red") for n in ("q", "other")] == ["", ""]
    assert second.disclosed().epsilon == 3.0
    third = question("q", COLOURS, version=3)
    last = strict(replace(survey(third, other), earlier=(old, new)), tmp_path, ceiling=3)
    assert reason_of(last, "q", "red") == "ceiling"


def test_expired_and_withdrawn_questions_set_nothing_aside(tmp_path: Path) -> None:
    clock = Clock()
    over = question("over", COLOURS, expires=date(2026, 3, 1))
    withdrawn = question("withdrawn", COLOURS)
    asked = replace(survey(over, question("q", COLOURS)), earlier=(withdrawn,))
    client = strict(asked, tmp_path, clock=clock, ceiling=2)
    for reason in ("", "", "ceiling"):
        assert reason_of(client, "q", "red") == reason
        clock.forward(days=1)
    assert reason_of(client, "over", "red") == "expired"
    assert reason_of(client, "withdrawn", "red") == "unknown_question"


def test_a_share_is_set_aside_until_the_question_expires(tmp_path: Path) -> None:
    clock = Clock()
    soon = question("soon", COLOURS, expires=date(2026, 3, 2))
    client = strict(survey(soon, question("q", COLOURS)), tmp_path, clock=clock, ceiling=2)
    assert day_of(soon.expires) == day_number(clock())
    assert reason_of(client, "q", "red") == ""
    clock.forward(days=1)
    assert reason_of(client, "q", "red") == ""


def test_a_due_absent_answer_keeps_its_share_after_expiry(tmp_path: Path) -> None:
    """Or else its silence would tell that nothing was recorded."""
    clock = Clock()
    quiet = question("quiet", COLOURS, send="always", epoch=2, expires=date(2026, 3, 2))
    client = strict(survey(quiet, question("q", COLOURS)), tmp_path, clock=clock, ceiling=2)
    reasons = []
    for _ in range(3):
        reasons.append(reason_of(client, "q", "red"))
        clock.forward(days=1)
    assert reasons == ["", "ceiling", "ceiling"]
    assert [r.question for r in client.pending()].count("quiet") == 1


def test_an_epoch_seen_under_an_earlier_version_still_gets_its_absent_answer(
    tmp_path: Path,
) -> None:
    clock = Clock()
    old = question("quiet", COLOURS, send="always")
    strict(survey(old), tmp_path, clock=clock)
    new = replace(survey(question("quiet", COLOURS, send="always", version=2)), earlier=(old,))
    client = strict(new, tmp_path, clock=clock)
    clock.forward(days=1)
    client.flush()
    assert sorted(report.version for report in client.pending()) == [1, 2]
    clock.forward(days=1)
    client.flush()
    assert sorted(report.version for report in client.pending()) == [1, 2, 2]


@pytest.mark.parametrize("first", ["a", "b"])
def test_opting_out_and_in_draws_anew_within_the_same_ceiling(tmp_path: Path, first: str) -> None:
    """With a new secret a value costs again: both want a share, and one fits, whoever calls."""
    clock = Clock()
    asked = one_each("a", "b", repeat="permanent")
    client = strict(asked, tmp_path, clock=clock, ceiling=3, account_secret=ACCOUNT)
    assert [reason_of(client, name, "red") for name in "ab"] == ["", ""]
    client.opt_out()
    client.opt_in()
    clock.forward(days=1)
    names = [first, "b" if first == "a" else "a"]
    reasons = {name: reason_of(client, name, "red") for name in names}
    # The account's secret stays, so that the order is known: it is the same in both runs.
    winner = in_order(AccountSecret(ACCOUNT).load(), asked.questions)[0].id
    assert {name for name, reason in reasons.items() if not reason} == {winner}
    assert client.disclosed().epsilon == 3.0


def test_devices_of_an_account_leave_out_the_same_questions(tmp_path: Path) -> None:
    asked = one_each(*(f"q{i}" for i in range(9)), repeat="once")
    sets = []
    for name in ("one", "two"):
        client = strict(asked, tmp_path / name, ceiling=4, account_secret=ACCOUNT)
        order = [q.id for q in asked.questions][:: 1 if name == "one" else -1]
        sets.append({n for n in order if not reason_of(client, n, "red")})
    assert sets[0] == sets[1]
    assert len(sets[0]) == 4


def test_devices_leave_out_different_questions(tmp_path: Path) -> None:
    asked = one_each(*(f"q{i}" for i in range(9)), repeat="once")
    sets = set()
    for i in range(12):
        client = strict(asked, tmp_path / str(i), ceiling=4)
        sets.add(frozenset(q.id for q in asked.questions if not reason_of(client, q.id, "red")))
    assert len(sets) > 1  # all the same with probability 126^-11


def test_the_window_holds_nothing_back(tmp_path: Path) -> None:
    """A question that the window refuses keeps its share of the ceiling for a later day."""
    clock = Clock()
    client = strict(one_each("a", "b"), tmp_path, clock=clock, ceiling=2, window=(1.0, 2))
    assert [reason_of(client, name, "red") for name in "ab"] == ["", "window"]
    clock.forward(days=2)
    assert reason_of(client, "a", "red") == "ceiling"
    assert reason_of(client, "b", "red") == ""


def test_the_survey_names_the_ceiling_and_the_app_another(tmp_path: Path) -> None:
    asked = replace(one_each("a", "b", repeat="once"), ceiling=1_000_000)
    client = strict(asked, tmp_path / "survey", ceiling=None)
    assert client.disclosed().ceiling == 1.0
    assert sorted(reason_of(client, name, "red") for name in "ab") == ["", "ceiling"]
    app = strict(asked, tmp_path / "app", ceiling=2)
    assert app.disclosed().ceiling == 2.0
    assert [reason_of(app, name, "red") for name in "ab"] == ["", ""]
    default = strict(one_each("a"), tmp_path / "default", ceiling=None)
    assert default.disclosed().ceiling == 16.0


@pytest.mark.parametrize(
    ("app", "bundled", "fetched", "holds"),
    [
        (None, None, None, 16.0),
        (None, None, 4_000_000, 4.0),
        (None, None, 40_000_000, 16.0),
        (None, 8_000_000, None, 8.0),
        (None, 8_000_000, 4_000_000, 4.0),
        (None, 8_000_000, 9_000_000, 8.0),
        (2.0, 8_000_000, 9_000_000, 2.0),
        (20.0, 8_000_000, 9_000_000, 9.0),
        (20.0, 8_000_000, None, 20.0),
    ],
)
def test_a_fetched_survey_can_only_lower_the_ceiling(
    tmp_path: Path, app: float | None, bundled: int | None, fetched: int | None, holds: float
) -> None:
    own = replace(one_each("a"), ceiling=bundled)
    new = replace(one_each("a", "b"), ceiling=fetched)
    script = Script([lambda _: Response(200, {}, new.published())])
    client = strict(own, tmp_path, transport=script, ceiling=app)
    assert client.refresh()
    assert client.disclosed().ceiling == holds
    assert strict(own, tmp_path, ceiling=app).disclosed().ceiling == holds  # after a restart


def test_a_lowered_ceiling_stops_what_costs_and_nothing_else(tmp_path: Path) -> None:
    clock = Clock()
    asked = one_each("a", "b", repeat="permanent")
    lower = replace(asked, ceiling=500_000)
    script = Script([lambda _: Response(200, {}, lower.published())])
    client = strict(asked, tmp_path, clock=clock, transport=script)
    client.record("a", "red")
    assert client.refresh()
    clock.forward(days=1)
    assert reason_of(client, "a", "red") == ""  # costs nothing
    assert reason_of(client, "b", "red") == "ceiling"


def test_a_waiting_report_of_an_earlier_version_is_still_sent(tmp_path: Path) -> None:
    old = strings()
    first = strict(survey(old), tmp_path)
    first.record("page", "a")
    waiting = first.pending()
    new = replace(survey(strings(version=2)), earlier=(old,))
    script = Script()
    second = strict(new, tmp_path, transport=script)
    assert second.flush()
    assert second.pending() == []
    assert script.reports == waiting
