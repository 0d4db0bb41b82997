"""Options that take several values after one name: --attributes a b c."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from typer.core import TyperCommand


class SpreadCommand(TyperCommand):
    """A command some of whose options take every word up to the next option.

    `--attributes a b c` is read as `--attributes a --attributes b --attributes c`, which may be
    written too. So an argument of the command must come before such an option, or after another.
    """

    spread: ClassVar[tuple[str, ...]] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option's name before each of its words, then parse as usual."""
        return super().parse_args(ctx, list(repeated(args, self.spread)))


def repeated(words: Iterable[str], options: tuple[str, ...]) -> Iterable[str]:
    """Yield the words of a command line, with an option's name before each of its values."""
    name, first = "", False
    for word in words:
        if word.startswith("-"):
            name, first = (word, True) if word in options else ("", False)
        elif name and not first:
            yield name
        else:
            first = False
        yield word
