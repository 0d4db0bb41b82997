"""The verbs, put together, and the one place where errors become exit codes.

A verb's file is imported only when the verb is called: `deniable check` answers at once, and works
where the packages that `deniable estimate` needs are not installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from keyword import iskeyword
from typing import Annotated

import typer

from deniable import __version__
from deniable.cli.option_groups import ungrouped
from deniable.cli.plugins import with_plugins
from deniable.errors import DeniableError, MissingExtra, StoreError

VERBS = {
    "demo": "Run the whole flow on this machine.",
    "init": "Write a survey to start from.",
    "check": "Say everything that is wrong with a survey.",
    "publish": "Write the survey.json that clients read.",
    "explain": "Say what each question promises, and what it costs.",
    "plan": "Say what can be learned before collecting.",
    "js": "Write the client for web pages, or its tag.",
    "names": "Write the questions as typed code.",
    "serve": "Take reports, keep them, and show the dashboard.",
    "keys": "Make, list and end keys of apps and analysts.",
    "publish-results": "Write a static site of results for everybody.",
    "simulate": "Simulate the reports of a crowd.",
    "encode": "Show the reports of one value that would leave.",
    "count": "Count the reports to a question, for a file too.",
    "merge": "Add up files of counts.",
    "estimate": "Estimate the share of each answer, with intervals.",
    "compare": "Compare segments, or the arms of an experiment.",
    "associate": "Say which answers of several fields go together.",
    "marginals": "Estimate tables of many attributes.",
    "discover": "Find strings that nobody listed.",
    "audit": "Prove, sample, capture, search and attack.",
    "store": "Check a store, or close epochs by hand.",
    "delete": "Delete reports from a store for good.",
    "backup": "Copy a store, and check the copy.",
    "restore": "Make a store of a backup.",
    "export": "Write reports to a file, or closed epochs to an archive.",
    "archive": "Check an archive.",
    "import": "Count the reports of google/rappor clients.",
    "docs": "Open the documentation, without a network.",
    "paper": "Make a figure of a paper again.",
}
"""Each verb with its summary for the list of verbs. Each is a file of this folder with a function,
or a group of them, of its name (import_ for import, publish_results for publish-results). A file
may hold `COMMAND`, a class that reads its command line in another way.
"""

_EXIT_CODES = "0 done, 1 wrong input or a failed audit, 2 wrong usage, 3 missing extra, 4 files"


def make_app(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """Return the command line with these verbs, their files imported."""
    app = _empty_app()
    for verb in verbs:
        name = f"{verb}_" if iskeyword(verb) else verb.replace("-", "_")
        module = import_module(f"deniable.cli.{name}")
        found = getattr(module, name)
        if isinstance(found, typer.Typer):
            for inner in found.registered_commands:
                if inner.callback is not None:
                    # A summary that is said is shown whole; one that is guessed is cut.
                    inner.short_help = (inner.callback.__doc__ or "").strip().partition("\n")[0]
                    inner.callback = with_plugins(verb, inner.callback)
            app.add_typer(found, name=verb, short_help=VERBS[verb])
        else:
            kind = getattr(module, "COMMAND", None)
            app.command(verb, cls=kind, short_help=VERBS[verb])(
                with_plugins(verb, ungrouped(found))
            )
    return app


def _make_listing() -> typer.Typer:
    """Return the command line with every verb's summary and no verb's file imported."""
    app = _empty_app()
    for verb, summary in VERBS.items():
        app.command(verb, help=summary)(lambda: None)
    return app


def _empty_app() -> typer.Typer:
    app = typer.Typer(
        name="deniable",
        help="Telemetry with plausible deniability.",
        epilog=f"Exit codes: {_EXIT_CODES}.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)  # also keeps a single verb from taking the place of the command
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"deniable {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", help="Show the version and end.", is_eager=True, callback=_show_version
    ),
]


def _options(version: Version = False) -> None:
    """The options of the command itself."""


def run() -> None:
    """Run the command line; every error we raise on purpose is one sentence and an exit code."""
    called = [word for word in _words()[1:2] if word in VERBS]
    try:
        (make_app(called) if called else _make_listing())()
    except MissingExtra as error:
        _stop(error, 3)
    except (StoreError, OSError) as error:
        _stop(error, 4)
    except DeniableError as error:
        _stop(error, 1)


def _words() -> list[str]:
    """Return the words of the command line, also of one that a shell wants completed."""
    for name in ("_TYPER_COMPLETE_ARGS", "COMP_WORDS"):
        if "_DENIABLE_COMPLETE" in os.environ and os.environ.get(name):
            return os.environ[name].split()
    return sys.argv


def _stop(error: Exception, code: int) -> None:
    from deniable.cli.output import err

    err.print(f"deniable: {error}", markup=False, style="red")
    sys.exit(code)
