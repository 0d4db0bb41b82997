"""The verbs, put together, and the one place where errors become exit codes."""

from __future__ import annotations

import sys

import typer

from deniable.cli.check import check
from deniable.cli.count import count
from deniable.cli.demo import demo
from deniable.cli.encode import encode
from deniable.cli.estimate import estimate
from deniable.cli.explain import explain
from deniable.cli.export import export
from deniable.cli.init import init
from deniable.cli.output import err
from deniable.cli.publish import publish
from deniable.cli.serve import serve
from deniable.cli.simulate import simulate
from deniable.errors import DeniableError, MissingExtra, StoreError

app = typer.Typer(
    name="deniable",
    help="Telemetry with plausible deniability.",
    epilog="Exit codes: 0 done, 1 wrong input, 2 wrong usage, 3 missing extra, 4 files or store.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
VERBS = (
    demo,
    init,
    check,
    publish,
    explain,
    serve,
    simulate,
    encode,
    count,
    estimate,
    export,
)
for _verb in VERBS:
    app.command()(_verb)


def run() -> None:
    """Run the command line; every error we raise on purpose is one sentence and an exit code."""
    try:
        app()
    except MissingExtra as error:
        _stop(error, 3)
    except (StoreError, OSError) as error:
        _stop(error, 4)
    except DeniableError as error:
        _stop(error, 1)


def _stop(error: Exception, code: int) -> None:
    err.print(f"deniable: {error}", markup=False, style="red")
    sys.exit(code)
