"""Mutated requests over all routes: a hundredth of benchmarks/hostile.py."""

from __future__ import annotations

import asyncio
from pathlib import Path

from _collector_process import WORDS_BY, Serving, batch
from _hostile import EXPECTED, Mutator, Outcome, attack, judge
from deniable.store import STORE_FILE, SqliteStore


def test_nothing_fails_hangs_grows_or_is_lost(tmp_path: Path) -> None:
    with Serving(tmp_path, "--cors") as serving:
        outcome = asyncio.run(attack(serving, 10_000, seed=7))
        assert judge(serving, outcome) == []
    assert outcome.sent == 10_000
    assert {200, 400, 404, 405, 415, 421} <= set(outcome.statuses) <= EXPECTED
    assert outcome.accepted > 0
    with SqliteStore(tmp_path / "data" / STORE_FILE) as store:
        stored = sum(tally.reports for tally in store.tallies())
        counters = store.counters()
        accepted = {name: n for (name, reason), n in counters.items() if reason == "accepted"}
        assert accepted.keys() == {asked.id for asked in WORDS_BY}
        assert stored == sum(accepted.values()) >= outcome.accepted
        assert {reason for _, reason in counters} >= {"segments", "schema"}


def test_control_the_judge_sees_what_is_wrong(tmp_path: Path) -> None:
    with Serving(tmp_path) as serving:
        (tmp_path / "errors").write_text("Traceback (most recent call last):")
        bad = Outcome(accepted=5, hung=1, wrong=["500"], memory=[0, 0, 10**9])
        assert len(judge(serving, bad)) == 5


def test_both_forms_are_among_the_mutations() -> None:
    mutator = Mutator(3)
    sent = [mutator.next() for _ in range(500)]
    for media in (b"application/json", b"application/vnd.deniable.reports"):
        assert sum(media in message for message in sent) > 50


def test_mutations_can_be_repeated() -> None:
    def some(seed: int) -> list[bytes]:
        mutator = Mutator(seed)
        return [mutator.next() for _ in range(200)]

    assert some(1) == some(1) != some(2)
    assert batch(2) != batch(2)
