"""deniable compare: segments, or the arms of an experiment, side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from deniable.ask import candidates_for
from deniable.ask import compare as ask_difference
from deniable.cli.asking import AskingPeople
from deniable.cli.output import (
    JsonFlag,
    OutputFiles,
    check_names,
    emit_tables,
)


def compare(
    question: Annotated[str, typer.Argument(help="The question's id.")],
    by: Annotated[
        str, typer.Option("--by", help="The segment, such as an experiment's arm.", metavar="NAME")
    ],
    against: Annotated[
        str | None, typer.Option(help="The value to compare with; by default the first.")
    ] = None,
    candidates: Annotated[
        Path | None, typer.Option(help="A file of strings to test for, one per line.")
    ] = None,
    output: OutputFiles = None,
    *,
    asking: AskingPeople,
    json: JsonFlag = False,
) -> None:
    """Compare the answers of a segment's values: effects with intervals, p-values, a joint test.

    Where the segment is an experiment's arm this is an A/B test. How many people a wanted effect
    needs, deniable plan --compare says before.
    """
    questions = asking.questions(question)
    asked = questions[-1]
    check_names(output)
    strings = candidates_for(asked, asking.survey.parent, candidates)
    with asking.source(questions, quiet=json) as (source, base):
        options = replace(base, candidates=strings, people=asking.people())
        tables = ask_difference(source, questions, by, options, against=against)
    emit_tables(tables, output, json)
