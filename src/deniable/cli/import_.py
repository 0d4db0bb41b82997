"""deniable import: another system's reports, counted and made ready for our decoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable._words import plural
from deniable.ask.candidates import read_candidates
from deniable.cli.output import JsonFlag, emit_json, out
from deniable.interop.google_files import read_params, write_counts, write_map
from deniable.interop.google_reports import count_reports, read_reports


def import_(
    folder: Annotated[
        Path, typer.Argument(help="Holds params.csv and reports.csv of google/rappor.")
    ],
    candidates: Annotated[
        Path | None,
        typer.Option(help="A file of strings to test for, one per line; makes map.csv."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Count the reports of google/rappor clients: reports.csv becomes counts.csv beside it.

    With --candidates also their map.csv. Then: deniable estimate --google-rappor FOLDER
    """
    params = read_params(folder / "params.csv")
    counts = count_reports(read_reports(folder / "reports.csv", params), params)
    write_counts(folder / "counts.csv", counts)
    names = () if candidates is None else read_candidates(candidates)
    if names:
        write_map(folder / "map.csv", params, names)
    reports = int(counts[:, 0].sum())
    if json:
        emit_json({"reports": reports, "cohorts": params.m, "candidates": len(names)})
        return
    out.print(f"Counted {plural(reports, 'report')} into {folder / 'counts.csv'}.", markup=False)
    if names:
        out.print(f"Mapped {plural(len(names), 'string')} in {folder / 'map.csv'}.", markup=False)
