"""Work is done once; failures are not kept; little is remembered."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from deniable.dashboard.cache import Cache


def test_a_value_is_made_once() -> None:
    cache: Cache[str, object] = Cache(4)
    first = cache.get("a", object)
    assert cache.get("a", object) is first
    assert cache.get("b", object) is not first
    assert "a" in cache
    assert "c" not in cache


def test_threads_that_ask_together_wait_for_one_of_them() -> None:
    cache: Cache[str, int] = Cache(4)
    lock, made = threading.Lock(), 0

    def make() -> int:
        nonlocal made
        with lock:
            made += 1
        time.sleep(0.05)
        return 7

    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(lambda _: cache.get("a", make), range(8)))
    assert values == [7] * 8
    assert made == 1


def test_a_failure_reaches_everybody_and_is_tried_again() -> None:
    cache: Cache[str, int] = Cache(4)

    def fail() -> int:
        time.sleep(0.02)
        raise ValueError("no")

    def ask(_: int) -> str:
        try:
            return str(cache.get("a", fail))
        except ValueError as error:
            return str(error)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(4))) == {"no"}
    assert cache.get("a", lambda: 5) == 5


def test_the_value_asked_for_longest_ago_goes_first() -> None:
    cache: Cache[str, int] = Cache(2)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda: 1)
    assert "a" in cache
    assert "b" not in cache
    with pytest.raises(ZeroDivisionError):
        cache.get("b", lambda: 1 // 0)
