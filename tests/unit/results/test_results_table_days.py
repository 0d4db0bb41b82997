"""The days that a result covers, of epochs that are not over."""

from __future__ import annotations

from datetime import timedelta

import pytest

from deniable.protocol.epochs import date_of, day_number, days_of, epoch_of
from deniable.results.table import Epochs


@pytest.mark.parametrize("days", [1, 7, 30, 365])
def test_no_day_is_in_the_future(days: int) -> None:
    before = day_number()
    now = epoch_of(before, days)
    told = Epochs(now - 1, now, days).as_json()
    after = day_number()
    assert told["last_day"] in (date_of(before).isoformat(), date_of(after).isoformat())
    over = Epochs(now - 3, now - 1, days)
    assert over.last_day == date_of(days_of(now - 1, days)[1])


def test_reports_ahead_of_this_clock_cover_the_day_that_they_begin_with() -> None:
    ahead = day_number() + 10
    epochs = Epochs(ahead, ahead + 3, 1)
    assert epochs.first_day - date_of(day_number()) >= timedelta(days=9)
    assert epochs.last_day == epochs.first_day
