"""deniable publish-results: a static site of results, for everybody to read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable._words import plural
from deniable.cli.output import DataPlace, JsonFlag, SurveyJson, emit_json, err, out
from deniable.cli.values import load_survey
from deniable.store import open_store


def publish_results(
    folder: Annotated[
        Path, typer.Argument(help="An empty folder, or one that this wrote.", metavar="DIR")
    ],
    question: Annotated[
        list[str] | None,
        typer.Option("--question", help="Only this question. May be repeated.", metavar="ID"),
    ] = None,
    survey: SurveyJson = Path("survey.json"),
    data: DataPlace = "data",
    json: JsonFlag = False,
) -> None:
    """Write a static site of results: pages for everybody, of closed epochs and real reports only.

    Every page is one file that loads nothing and works from a disk or any web server. The page for
    the people who are asked stands beside the results. Running it again writes the site anew.
    """
    from deniable.dashboard.public import public_site

    published = load_survey(survey)
    with open_store(data, create=False) as store:
        site = public_site(store, published, survey.parent, question)
    site.write(folder)
    if json:
        told = {"folder": str(folder), "files": sorted(site.files), "questions": list(site.shown)}
        emit_json({**told, "left_out": dict(site.left_out)})
        return
    pages = plural(len(site.shown), "question")
    out.print(
        f"{pages} in {plural(len(site.files), 'file')}: {folder / 'index.html'}", markup=False
    )
    for title, why in site.left_out.items():
        err.print(f"Left out: {title} ({why})", markup=False)
