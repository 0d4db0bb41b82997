"""Back-off and Retry-After."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.client.randomness import SystemDraws
from deniable.client.upload import Backoff, retry_after

NOW = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)


class Fixed(SystemDraws):
    """The same draw every time."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share

    def below(self, bound: int) -> int:
        return int(bound * self._share)


def test_the_highest_wait_doubles_up_to_the_cap_and_starts_again() -> None:
    backoff = Backoff(5, 60, Fixed(0.5))
    assert [backoff.failed() for _ in range(6)] == [2.5, 5, 10, 20, 30, 30]
    backoff.succeeded()
    assert backoff.failed() == 2.5


def test_the_jitter_is_full() -> None:
    waits = sorted(Backoff(5, 60, SystemDraws()).failed() for _ in range(400))
    # A fresh run fails with probability 2 * 0.9^400 < 1e-18.
    assert 0 <= waits[0] < 0.5
    assert 4.5 < waits[-1] < 5


def test_thousands_of_failures_stay_at_the_cap() -> None:
    backoff = Backoff(5, 3_600, Fixed(0.999))
    assert max(backoff.failed() for _ in range(5_000)) < 3_600


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("0", 0),
        (" 120 ", 120),
        ("86400", 86_400),
        ("999999999999", 86_400),
        ("9" * 500, None),
        ("Mon, 02 Mar 2026 12:01:30 GMT", 90),
        ("Monday, 02-Mar-26 12:01:30 GMT", 90),
        ("Mon, 02 Mar 2026 11:00:00 GMT", 0),
        ("Mon, 02 Mar 2099 12:00:00 GMT", 86_400),
        ("Mon, 02 Mar 2026 12:01:30 -0000", 90),
    ],
)
def test_both_forms_of_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


@given(st.text())
def test_no_header_breaks_the_reader(header: str) -> None:
    seconds = retry_after(header, NOW)
    assert seconds is None or 0 <= seconds <= 86_400
