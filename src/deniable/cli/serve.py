"""deniable serve: the collector, and the dashboard beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Router
from starlette.types import ASGIApp

from deniable._words import plural
from deniable.cli.apart import Apart, Start
from deniable.cli.output import DataPlace, JsonFlag, SurveyJson, emit_json, err, out
from deniable.cli.served import MakePages, Reloading, Served, find_surveys
from deniable.cli.values import load_survey
from deniable.collector import AnalystGuard, Settings, hash_token, new_token
from deniable.collector import serve as serve_app
from deniable.collector.settings import (
    WRITE_KEY_FILE_VARIABLE,
    WRITE_KEY_VARIABLE,
    read_write_keys,
)
from deniable.collector.surveys import Surveys
from deniable.errors import InvalidParameter, MissingExtra
from deniable.protocol import Survey
from deniable.protocol.registry import PLUGINS
from deniable.store import Store, open_store
from deniable.store.place import is_archive

_NEEDED = ("scipy", "numba", "jinja2")
"""Packages without which there is no dashboard."""


def serve(
    survey: SurveyJson = Path("survey.json"),
    surveys: Annotated[
        Path | None,
        typer.Option(
            help="Serve several: each FOLDER/NAME/survey.json at /s/NAME, with a store of its own "
            "below --data.",
            metavar="FOLDER",
        ),
    ] = None,
    data: DataPlace = "data",
    host: Annotated[
        str, typer.Option(envvar="DENIABLE_HOST", help="Address to bind; loopback by default.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(min=0, max=65_535, envvar="DENIABLE_PORT", help="Port; 0: a free one."),
    ] = 8000,
    write_key_file: Annotated[
        Path | None,
        typer.Option(
            envvar=WRITE_KEY_FILE_VARIABLE,
            help="File of the key that clients must send, or two, one on each line; "
            f"or set {WRITE_KEY_VARIABLE}.",
        ),
    ] = None,
    analyst_token_hash: Annotated[
        str | None,
        typer.Option(
            envvar="DENIABLE_ANALYST_TOKEN_HASH",
            help="Hash of the token that analysts must send; needed off loopback.",
        ),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(
            envvar="DENIABLE_KEYS",
            help="The file of keys that deniable keys writes; read again on SIGHUP.",
            metavar="keys.json",
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65_535,
            envvar="DENIABLE_METRICS_PORT",
            help="Serve /metrics on this port of 127.0.0.1, too, without a token.",
        ),
    ] = None,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy",
            envvar="DENIABLE_BEHIND_PROXY",
            help="A proxy passes requests on: reading needs the token whatever the address.",
        ),
    ] = False,
    cors: Annotated[
        bool | None,
        typer.Option(
            envvar="DENIABLE_CORS",
            help="Whether web pages of any origin may send; by default not on loopback.",
        ),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            help="An origin whose web pages may send, such as https://www.example.org; pages of "
            "others may not. Repeat it, or set DENIABLE_ORIGINS with commas.",
        ),
    ] = None,
    new_token_only: Annotated[
        bool, typer.Option("--new-token", help="Print a new analyst token with its hash, and end.")
    ] = False,
    simulated: Annotated[
        bool,
        typer.Option(
            "--simulated",
            help="A trial: mark every report that arrives as simulated. A store of simulated "
            "reports needs it; one of real reports refuses it.",
        ),
    ] = False,
    try_page: Annotated[
        bool,
        typer.Option(
            "--try",
            help="With --simulated: serve a page /try too, on which a person answers by clicking.",
        ),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Take reports, keep them, and show the dashboard, until interrupted.

    On SIGHUP, keys and published surveys are read again, without losing a request.
    """
    if new_token_only:
        _show_new_token(json)
        return
    if try_page and not simulated:
        raise InvalidParameter("--try is for trials.", "Say --simulated, too.")
    settings = Settings.from_env(
        data=data,
        survey_path=survey,
        host=host,
        port=port,
        write_key_hashes=_write_keys(write_key_file),
        analyst_token_hash=analyst_token_hash,
        behind_proxy=behind_proxy,
        cors=cors,
        origins=tuple(origin) if origin else None,
        keys=keys,
        metrics_port=metrics_port,
    )

    def find() -> Iterable[Settings]:
        return [settings] if surveys is None else find_surveys(settings, surveys)

    with ExitStack() as stores:

        def start(chosen: Settings) -> Served:
            place = str(chosen.data)
            if is_archive(place):
                raise InvalidParameter(
                    f"{place} is an archive, which is only read: no report could be kept there.",
                    "Name the collector's own data directory, or a database.",
                )
            load_survey(chosen.survey_path)  # before a store is made for it
            store = stores.enter_context(open_store(place, simulated=simulated))
            check_kind(store, place, simulated=simulated, quiet=json)
            return Served(chosen, store, pages_maker(trying=try_page, place=place))

        # All names are looked at before a store is opened.
        served = {each.name: start(each) for each in list(find())}
        if not served:
            raise InvalidParameter(
                f"There is no survey in {surveys}.", "Publish one to FOLDER/NAME/survey.json."
            )
        together = None
        if surveys is not None:
            together = Surveys(settings, [each.app for each in served.values()])
        app = together.app if together else served[""].app
        again = Reloading(
            settings, served, together, find, start, lambda names: _tell_taken(names, json)
        )
        serve_app(settings, app, lambda address: _announce(address, settings, json), again)


def check_kind(store: Store, data: str, *, simulated: bool, quiet: bool = False) -> None:
    """Keep real and simulated reports apart: what arrives must be of the store's kind.

    A store that was made to hold both (`deniable simulate --into-real-store`) goes on collecting
    real reports, with a warning: every page marks the others.

    Raises:
        InvalidParameter: if real reports would go to a store of simulated ones, or simulated ones
            to a store of real ones.
    """
    tallies = store.tallies()
    made_up = sum(tally.reports for tally in tallies if tally.batch.simulated)
    real = sum(tally.reports for tally in tallies) - made_up
    if simulated and real:
        raise InvalidParameter(
            f"The store in {data} holds {plural(real, 'real report')}. Give a trial a store "
            "of its own: "
            "deniable serve --simulated --data simulated"
        )
    if made_up and not (simulated or real):
        raise InvalidParameter(
            f"The store in {data} holds {plural(made_up, 'simulated report')}. Give real ones "
            "another "
            "store, or say that this is a trial: deniable serve --simulated"
        )
    if made_up and real and not quiet:
        err.print(
            f"{made_up:,} of the {made_up + real:,} reports in {data} are simulated. "
            "deniable simulate --remove takes them out.",
            markup=False,
        )


def pages_maker(*, trying: bool = False, place: str = "") -> MakePages:
    """Return what makes a survey's dashboard; without the analysis extra, one page that says so.

    Args:
        trying: whether there is a page /try.
        place: of the store, which lets pages be made in a process of their own; in this one
            without it, and where a process cannot be given a socket.
    """
    if place and sys.platform != "win32" and all(map(find_spec, _NEEDED)):
        return lambda store, survey, folder: Apart(
            Start(place, survey.published(), str(folder), trying, [str(file) for file in PLUGINS])
        )
    try:
        from deniable.dashboard import dashboard_routes
    except (ModuleNotFoundError, MissingExtra) as error:
        if (error.name or "").startswith("deniable"):
            raise
        missing = MissingExtra("analysis", "The dashboard")
        return lambda store, survey, folder: PlainTextResponse(
            f"{missing}\nReports are taken all the same; /v1/counters counts them.\n", 501
        )

    def make(store: Store, survey: Survey, folder: Path) -> ASGIApp:
        return Router(dashboard_routes(store, survey, survey_folder=folder, trying=trying))

    return make


def guarded_dashboard(
    settings: Settings, store: Store, survey: Survey, *, trying: bool = False
) -> Mount:
    """Return the dashboard as one route that only analysts may use."""
    pages = pages_maker(trying=trying)(store, survey, settings.survey_path.parent)
    return Mount("/", AnalystGuard(pages, settings))


def _write_keys(file: Path | None) -> tuple[str, ...] | None:
    """Return the keys in the file; None without a file, which leaves them to the environment."""
    if file is None:
        return None
    if os.environ.get(WRITE_KEY_VARIABLE):
        raise InvalidParameter(
            f"Write keys come from a file and from {WRITE_KEY_VARIABLE}.", "Use one of them."
        )
    return read_write_keys(file)


def _announce(address: str, settings: Settings, json: bool) -> None:
    if json:
        emit_json({"address": address})
        return
    out.print(f"Collecting and showing at {address}/ (Ctrl-C ends it)", markup=False)
    if settings.public and settings.ring.reading_open:
        err.print(
            "Reading is refused until there is an analyst token: "
            "deniable keys make NAME --for analyst"
        )


def _tell_taken(names: list[str], json: bool) -> None:
    if json:
        emit_json({"taken": names})
    elif names:
        err.print(f"Taken anew: {', '.join(name or 'the survey' for name in names)}", markup=False)


def _show_new_token(json: bool) -> None:
    token = new_token()
    if json:
        emit_json({"token": token, "hash": hash_token(token)})
        return
    out.print(f"token  {token}\nhash   {hash_token(token)}", markup=False)
    err.print("Keep the token, give the collector the hash: DENIABLE_ANALYST_TOKEN_HASH=...")
