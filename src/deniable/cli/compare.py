"""deniable compare: segments, or the arms of an experiment, side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from deniable.ask import candidates_for
from deniable.ask import compare as ask_difference
from deniable.cli.asking import (
    CountsFile,
    EpochNumber,
    NewPeople,
    SamePeople,
    SinceDate,
    UntilDate,
    WhereSegments,
    Which,
    asking,
    who,
)
from deniable.cli.output import (
    DataPlace,
    JsonFlag,
    LevelName,
    OutputFiles,
    SurveyJson,
    VersionOrAll,
    check_names,
    emit_tables,
)
from deniable.cli.values import load_survey
from deniable.protocol.naming import questions_of


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
    epoch: EpochNumber = None,
    since: SinceDate = None,
    until: UntilDate = None,
    where: WhereSegments = None,
    new_people: NewPeople = False,
    same_people: SamePeople = False,
    version: VersionOrAll = None,
    level: LevelName = None,
    survey: SurveyJson = Path("survey.json"),
    data: DataPlace = "data",
    counts: CountsFile = None,
    output: OutputFiles = None,
    json: JsonFlag = False,
) -> None:
    """Compare the answers of a segment's values: effects with intervals, p-values, a joint test.

    Where the segment is an experiment's arm this is an A/B test. How many people a wanted effect
    needs, deniable plan --compare says before.
    """
    questions = questions_of(load_survey(survey), question, version, level)
    asked = questions[-1]
    check_names(output)
    strings = candidates_for(asked, survey.parent, candidates)
    which = Which(epoch, since, until, where)
    with asking(survey, questions, data, which, counts, quiet=json) as (source, base):
        options = replace(
            base, candidates=strings, people=who(new_people, same_people, changes=False)
        )
        tables = ask_difference(source, questions, by, options, against=against)
    emit_tables(tables, output, json)
