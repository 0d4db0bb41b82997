"""The systemd units are sound, hardened, and run commands that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from material.commands import commands
from material.tools import tool

UNITS = Path(__file__).parents[3] / "deploy/systemd"
COMMAND = "/opt/deniable/bin/deniable"


def placed(folder: Path, name: str) -> Path:
    """Write a unit whose command is an executable of this machine."""
    command = folder / "deniable"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    for unit in UNITS.glob("*.*"):
        text = unit.read_text().replace(COMMAND, str(command))
        (folder / unit.name.replace("@", "@8000" if "service" in name else "@")).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    "name", ["deniable@8000.service", "deniable-backup.service", "deniable-backup.timer"]
)
def test_units_are_sound(tmp_path: Path, name: str) -> None:
    words = [tool("systemd-analyze"), "verify", "--man=no", "--recursive-errors=no"]
    unit = placed(tmp_path, name)
    done = subprocess.run([*words, unit], capture_output=True, text=True, timeout=60)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "deniable" in line]
    assert (done.returncode, ours) == (0, [])
    unit.write_text(unit.read_text().replace("[Unit]", "[Unit]\nNoSuchKey=1", 1))
    done = subprocess.run([*words, unit], capture_output=True, text=True, timeout=60)
    assert "NoSuchKey" in done.stdout + done.stderr  # the check can fail


@pytest.mark.parametrize(
    ("name", "most"), [("deniable@8000.service", 20), ("deniable-backup.service", 25)]
)
def test_units_are_hardened(tmp_path: Path, name: str, most: int) -> None:
    """Exposure of 100 is a service without any protection, as systemd-analyze counts it."""
    words = [tool("systemd-analyze"), "security", "--offline=yes", f"--threshold={most}"]
    done = subprocess.run(
        [*words, placed(tmp_path, name)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout[-400:] + done.stderr


def test_units_call_commands_and_options_that_exist() -> None:
    called = [
        shlex.split(line.partition(COMMAND)[2].replace("'", ""))
        for unit in UNITS.glob("*.service")
        for line in re.findall(r"^ExecStart=.*$", unit.read_text(), re.MULTILINE)
    ]
    assert sorted(words[0] for words in called) == ["backup", "serve"]
    for words in called:
        known = {option for each in commands()[words[0]].params for option in each.opts}
        assert {word for word in words if word.startswith("--")} <= known
