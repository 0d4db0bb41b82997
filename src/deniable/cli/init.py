"""deniable init: a survey to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.output import JsonFlag, emit_json, out, write_file
from deniable.errors import InvalidParameter

STARTER = """\
# A Deniable survey. `deniable check` says what is wrong, `deniable explain` what it promises,
# `deniable publish` turns it into the survey.json that clients and collector read.
name = "my-app"
owner = "privacy@example.org"
people = 50_000                      # whom you expect; warnings and "auto" use it

[[questions]]
id = "dark-mode"
description = "Is dark mode on?"
expires = 2027-12-31                 # the last day on which it is asked
domain = "boolean"
mechanism = "krr"                    # randomised response; answered once per device
parameters = { epsilon = 1.0 }

[[questions]]
id = "browser"
description = "The browser that is opened most."
expires = 2027-12-31
epoch = 7                            # at most one report per week
domain = { type = "categories", values = ["firefox", "chrome", "safari", "edge", "other"] }
mechanism = "rappor"                 # a permanent response, so that weekly reports add nothing
parameters = { epsilon = 1.0, epsilon_forever = 4.0 }

[[questions]]
id = "homepage"
description = "The page shown at start."
expires = 2027-12-31
epoch = 7
domain = { type = "strings" }        # candidates = "homepages.txt" names a file of strings to test
mechanism = "rappor"
parameters = { k = 128, h = 2, m = 16, f = 0.5, p = 0.5, q = 0.75 }

[[questions]]
id = "memory"
description = "Memory of the machine in GiB."
expires = 2027-12-31
domain = { type = "numbers", low = 1, high = 256, bins = 8, scale = "log" }
mechanism = "krr"
parameters = { epsilon = 1.5 }
"""


def init(
    path: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("survey.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: JsonFlag = False,
) -> None:
    """Write a survey to start from, with every kind of domain in it."""
    if path.exists() and not force:
        raise InvalidParameter(f"{path} exists already. Name another file, or use --force.")
    write_file(path, STARTER.encode())
    if json:
        emit_json({"path": str(path)})
    else:
        out.print(f"Wrote {path}. Next: edit it, then run: deniable check {path}", markup=False)
