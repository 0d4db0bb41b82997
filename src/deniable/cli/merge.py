"""deniable merge: the counts of several files as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.count import show_counts
from deniable.cli.output import JsonFlag, SurveyJson, write_file
from deniable.cli.values import load_survey
from deniable.engines.counts_file import digest_of, from_bytes, merge_counts, read_file, to_bytes
from deniable.errors import InvalidParameter


def merge(
    files: Annotated[list[Path], typer.Argument(help="Files that deniable count -o wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    survey: SurveyJson = Path("survey.json"),
    json: JsonFlag = False,
) -> None:
    """Add up counts of one question from several stores or times, and write them to a file.

    Only counts of one digest go together. The same reports in two files count twice: each file
    must be of other stores or of other epochs.
    """
    known = {question.digest: question for question in load_survey(survey).known}
    data = [read_file(path) for path in files]
    digests = {digest_of(one) for one in data}
    if len(digests) > 1:
        raise InvalidParameter(
            "The files hold counts of different questions, versions or levels.",
            "Merge those of one digest.",
        )
    (digest,) = digests
    if digest not in known:
        raise InvalidParameter(
            "The survey does not know the question of these counts: no question of it has their "
            "digest.",
            "Name the survey that it was asked with: --survey survey.json",
        )
    merged = merge_counts([from_bytes(one, known[digest]) for one in data])
    write_file(output, to_bytes(merged))
    show_counts(merged, output, json)
