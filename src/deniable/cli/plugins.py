"""The option --plugin of every command that reads a survey: mechanisms that are not in the package.

It is read before all other options, so that a survey may name what the file registers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

WITHOUT = frozenset(
    {
        "archive",
        "backup",
        "delete",
        "demo",
        "docs",
        "import",
        "init",
        "js",
        "keys",
        "paper",
        "restore",
        "store",
    }
)
"""The verbs that read no survey of yours."""


def _load(files: list[Path] | None) -> None:
    from deniable.protocol import load_plugin

    for file in files or ():
        load_plugin(file)


Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        help="A Python file that registers a mechanism; repeat it for several.",
        metavar="FILE",
        is_eager=True,
        callback=_load,
    ),
]


def with_plugins(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a verb's command, with the option where the verb reads surveys."""
    if verb in WITHOUT or "plugin" in inspect.signature(function).parameters:
        return function

    @wraps(function)
    def command(*given: Any, plugin: object = None, **named: Any) -> Any:
        return function(*given, **named)

    signature = inspect.signature(function, eval_str=True)  # typer would not find our names
    keyword = inspect.Parameter.KEYWORD_ONLY
    added = inspect.Parameter("plugin", keyword, default=None, annotation=Plugins)
    vars(command)["__signature__"] = signature.replace(
        parameters=[*signature.parameters.values(), added]
    )
    command.__annotations__ = {**function.__annotations__, "plugin": Plugins}
    return command
