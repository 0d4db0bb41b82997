"""Options that verbs share are declared once, and each verb takes them by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from deniable.cli.option_groups import ungrouped


@dataclass(frozen=True)
class Shown:
    """How much is shown."""

    most: Annotated[int, typer.Option("--most", min=1, help="The most rows.")] = 3
    words: Annotated[list[str] | None, typer.Option("--word", help="A word.")] = None


@dataclass(frozen=True)
class ShownTo(Shown):
    """Also to whom."""

    person: Annotated[str, typer.Option(help="A name.")] = "all"


def show(place: str, *, shown: ShownTo, json: bool = False) -> None:
    """Show a place."""
    typer.echo(f"{place} {shown} {json}")


def run(*words: str) -> str:
    """Return what the command prints, or its error."""
    app = typer.Typer(rich_markup_mode=None)
    app.command()(ungrouped(show))
    found = CliRunner().invoke(app, list(words))
    return found.output


def test_the_fields_of_a_group_are_options_with_their_defaults() -> None:
    assert run("here") == f"here {ShownTo()} False\n"
    words = ["--word", "a", "--word", "b"]
    given = ShownTo(most=7, words=["a", "b"], person="me")
    assert run("here", "--most", "7", *words, "--person", "me", "--json") == f"here {given} True\n"


def test_options_stand_in_the_place_of_their_group() -> None:
    text = run("--help")
    places = [text.index(name) for name in ("--most", "--word", "--person", "--json")]
    assert places == sorted(places)


def test_bounds_of_an_option_hold_in_a_group() -> None:
    assert "greater than or equal to 1" in run("here", "--most", "0")


def test_two_groups_with_the_same_option_are_refused() -> None:
    def twice(*, one: Shown, other: ShownTo) -> None:
        raise AssertionError

    with pytest.raises(ValueError, match="duplicate parameter name"):
        ungrouped(twice)
