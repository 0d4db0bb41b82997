"""The command starts light: help, version and an unknown verb import no verb and no package."""

from __future__ import annotations

import subprocess
import sys

import pytest

from deniable import __version__
from deniable.cli.app import VERBS

LOADED = """
import sys
sys.argv = ["deniable", *{arguments!r}]
from deniable.__main__ import main
try:
    main()
except SystemExit as end:
    print("code", end.code)
heavy = {{"numpy", "scipy", "numba", "starlette", "pyarrow", "altair"}} & set(sys.modules)
print("ours", sum(name.partition(".")[0] == "deniable" for name in sys.modules), "heavy", heavy)
"""


def started(*arguments: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(arguments=arguments)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize("arguments", [("--help",), (), ("--version",), ("nosuch",)])
def test_no_verb_and_no_package_is_imported_before_one_is_called(
    arguments: tuple[str, ...],
) -> None:
    out, _ = started(*arguments)
    assert "heavy set()" in out
    assert int(out.rpartition("ours ")[2].split()[0]) <= 8


def test_the_version_is_shown() -> None:
    out, _ = started("--version")
    assert f"deniable {__version__}\ncode 0" in out


def test_an_unknown_verb_is_wrong_usage_and_names_itself() -> None:
    out, err = started("nosuch")
    assert "No such command 'nosuch'" in err
    assert "code 2" in out


def test_the_listing_has_every_verb_with_a_summary_that_is_not_cut_off() -> None:
    listed, _ = started("--help")
    lines = {line.split()[0]: line for line in listed.splitlines() if line.startswith("  ")}
    for verb, summary in VERBS.items():
        assert lines[verb].endswith(summary)
