"""The budget per window of days: whatever is recorded whenever, no window exceeds it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.client import Client
from deniable.errors import InvalidParameter, RecordRefused
from deniable.protocol import Question
from deniable.protocol.epochs import day_number, days_of, epoch_of
from material.clients import COLOURS, Clock, question, strict, strings, survey

DAILY = question("daily")  # a fresh epsilon of 1 for every report
WEEKLY = question("weekly", epoch=7)
KEPT = question("kept", COLOURS, parameters={"epsilon": 0.5, "epsilon_forever": 1.5}, epoch=2)
ONCE = question("once", repeat="once")
PERMANENT = question("same", COLOURS, repeat="permanent", epoch=3)
ASKED = survey(DAILY, WEEKLY, KEPT, ONCE, PERMANENT)
VALUES: dict[str, list[object]] = {"daily": [True, False], "weekly": [True], "once": [False]}


def reason_of(client: Client, name: str, value: object) -> str:
    try:
        client.record(name, value)
    except RecordRefused as refusal:
        return refusal.reason
    return ""


def spent(client: Client) -> int:
    return sum(line.micros for line in client.disclosed().questions)


STEPS = st.lists(
    st.tuples(
        st.integers(-8, 9),  # days that the clock goes
        st.sampled_from(ASKED.questions),
        st.integers(0, 2),  # which value
        st.sampled_from(["", "", "restart", "opt out and in"]),
    ),
    max_size=18,
)


@settings(max_examples=50, deadline=None)
@given(STEPS, st.sampled_from([1.0, 1.5, 2.5, 4.0]), st.sampled_from([1, 3, 7, 10]))
def test_no_window_exceeds_its_budget(
    steps: list[tuple[int, Question, int, str]], epsilon: float, days: int
) -> None:
    """Every window of days, summed one by one from what the totals grew by."""
    with tempfile.TemporaryDirectory() as directory:
        clock, charges = Clock(), list[tuple[int, int, int]]()
        made = {"clock": clock, "window": (epsilon, days)}
        client = strict(ASKED, Path(directory), **made)
        for forward, asked, which, event in steps:
            clock.forward(days=forward)
            if event == "restart":
                client.close()
                client = strict(ASKED, Path(directory), **made)
            elif event:
                client.opt_out()
                client.opt_in()
            before = spent(client)
            values = VALUES.get(asked.id, ["red", "green", "blue"])
            reason_of(client, asked.id, values[which % len(values)])
            epoch = epoch_of(day_number(clock.moment), asked.epoch)
            charges.append((*days_of(epoch, asked.epoch), spent(client) - before))
        first = min((charge[0] for charge in charges), default=0) - days
        last = max((charge[1] for charge in charges), default=0)
        sums = [
            sum(m for begin, end, m in charges if begin < start + days and start <= end)
            for start in range(first, last + 1)
        ]
        assert max(sums) <= epsilon * 1e6
        assert client.disclosed().fullest == max(sums)
        client.close()


def test_what_does_not_fit_is_counted_and_costs_nothing(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(DAILY), tmp_path, clock=clock, window=(2.0, 7))
    reasons = []
    for _ in range(10):
        reasons.append(reason_of(client, "daily", True))
        clock.forward(days=1)
    # Two in any seven days: the first two, and two again a week later.
    assert reasons == ["", "", "window", "window", "window", "window", "window", "", "", "window"]
    assert client.counters() == {("daily", "window"): 6}
    assert len(client.pending()) == 4
    assert client.disclosed().questions[0].reports == 4


def test_what_was_held_back_may_still_be_reported_in_its_epoch(tmp_path: Path) -> None:
    """Nothing is marked as answered: another question's room decides."""
    clock = Clock()
    tight = strict(survey(DAILY, WEEKLY), tmp_path, clock=clock, window=(1.0, 3))
    tight.record("daily", True)
    assert reason_of(tight, "weekly", True) == "window"
    wide = strict(survey(DAILY, WEEKLY), tmp_path, clock=clock, window=(2.0, 3))
    wide.record("weekly", True)
    assert reason_of(wide, "weekly", True) == "answered"


def test_a_report_belongs_to_all_days_of_its_epoch(tmp_path: Path) -> None:
    """START is a Monday, day 20514 = 2930 * 7 + 4: its week ends two days later."""
    clock = Clock()
    client = strict(survey(DAILY, WEEKLY), tmp_path, clock=clock, window=(1.0, 1))
    client.record("weekly", True)
    reasons = []
    for _ in range(4):
        reasons.append(reason_of(client, "daily", True))
        clock.forward(days=1)
    assert reasons == ["window", "window", "window", ""]


def test_what_is_paid_for_goes_on(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(KEPT), tmp_path, clock=clock, window=(1.5, 30))
    client.record("kept", "red")
    clock.forward(days=2)
    assert reason_of(client, "kept", "blue") == "window"
    client.record("kept", "red")
    assert client.disclosed().questions[0].reports == 2


def test_it_stands_beside_the_ceiling(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(DAILY), tmp_path, clock=clock, window=(1.0, 2), ceiling=2.0)
    reasons = []
    for _ in range(5):
        reasons.append(reason_of(client, "daily", True))
        clock.forward(days=1)
    assert reasons == ["", "window", "", "ceiling", "ceiling"]


def test_it_counts_what_was_reported_before_there_was_one(tmp_path: Path) -> None:
    clock = Clock()
    strict(survey(DAILY), tmp_path, clock=clock).record("daily", True)
    clock.forward(days=1)
    client = strict(survey(DAILY), tmp_path, clock=clock, window=(1.0, 2))
    assert reason_of(client, "daily", True) == "window"


def test_a_clock_that_was_wrong_is_no_way_around(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(DAILY), tmp_path, clock=clock, window=(1.0, 5))
    clock.forward(days=4)
    client.record("daily", True)
    clock.forward(days=-4)
    assert reason_of(client, "daily", True) == "window"  # five days that hold both
    clock.forward(days=-1)
    client.record("daily", True)


def test_an_absent_answer_that_does_not_fit_is_counted_once(tmp_path: Path) -> None:
    clock, always = Clock(), question("always", send="always")
    client = strict(survey(always), tmp_path, clock=clock, window=(0.5, 7))
    clock.forward(days=1)
    client.flush()
    client.flush()
    assert client.counters() == {("always", "window"): 1}
    assert client.pending() == []


def test_what_was_disclosed_says_it(tmp_path: Path) -> None:
    client = strict(survey(strings()), tmp_path, ceiling=16.0, window=(5.0, 30))
    assert client.disclosed().fullest == 0
    client.record("page", "a")
    assert str(client.disclosed()).splitlines() == [
        "page: epsilon 4.395 in 1 report of 1 answer",
        "total: epsilon 4.395 of 16",
        "any 30 days: epsilon 4.395 at most so far, of 5",
    ]


@pytest.mark.parametrize(
    ("window", "name"),
    [(1.0, "window"), ((1.0,), "window"), ((0, 7), "epsilon"), ((1.0, 0), "epochs")],
)
def test_what_is_no_budget_is_refused(tmp_path: Path, window: object, name: str) -> None:
    with pytest.raises(InvalidParameter, match=f"'{name}'"):
        strict(ASKED, tmp_path, window=window)
