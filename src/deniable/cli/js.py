"""deniable js: the client for web pages, as one file."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from deniable._words import plural
from deniable.cli.output import JsonFlag, emit_json, out, write_file

NAME = "deniable.bundle.js"


def bundle() -> bytes:
    """Return the client for web pages: one module, with everything in it."""
    return files("deniable").joinpath("dashboard", "assets", NAME).read_bytes()


def integrity_of(data: bytes) -> str:
    """Return the hash by which a browser makes sure that a file is the one that was meant."""
    return "sha384-" + base64.b64encode(hashlib.sha384(data).digest()).decode()


def tag_of(address: str, integrity: str) -> str:
    """Return the tag with which a page loads the file.

    The hash covers the file and all of the client, since it imports nothing.
    """
    return (
        f'<script type="module" src="{escape(address)}" integrity="{integrity}" '
        'crossorigin="anonymous"></script>'
    )


def js(
    sri: Annotated[
        bool, typer.Option("--sri", help="Print the tag that loads the file, with its hash.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the file.")
    ] = None,
    src: Annotated[str, typer.Option(help="The file's address in the tag.")] = NAME,
    json: JsonFlag = False,
) -> None:
    """Write the client for web pages as one file, or print the tag that loads it."""
    if not sri and output is None:
        raise typer.BadParameter("Say --sri for the tag, --output FILE for the file, or both.")
    data = bundle()
    if output is not None:
        write_file(output, data)
    integrity = integrity_of(data)
    if json:
        told = {"bytes": len(data), "integrity": integrity, "tag": tag_of(src, integrity)}
        emit_json({**told, "path": None if output is None else str(output)})
        return
    if sri:
        out.print(tag_of(src, integrity), markup=False)
    else:
        out.print(f"Wrote {plural(len(data), 'byte')} to {output}.", markup=False)
