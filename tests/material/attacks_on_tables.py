"""Attackers of joint tables: of all reports they could send, those that move a cell most."""

from __future__ import annotations

import itertools

import numpy as np

from deniable.associate import Joint, Variable
from deniable.associate.fields import field_rows
from deniable.mechanisms import KRR, OLH, Mechanism
from deniable.mechanisms.base import Reports
from deniable.protocol import Answer
from deniable.protocol.domain import string_key
from material.associate_people import STRINGS

SEEDS = 100
"""Of local hashing so many hash functions are tried."""


def possible(mechanism: Mechanism, rng: np.random.Generator) -> Reports:
    """Return the reports to choose from.

    All symbols of k-RR; all of some hash functions; all bits of up to eight; of Bloom filters the
    listed strings' bits in all ways, with all others set or unset.
    """
    shape = mechanism.parameters
    if isinstance(mechanism, KRR):
        found = np.zeros(shape.answers, mechanism.dtype)
        found["symbol"] = np.arange(shape.answers)
    elif isinstance(mechanism, OLH):
        found = np.zeros(SEEDS * shape.symbols, mechanism.dtype)
        found["seed"] = np.repeat(rng.integers(0, 2**31, SEEDS), shape.symbols)
        found["symbol"] = np.tile(np.arange(shape.symbols), SEEDS)
    elif shape.bits <= 8:
        found = np.zeros(2**shape.bits, mechanism.dtype)
        found["bits"][:, 0] = np.arange(2**shape.bits)
    else:
        found = _filters(mechanism)
    return found


def _filters(mechanism: Mechanism) -> Reports:
    shape, rows = mechanism.parameters, []
    for cohort in range(shape.cohorts):
        answers = [Answer(string_key(text)) for text in STRINGS]
        own = sorted(set().union(*(shape.places(answer, cohort) for answer in answers)))
        for rest, *states in itertools.product((0, 1), repeat=1 + len(own)):
            bits = np.full(shape.bits, rest, dtype=np.uint8)
            bits[own] = states
            rows.append((cohort, np.packbits(bits, bitorder="little")))
    found = np.zeros(len(rows), mechanism.dtype)
    found["cohort"] = [cohort for cohort, _ in rows]
    found["bits"] = [bits for _, bits in rows]
    return found


def strongest(
    variables: list[Variable], joint: Joint, cell: int, sign: int, rng: np.random.Generator
) -> list[Reports]:
    """Return the report of each of two fields that together move a cell most, up (1) or down."""
    pools = [possible(variable.mechanism, rng) for variable in variables]
    lines = []
    for variable, pool in zip(variables, pools, strict=True):
        rows = field_rows(variable, records=pool)
        lines.append(rows.lines if rows.codes is None else rows.lines[:, rows.codes])
    one, two = lines
    row = joint.unbounded_covariance[cell].reshape(joint.probability.shape)
    influence = (one.T @ row @ two) / (one.T @ joint.probability @ two)
    places = np.unravel_index(np.argmax(sign * influence), influence.shape)
    return [pool[place] for pool, place in zip(pools, places, strict=True)]


def poisoned(variables: list[Variable], crafted: list[Reports], liars: int) -> list[Variable]:
    """Return the variables with crafted reports in the place of the first ones."""
    found = []
    for variable, report in zip(variables, crafted, strict=True):
        reports = variable.reports.copy()
        reports[:liars] = report
        found.append(
            Variable(variable.name, variable.mechanism, reports, variable.candidates, None)
        )
    return found


def without_first(variables: list[Variable], count: int) -> list[Variable]:
    """Return the variables of all people but the first ones."""
    return [Variable(v.name, v.mechanism, v.reports[count:], v.candidates, None) for v in variables]
