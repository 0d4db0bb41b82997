"""deniable encode: the reports of a value that would leave a device."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.output import JsonFlag, LevelName, SurveyJson, VersionNumber, emit_json, out
from deniable.cli.values import find_question, parse_value
from deniable.client.encode import encode as encode_value
from deniable.client.randomness import SystemDraws
from deniable.errors import InvalidParameter
from deniable.protocol import Report
from deniable.protocol.epochs import day_number, epoch_of
from deniable.protocol.prf import SECRET_BYTES
from deniable.protocol.report import ID_BYTES


def encode(
    question: Annotated[str, typer.Argument(help="The question's id.")],
    value: Annotated[str, typer.Argument(help="The true value; JSON where it has fields.")],
    version: VersionNumber = None,
    level: LevelName = None,
    survey: SurveyJson = Path("survey.json"),
    secret_file: Annotated[
        Path | None, typer.Option(help="A device's 32-byte secret; a new random one by default.")
    ] = None,
    times: Annotated[int, typer.Option(min=1, max=100_000, help="How many reports.")] = 1,
    json: JsonFlag = False,
) -> None:
    """Encode a value with the client's own encoder and show the reports that would leave."""
    asked = find_question(survey, question, version, level)
    secret = os.urandom(SECRET_BYTES) if secret_file is None else secret_file.read_bytes()
    if len(secret) != SECRET_BYTES:
        raise InvalidParameter(f"A secret has {SECRET_BYTES} bytes. Got {len(secret)}.")
    answer, fresh = parse_value(asked, value), SystemDraws()
    epoch = epoch_of(day_number(), asked.epoch)
    for _ in range(times):
        record = encode_value(asked, answer, secret, fresh)
        report = Report(
            asked.id,
            asked.version,
            asked.digest,
            epoch,
            os.urandom(ID_BYTES),
            record,
            asked.combinations[-1],  # a device that says nothing of itself
        )
        if json:
            emit_json(report.as_json())
        else:
            out.print(f"{record.hex(' ', 4)}", markup=False)
