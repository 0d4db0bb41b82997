"""Real collectors on other days: late reports are refused, and only then are the others deleted."""

from __future__ import annotations

import http.client
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from deniable.protocol.epochs import days_of
from deniable.store import open_store
from faults.checking import prepare
from faults.children import wait_for
from faults.kills import collector
from faults.material import EPOCH_DAYS, RETENTION, TODAY, asked, body, numbers_in
from faults.senders import JSON
from material.cluster import Cluster

NUMBERS = range(1, 121)
LAST = {name: days_of(TODAY // length, length)[1] for (name, _), length in EPOCH_DAYS.items()}
GONE = {name: LAST[name] + days + 1 for name, days in RETENTION.items()}
"""The first day on which a question's reports about today are refused, and deleted."""


class _On:
    """Collectors in one folder, on any day, with a survey and a store."""

    def __init__(self, folder: Path, place: str | None) -> None:
        self.folder, self.place = folder, place
        prepare(folder)

    def post(self, day: int, survey: str = "short.json") -> tuple[dict[str, Any], Counter[str]]:
        """Send every report, and give the collector time for a round of housekeeping.

        Returns the receipt, and the names of the questions that were refused as too late.
        """
        more = {} if self.place is None else {"place": self.place}
        expected = self.left_on(day) if survey == "short.json" else self.there()
        with collector(self.folder, day, survey=survey, hasty=True, **more) as child:
            connection = http.client.HTTPConnection("127.0.0.1", child.first(), timeout=60)
            connection.request("POST", "/v1/reports", body(NUMBERS), JSON)
            receipt: dict[str, Any] = json.loads(connection.getresponse().read())
            connection.close()
            wait_for(lambda: self.there() <= expected)
            child.terminate()
        assert {each["reason"] for each in receipt["problems"]} <= {"too_late"}
        late = Counter(asked(NUMBERS[each["index"]]).id for each in receipt["problems"])
        return receipt, late

    def left_on(self, day: int) -> set[int]:
        return {n for n in NUMBERS if day < GONE.get(asked(n).id, day + 1)}

    def there(self) -> set[int]:
        with open_store(self.place or self.folder / "data") as store:
            found = numbers_in(store)
        assert set(found.values()) <= {1}
        return set(found)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_reports_are_refused_and_then_gone_while_their_epoch_is_open(
    kind: str, tmp_path: Path, cluster: Cluster
) -> None:
    on = _On(tmp_path / "work", cluster.place("retention") if kind == "postgres" else None)
    of = Counter(asked(n).id for n in NUMBERS)
    first, late = on.post(TODAY)
    assert (first["accepted"], late) == (len(NUMBERS), Counter())
    for day in sorted({day for gone in GONE.values() for day in (gone - 1, gone)}):
        refused = {name for name, gone in GONE.items() if gone <= day}
        again, late = on.post(day)
        assert again["accepted"] == 0
        assert late == Counter({name: of[name] for name in refused})
        assert on.there() == {n for n in NUMBERS if asked(n).id not in refused}
    # A collector with the survey from before, or whose clock is behind, takes nothing twice.
    for day, survey in ((max(GONE.values()), "survey.json"), (TODAY, "short.json")):
        again, late = on.post(day, survey)
        assert (again["accepted"], again["duplicates"], late) == (0, len(NUMBERS), Counter())
        assert on.there() == {n for n in NUMBERS if asked(n).id == "daily"}
