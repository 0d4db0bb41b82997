"""Processes that record and upload, until they are done or killed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from deniable.client import Client
from deniable.errors import RecordRefused, StoreError
from deniable.protocol.epochs import day_number, epoch_of
from faults.client_material import LEVELS, SURVEY, VALUES, Clock, a_client
from faults.limits import limit_files

THREADS = 3
_DAYS_OF_A_LEVEL = 2


def live(choice: dict[str, Any], tell: Callable[[Any], None]) -> None:
    """Record all questions on some days in turn, and send them.

    Args:
        choice: folder, endpoint, moment (seconds since 1970), days, strict, and perhaps
            largest_file.
        tell: called with ("day", seconds) for each day, and with ("recorded", question, epoch) for
            each report that the client has promised to keep.
    """
    limit_files(choice.get("largest_file"))
    clock = Clock(datetime.fromisoformat(choice["moment"]))
    client = a_client(
        Path(choice["folder"]), clock, endpoint=choice["endpoint"], strict=choice["strict"]
    )
    try:
        client.opt_in()
    except StoreError:
        tell(("full",))
        return
    tell(("open",))
    for number in range(choice["days"]):
        clock.moment += timedelta(days=bool(number))
        tell(("day", clock.moment.isoformat()))
        if number % _DAYS_OF_A_LEVEL == 0:
            with suppress(StoreError):  # on a full disk it holds for this process all the same
                client.choose(LEVELS[(number // _DAYS_OF_A_LEVEL) % len(LEVELS)])
        _record(client, clock, choice["strict"], tell)
        if number % 2 or number == choice["days"] - 1:
            client.flush(60.0)  # on other days reports wait until they are due
    client.close(60.0)
    tell(("done",))


def _record(client: Client, clock: Clock, strict: bool, tell: Callable[[Any], None]) -> None:
    if strict:
        _record_all(client, clock, tell)
        return
    workers = [
        threading.Thread(target=_record_all, args=(client, clock, tell)) for _ in range(THREADS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def _record_all(client: Client, clock: Clock, tell: Callable[[Any], None]) -> None:
    epochs = {question.id: question.epoch for question in SURVEY.questions}
    for name, value in VALUES.items():
        try:
            kept = client.record(name, value, wait=True)
        except RecordRefused as refusal:
            if refusal.reason != "answered":
                tell((refusal.reason, name))
        else:
            if kept:
                tell(("recorded", name, epoch_of(day_number(clock.moment), epochs[name])))
