"""A result from the files of google/rappor: their reports, our decoder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deniable.ask.estimate import UNBIASED, decoded_rows, shares_table, unlisted_of
from deniable.ask.intervals import of_note
from deniable.authoring import resolve
from deniable.decode import Observed, Shape, decode_cells
from deniable.interop.google_rappor import GoogleRappor
from deniable.protocol import RapporParameters, Strings
from deniable.protocol.epsilon import as_float
from deniable.results.table import About, Tables
from deniable.results.words.shares import in_words

QUESTION = "google-rappor"
"""The name of a result from their files, which name no question."""


def google_tables(google: GoogleRappor, description: str) -> Tables:
    """Decode a params, counts and map triple.

    Epsilon is that of the numbers in params.csv, by our integers and rounded up. Their clients take
    f in steps of 1/128, so that the one that ran can differ a little.

    Raises:
        InvalidParameter: if the counts cannot be decoded.
    """
    params, counts = google.params, google.accumulated
    shape = Shape(params.m, params.k, params.h)
    observed = Observed(
        shape,
        counts.table.ravel().astype(np.float64),
        np.repeat(counts.reports, params.k).astype(np.float64),
        params.oracle,
    )
    found = decode_cells(observed, shape.design(google.positions), google.candidates)
    written = {name: getattr(params, name) for name in ("k", "h", "m", "p", "q", "f")}
    parameters = resolve(RapporParameters, written, Strings(), absent=False)
    forever = parameters.epsilon_forever
    about = About(
        "estimate",
        question=QUESTION,
        field="value",
        description=description,
        domain="strings",
        mechanism="rappor",
        n=counts.n,
        epsilon_once=as_float(parameters.epsilon_once),
        epsilon_forever=None if forever is None else as_float(forever),
        memoised=parameters.memoised,
        of=found.of,
        more={
            "expected_false": found.expected_false,
            "unlisted": unlisted_of(found),
            "limit": found.limit,
        },
    )
    notes = (
        *google.notes,
        *found.notes,
        *((UNBIASED.format(intervals=about.intervals), of_note(found.of)) if counts.n else ()),
    )
    table = shares_table(about, decoded_rows(found, found.candidates), notes)
    return Tables([replace(table, words=in_words(table))])
