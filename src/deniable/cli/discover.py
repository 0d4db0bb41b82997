"""deniable discover: strings that nobody listed, from reports; and coding models for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from deniable.ask import discover as ask_strings
from deniable.ask import read_candidates
from deniable.authoring.mechanisms.prefixes_plan import BEAM
from deniable.cli.asking import AskingPeople
from deniable.cli.output import (
    Crafted,
    IntervalForm,
    IntervalsOf,
    JsonFlag,
    emit_json,
    emit_tables,
    out,
    write_file,
)
from deniable.discover.ngrams.discovery import THRESHOLD, Search
from deniable.discover.prefixes.growth import MAX_BEAM
from deniable.discover.train import ORDER, fitting, train
from deniable.errors import InvalidParameter
from deniable.protocol.domain import ESCAPE, MAX_LENGTH, OUTSIDE, Strings, is_alphabet

_TRAIN = "train"


def discover(
    question: Annotated[str, typer.Argument(help="The question's id, or 'train'.")],
    listed: Annotated[
        Path | None,
        typer.Argument(
            help="With 'train': a public list of strings, one per line.", metavar="LIST"
        ),
    ] = None,
    beam: Annotated[
        int, typer.Option(min=1, max=MAX_BEAM, help="Beginnings kept at every level.")
    ] = BEAM,
    threshold: Annotated[
        float,
        typer.Option(min=0, help="n-grams: join pairs from this multiple of delta on."),
    ] = THRESHOLD,
    matching: Annotated[
        str | None,
        typer.Option(help="Only strings that match this regular expression as a whole."),
    ] = None,
    inner_spaces: Annotated[bool, typer.Option(help="Also strings with spaces inside.")] = True,
    of: IntervalsOf = "population",
    interval: IntervalForm = "mid-p",
    crafted: Crafted = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Also write a file: .csv, .json, .parquet, .png, .svg or .html. With 'train': "
            "the model.",
        ),
    ] = None,
    alphabet: Annotated[
        str | None,
        typer.Option(help="With 'train': the characters; by default those of the list."),
    ] = None,
    length: Annotated[
        int, typer.Option(min=1, max=MAX_LENGTH, help="With 'train': the most characters.")
    ] = 20,
    outside: Annotated[
        str, typer.Option(help="With 'train': 'refuse' or 'escape' other characters.")
    ] = "refuse",
    *,
    asking: AskingPeople,
    json: JsonFlag = False,
) -> None:
    """Find strings that nobody listed; or train a coding model on a public list of strings."""
    if question == _TRAIN and crafted is not None:
        raise typer.BadParameter("--crafted needs a question, not 'train'.")
    if question == _TRAIN and asking.version is not None:
        raise typer.BadParameter("--version needs a question, not 'train'.")
    if question == _TRAIN:
        _train(listed, output, alphabet, length, outside, json)
        return
    if listed is not None:
        raise typer.BadParameter("A list of strings belongs to 'deniable discover train' only.")
    search = Search(threshold=threshold, matching=matching, inner_spaces=inner_spaces)
    asked = asking.questions(question)
    with asking.source(asked, quiet=json) as (store, base):
        options = replace(
            base,
            beam=beam,
            search=search,
            people=asking.people(),
            of=of,
            interval=interval,
            crafted=crafted,
        )
        found = ask_strings(store, asked, options)
    emit_tables(found, output, json)


def _train(
    listed: Path | None,
    output: list[Path] | None,
    alphabet: str | None,
    length: int,
    outside: str,
    json: bool,
) -> None:
    if listed is None or output is None or len(output) != 1:
        raise typer.BadParameter("Name a list and one model: deniable discover train LIST -o model")
    if outside not in OUTSIDE:
        raise typer.BadParameter(f"--outside must be one of {', '.join(OUTSIDE)}.")
    lines = read_candidates(listed)
    letters = "".join(sorted(set("".join(lines) if alphabet is None else alphabet)))
    if not is_alphabet(letters) or (outside == "escape" and ESCAPE in letters):
        raise InvalidParameter(
            "The alphabet must hold 2 to 4,096 characters in NFC, and not U+FFFD where others are "
            "escaped.",
            "Name it with --alphabet.",
        )
    domain = Strings(letters, length, outside)
    model = train(lines, domain, ORDER)
    data = model.to_bytes()
    write_file(output[0], data)
    changed, refused = fitting(lines, domain)
    told = {"lines": len(lines), "fitted": changed, "refused": refused}
    told |= {"bytes": len(data), "contexts": len(model.contexts)}
    if json:
        emit_json({**told, "alphabet": letters, "length": length, "typical": model.typical})
        return
    out.print(
        f"{output[0]}: {len(data):,} bytes from {len(lines):,} lines, {len(letters)} letters; 95% "
        f"of the lines take at most {model.typical} bits.",
        markup=False,
    )
    if changed or refused:
        out.print(
            f"{changed:,} lines were cut off or escaped; {refused:,} were left out, because they "
            "have characters outside of the alphabet.",
            markup=False,
        )
