#!/usr/bin/env python3
"""A command-line tool with telemetry that people accept: `./tally.py words FILE`.

It counts lines, words or letters. On its first run in a terminal it says what it would like to
know, and asks. In a pipe, a script or a build service it is silent and sends nothing.

    ./tally.py words README.md
    ./tally.py telemetry show       what would leave, and what it could tell anybody
    ./tally.py telemetry on|off     change your mind
    DENIABLE_DEBUG=1 ./tally.py words README.md     print the report instead of sending it
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from deniable import Client

SURVEY = Path(__file__).with_name("survey.json")
COLLECTOR = os.environ.get("TALLY_COLLECTOR", "https://telemetry.example.org")
COUNTING: dict[str, Callable[[str], int]] = {
    "lines": lambda text: len(text.splitlines()),
    "words": lambda text: len(text.split()),
    "letters": len,
}
MEGABYTE = 1_000_000


def state_folder() -> Path:
    """Return the folder of this tool on this device, outside of what people synchronise."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(base) / "tally"


def count(client: Client, command: str, files: list[Path]) -> None:
    """Count, and record which command was used and whether a file was large."""
    for path in files:
        print(f"{COUNTING[command](path.read_text('utf-8')):8,}  {path}")
    client.record("command", command)
    client.record("large-file", any(path.stat().st_size > MEGABYTE for path in files))


def telemetry(client: Client, word: str) -> None:
    """Show what would leave, or change the consent."""
    if word == "show":
        print(client.explain())
        for report in client.pending():
            print(report.as_json())
    elif word == "on":
        client.opt_in()
    else:
        client.opt_out()
    print(f"Telemetry: {client.consent.value}.")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Count lines, words or letters of files.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in COUNTING:
        commands.add_parser(name).add_argument("files", nargs="+", type=Path)
    commands.add_parser("telemetry").add_argument("word", choices=["show", "on", "off"])
    wanted = parser.parse_args()
    client = Client(SURVEY, state_folder(), COLLECTOR)
    if wanted.command == "telemetry":
        telemetry(client, wanted.word)
    else:
        client.ask()
        count(client, wanted.command, wanted.files)
    # Reports that are due leave now; the others leave at a later run, at a moment of their own.
    client.close(timeout=1.0)


if __name__ == "__main__":
    main()
