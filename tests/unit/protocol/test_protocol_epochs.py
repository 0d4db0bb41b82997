"""Time as a report knows it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.protocol.epochs import date_of, day_number, day_of, days_of, epoch_of

days = st.integers(-700_000, 2_900_000)
lengths = st.integers(1, 366)


def test_day_zero_is_the_first_of_1970() -> None:
    assert day_of(date(1970, 1, 1)) == 0
    assert day_of(date(1969, 12, 31)) == -1
    assert day_number(datetime(2026, 11, 15, tzinfo=UTC)) == 20772


def test_days_are_utc_days_wherever_the_clock_is() -> None:
    east, west = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
    assert day_number(datetime(1970, 1, 2, 13, 59, tzinfo=east)) == 0
    assert day_number(datetime(1970, 1, 2, 14, 0, tzinfo=east)) == 1
    assert day_number(datetime(1969, 12, 31, 12, 0, tzinfo=west)) == 0


def test_now_is_between_before_and_after() -> None:
    before = datetime.now(UTC).timestamp() // 86400
    assert before <= day_number() <= datetime.now(UTC).timestamp() // 86400


@given(days)
def test_days_and_dates_are_two_names_of_one_thing(day: int) -> None:
    assert day_of(date_of(day)) == day


@given(days, lengths)
def test_an_epoch_holds_its_days_also_before_1970(day: int, length: int) -> None:
    epoch = epoch_of(day, length)
    first, last = days_of(epoch, length)
    assert first <= day <= last
    assert last - first + 1 == length
    assert epoch_of(last + 1, length) == epoch + 1
    assert epoch_of(first - 1, length) == epoch - 1


@pytest.mark.parametrize(("day", "length", "epoch"), [(-1, 7, -1), (-7, 7, -1), (-8, 7, -2)])
def test_negative_days_round_down(day: int, length: int, epoch: int) -> None:
    assert epoch_of(day, length) == epoch
