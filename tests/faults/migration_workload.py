"""A client's folder of the first version that is opened: `python -m faults.migration_workload`.

It says when the folder is there, when its tables are the new ones, and when a report was added.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

from deniable.client import Client, Consent, files
from deniable.protocol import Survey
from faults.store_workload import say
from fixtures.looking import NOW
from fixtures.made_v1 import VALUES

V1 = Path(__file__).resolve().parent.parent / "fixtures" / "v1"
TOMORROW = NOW + timedelta(days=1)
ADDED = "dark"
"""What is recorded on the next day."""


def a_client(folder: Path) -> Client:
    """Return the client of a copy of the fixtures' folder."""
    survey = Survey.from_published((V1 / "survey.json").read_bytes())
    return Client(survey, folder, consent=Consent.GRANTED, strict=True, clock=lambda: TOMORROW)


def main() -> None:
    """Copy the folder, so that all its bytes are synced; open it, and record a value."""
    folder = Path(sys.argv[1]) / "state"
    files.make_directory(folder)
    for path in sorted((V1 / "client").iterdir()):
        files.write_new(folder / path.name, path.read_bytes())
    files.sync_directory(folder)
    say("copied")
    with a_client(folder) as client:
        client.disclosed()
        say("migrated")
        client.record(ADDED, VALUES[ADDED])
        say("recorded")
    os._exit(0)


if __name__ == "__main__":
    main()
