"""deniable names: a survey's questions as typed code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.output import JsonFlag, emit_json, out, write_file
from deniable.cli.values import any_survey
from deniable.errors import InvalidParameter
from deniable.results.names import python_module, typescript_types


def names(
    survey: Annotated[
        Path, typer.Argument(help="The survey, published or not.", metavar="survey.json")
    ] = Path("survey.json"),
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write a .py module or a .d.ts file. May be repeated."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Write the questions as a typed module, in which a typo does not compile."""
    if not survey.is_file():
        raise InvalidParameter(f"There is no survey {survey}.", "Name one: deniable names FILE")
    ready = any_survey(survey)
    made = {".py": python_module(ready), ".d.ts": typescript_types(ready)}
    for path in output or ():
        end = next((end for end in made if path.name.endswith(end)), None)
        if end is None:
            raise InvalidParameter(
                f"The name of a typed module must end in .py or .d.ts. Got {path.name!r:.80}."
            )
        write_file(path, made[end].encode())
    if json:
        emit_json({"files": [str(path) for path in output or ()], **made})
    elif output:
        out.print(f"Wrote {' and '.join(map(str, output))}.", markup=False)
    else:
        typer.echo(made[".py"], nl=False)
