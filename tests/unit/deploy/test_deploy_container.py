"""The container file copies what there is, pins what it installs, and starts a command.

No container is built here: the test reads the file. `requirements/serve.txt` must be what the
collector needs, with the versions that the tests run with.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

from deniable.collector import Settings
from material.bare import packages_of
from material.commands import commands

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "deploy/Containerfile").read_text()
LINES = [line.partition(" ")[::2] for line in TEXT.splitlines() if re.match("[A-Z]+ ", line)]
PIN = re.compile(r"^([a-z0-9._-]+)==(\S+)", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    return dict(PIN.findall((ROOT / "requirements" / name).read_text()))


def test_everything_that_is_copied_is_there() -> None:
    copied = [rest.split()[:-1] for word, rest in LINES if word == "COPY" and "--from" not in rest]
    assert len(copied) == 3
    for path in (path for paths in copied for path in paths):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"requirements/\w+\.txt", TEXT):
        assert (ROOT / path).is_file(), path


def test_it_installs_pinned_packages_that_suffice() -> None:
    serve = pins("serve.txt")
    assert serve.items() <= pins("test.txt").items()
    needed = {name.replace("_", "-") for name in packages_of("cli", "server", "postgres")}
    assert needed <= set(serve)
    assert not {"numba", "scipy", "pyarrow", "altair"} & set(serve)
    assert "--require-hashes -r $REQUIREMENTS" in TEXT


def test_it_runs_as_nobody_in_particular_with_options_that_exist() -> None:
    last = dict(LINES)
    assert last["USER"] == "10001"
    verb, *options = json.loads(last["CMD"])
    known = {option for each in commands()[verb].params for option in each.opts}
    assert {option for option in options if option.startswith("--")} <= known
    settings = {f"DENIABLE_{each.name.upper()}" for each in fields(Settings)}
    assert set(re.findall(r"DENIABLE_\w+", TEXT)) <= settings
