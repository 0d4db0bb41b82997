"""deniable keys: keys of apps that send, tokens of analysts who read and monitors that measure."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.output import JsonFlag, emit_json, err, out
from deniable.collector.keyring import utc_date
from deniable.collector.keys_file import Key, Purpose, end_keys, make_key, read_keys
from deniable.errors import InvalidParameter

keys = typer.Typer(
    help="Make, list and end the keys of apps, analysts and monitors.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ANALYST_DAYS = 365
"""The days after which an analyst's token ends, if nothing else was said."""
_RELOAD = "A running collector takes the change on SIGHUP: kill -HUP PID"

KeysFile = Annotated[
    Path,
    typer.Option("--keys", envvar="DENIABLE_KEYS", help="The file of keys.", metavar="keys.json"),
]
Name = Annotated[str, typer.Argument(help="Of the app, the person or the monitor.")]
KeyPurpose = Annotated[
    Purpose,
    typer.Option("--for", help="An app sends, an analyst reads, metrics are for a monitor."),
]


@keys.command()
def make(
    name: Name,
    purpose: KeyPurpose = Purpose.APP,
    until: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            help="Its last day (UTC); by default an analyst's token ends after a year, and "
            "others do not.",
        ),
    ] = None,
    survey: Annotated[
        str, typer.Option(help="Open this survey only, of several.", metavar="NAME")
    ] = "",
    file: KeysFile = Path("keys.json"),
    json: JsonFlag = False,
) -> None:
    """Make a key, and show its secret this once.

    The file keeps a hash. A name has at most two keys at once, so that one can replace the other.
    """
    today = utc_date()
    end = until.date() if until else None
    if end is None and purpose is Purpose.ANALYST:
        end = today + timedelta(days=ANALYST_DAYS)
    key, secret = make_key(file, purpose, name, today=today, until=end, survey=survey)
    if json:
        emit_json({"secret": secret, **_shown(key)})
        return
    out.print(secret, markup=False)
    err.print(f"{_said(key)}. Its secret is shown only now. {_RELOAD}", markup=False)


@keys.command(name="list")
def list_keys(file: KeysFile = Path("keys.json"), json: JsonFlag = False) -> None:
    """List keys by name and id, with their ends; no secret is kept, so none is shown."""
    found = read_keys(file)
    if json:
        emit_json({"keys": [_shown(key) for key in found]})
        return
    for key in found:
        out.print(_said(key), markup=False)


@keys.command()
def end(
    name: Name,
    id_: Annotated[
        str, typer.Option("--id", help="Of several keys of the name, the one with this id.")
    ] = "",
    all_: Annotated[bool, typer.Option("--all", help="All keys of the name.")] = False,
    file: KeysFile = Path("keys.json"),
    json: JsonFlag = False,
) -> None:
    """End a key: from the next SIGHUP on, the collector refuses it."""
    today = utc_date()
    live = [key for key in read_keys(file) if key.name == name and key.live(today)]
    chosen = [key for key in live if key.id == id_] if id_ else live
    if not chosen:
        raise InvalidParameter(
            f"{file} has no such live key of {name}.", f"See: deniable keys list --keys {file}"
        )
    if len(chosen) > 1 and not all_:
        raise InvalidParameter(
            f"{name} has the keys {' and '.join(key.id for key in chosen)}.",
            "Name one with --id, or say --all.",
        )
    wanted = {key.hash for key in chosen}
    ended = end_keys(file, lambda key: key.hash in wanted, today)
    if json:
        emit_json({"ended": [_shown(key) for key in ended]})
        return
    for key in ended:
        out.print(_said(key), markup=False)
    err.print(_RELOAD, markup=False)


def _shown(key: Key) -> dict[str, str | bool | None]:
    """Return what is shown of a key; its hash stays in the file."""
    said = key.as_json()
    del said["hash"]
    return {"id": key.id, **said, "live": key.live(utc_date())}


def _said(key: Key) -> str:
    parts = [f"{key.id}  {key.purpose.value:8}{key.name}"]
    if key.survey:
        parts.append(f"survey {key.survey}")
    if key.ended:
        parts.append(f"ended {key.ended}")
    elif key.until:
        over = "" if key.live(utc_date()) else " (over)"
        parts.append(f"until {key.until}{over}")
    return ", ".join(parts)
