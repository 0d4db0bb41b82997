"""Commands as a person calls them, in this process."""

from __future__ import annotations

from typing import Any

import typer
from click.testing import Result
from typer.testing import CliRunner

from deniable.cli.app import make_app

RUNNER, APP = CliRunner(), make_app()


def call(*arguments: object) -> str:
    """Run a command that must succeed; return what it prints."""
    result = run(*arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def run(*arguments: object) -> Result:
    """Run a command that may fail; return its exit code and output."""
    return RUNNER.invoke(APP, [str(argument) for argument in arguments])


def commands() -> dict[str, Any]:
    """Return every command by its whole name, such as "check" or "audit exact"."""
    group: Any = typer.main.get_command(APP)
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        found |= {name: command} if inner is None else {f"{name} {n}": c for n, c in inner.items()}
    return found
