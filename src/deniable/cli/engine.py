"""The options --engine and --master: where reports are counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

import typer

from deniable.engines import Engine, Processes
from deniable.errors import InvalidParameter

Names = Literal["local", "processes", "spark"]
EngineName = Annotated[
    Names,
    typer.Option(
        "--engine",
        help="Where reports are counted: threads here, or, of an archive, processes or Spark.",
    ),
]
SparkMaster = Annotated[
    str | None,
    typer.Option(
        "--master", help="Of Spark: spark://HOST:PORT, local[4] and the like.", metavar="ADDRESS"
    ),
]


@contextmanager
def started(name: Names, master: str | None) -> Iterator[Engine | None]:
    """Yield the engine, None for threads; a session that this starts is stopped after it.

    Raises:
        InvalidParameter: if a master is named for another engine.
    """
    if name != "spark":
        if master is not None:
            raise InvalidParameter("--master is Spark's: add --engine spark.")
        yield Processes() if name == "processes" else None
        return
    from deniable.engines.spark import Spark, running_session, spark_session

    ran = running_session() is not None
    session = spark_session(master)
    try:
        yield Spark(session)
    finally:
        if not ran:
            session.stop()
