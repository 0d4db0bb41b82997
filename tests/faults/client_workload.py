"""What a client goes through while its writes are recorded: `python -m faults.client_workload`.

It says what it is about to do and what it has promised; its collector says what it has seen.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta
from pathlib import Path

from deniable.client import Client, Request, Response
from deniable.errors import RecordRefused
from deniable.protocol.epochs import day_number, epoch_of
from faults.client_material import LEVELS, START, SURVEY, VALUES, Clock, a_client, reports_of
from faults.store_workload import say, use_small_log

EPOCHS = {question.id: question.epoch for question in SURVEY.questions}


class _Collector:
    """Says what it was sent before it answers: from then on the world knows it."""

    def __init__(self) -> None:
        self.busy = False

    def send(self, request: Request) -> Response:
        reports = reports_of(request.body or b"")
        for report in reports:
            text = report.as_json()
            say(" ".join(["sent", *(str(text[k]) for k in ("question", "epoch", "id", "record"))]))
        if self.busy:
            return Response(503)
        receipt = {"accepted": len(reports), "duplicates": 0, "problems": []}
        return Response(200, {"content-type": "application/json"}, json.dumps(receipt).encode())


def main() -> None:
    """Record and send for some days, opt out and in again, and end in the middle."""
    root, rounds, careless = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "careless"
    use_small_log(careless)
    clock, collector = Clock(START), _Collector()
    for number in range(rounds):
        with a_client(root / "state", clock, transport=collector) as client:
            say("enter")
            client.opt_in()
            say("in")
            for _ in range(3):
                collector.busy = not collector.busy
                client.choose(LEVELS[number % len(LEVELS)])
                for name, value in VALUES.items():
                    epoch = epoch_of(day_number(clock.moment), EPOCHS[name])
                    if _is_new(client, name, value):
                        say(f"recorded {name} {epoch}")
                if collector.busy:  # else they wait, and those that are due leave at the end
                    client.flush(1.0)
                clock.moment += timedelta(days=1)
            if number % 2:
                say("out")
                client.opt_out()
                say("outside")
    os._exit(0)


def _is_new(client: Client, name: str, value: object) -> bool:
    try:
        client.record(name, value)
    except RecordRefused as refusal:
        if refusal.reason != "answered":
            raise
        return False
    return True


if __name__ == "__main__":
    main()
