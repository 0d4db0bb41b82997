"""The verbs, put together, and the one place where errors become exit codes.

A verb's file is imported only when the verb is called: `deniable check` answers at once, and works
where the packages that `deniable estimate` needs are not installed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword

import typer

from deniable.cli.output import err
from deniable.errors import DeniableError, MissingExtra, StoreError

VERBS = (
    "demo",
    "init",
    "check",
    "publish",
    "explain",
    "plan",
    "serve",
    "simulate",
    "encode",
    "count",
    "estimate",
    "associate",
    "marginals",
    "discover",
    "audit",
    "export",
    "import",
    "paper",
)
"""Each is a file of this folder with a function, or a group of them, of its name (import_ for
import). A file may hold `COMMAND`, a class that reads its command line in another way.
"""

EXIT_CODES = "0 done, 1 wrong input or a failed audit, 2 wrong usage, 3 missing extra, 4 files"


def make_app(verbs: Sequence[str] = VERBS) -> typer.Typer:
    """Return the command line with these verbs."""
    app = typer.Typer(
        name="deniable",
        help="Telemetry with plausible deniability.",
        epilog=f"Exit codes: {EXIT_CODES}.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(lambda: None)  # keeps a single verb from taking the place of the command
    for verb in verbs:
        name = f"{verb}_" if iskeyword(verb) else verb
        module = import_module(f"deniable.cli.{name}")
        found = getattr(module, name)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=verb)
        else:
            app.command(verb, cls=getattr(module, "COMMAND", None))(found)
    return app


def run() -> None:
    """Run the command line; every error we raise on purpose is one sentence and an exit code."""
    called = [argument for argument in sys.argv[1:2] if argument in VERBS]
    try:
        make_app(called or VERBS)()
    except MissingExtra as error:
        _stop(error, 3)
    except (StoreError, OSError) as error:
        _stop(error, 4)
    except DeniableError as error:
        _stop(error, 1)


def _stop(error: Exception, code: int) -> None:
    err.print(f"deniable: {error}", markup=False, style="red")
    sys.exit(code)
