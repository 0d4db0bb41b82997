"""deniable serve: collector and dashboard in one process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from starlette.routing import Mount, Router

from deniable.cli.output import DataDirectory, JsonFlag, SurveyJson, emit_json, err, out
from deniable.cli.values import load_survey
from deniable.collector import AnalystGuard, Settings, create_app, hash_token, new_token
from deniable.collector import serve as serve_app
from deniable.dashboard import dashboard_routes
from deniable.errors import InvalidParameter
from deniable.protocol import Survey
from deniable.store import Store, open_store


def serve(
    survey: SurveyJson = Path("survey.json"),
    data: DataDirectory = Path("data"),
    host: Annotated[
        str, typer.Option(envvar="DENIABLE_HOST", help="Address to bind; loopback by default.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(min=0, max=65_535, envvar="DENIABLE_PORT", help="Port; 0: a free one."),
    ] = 8000,
    write_key: Annotated[
        str | None,
        typer.Option(envvar="DENIABLE_WRITE_KEY", help="Key that clients must send."),
    ] = None,
    analyst_token_hash: Annotated[
        str | None,
        typer.Option(
            envvar="DENIABLE_ANALYST_TOKEN_HASH",
            help="Hash of the token that analysts must send; needed off loopback.",
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
    json: JsonFlag = False,
) -> None:
    """Take reports, keep them, and show the dashboard, until interrupted."""
    if new_token_only:
        _show_new_token(json)
        return
    settings = Settings.from_env(
        data_dir=data,
        survey_path=survey,
        host=host,
        port=port,
        write_key=write_key,
        analyst_token_hash=analyst_token_hash,
    )
    published = load_survey(survey)
    with open_store(data, simulated=simulated) as store:
        check_kind(store, data, simulated=simulated, quiet=json)
        routes = [guarded_dashboard(settings, store, published)]
        app = create_app(settings, store, published.published(), routes=routes)
        serve_app(settings, app, lambda address: _announce(address, settings, json))


def check_kind(store: Store, data: Path, *, simulated: bool, quiet: bool = False) -> None:
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
            f"The store in {data} holds {real:,} real reports. Give a trial a store of its own: "
            "deniable serve --simulated --data simulated"
        )
    if made_up and not (simulated or real):
        raise InvalidParameter(
            f"The store in {data} holds {made_up:,} simulated reports. Give real ones another "
            "store, or say that this is a trial: deniable serve --simulated"
        )
    if made_up and real and not quiet:
        err.print(
            f"{made_up:,} of the {made_up + real:,} reports in {data} are simulated. "
            "deniable simulate --remove takes them out.",
            markup=False,
        )


def guarded_dashboard(settings: Settings, store: Store, survey: Survey) -> Mount:
    """Return the dashboard as one route that only analysts may use."""
    pages = Router(dashboard_routes(store, survey, survey_folder=settings.survey_path.parent))
    return Mount("/", AnalystGuard(pages, settings))


def _announce(address: str, settings: Settings, json: bool) -> None:
    if json:
        emit_json({"address": address})
        return
    out.print(f"Collecting and showing at {address}/ (Ctrl-C ends it)", markup=False)
    if not settings.loopback and not settings.analyst_token_hash:
        err.print("Reading is refused until an analyst token is set: deniable serve --new-token")


def _show_new_token(json: bool) -> None:
    token = new_token()
    if json:
        emit_json({"token": token, "hash": hash_token(token)})
        return
    out.print(f"token  {token}\nhash   {hash_token(token)}", markup=False)
    err.print("Keep the token, give the collector the hash: DENIABLE_ANALYST_TOKEN_HASH=...")
