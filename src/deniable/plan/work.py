"""The collector's cost of a mechanism: numbers kept, and operations of one estimate."""

from __future__ import annotations

import math

from deniable.authoring.auto import POOL
from deniable.plan.profiles.work import profile_operations, profile_words
from deniable.protocol import (
    HadamardParameters,
    HCMSParameters,
    KRRParameters,
    NGramsParameters,
    OLHParameters,
    ORRParameters,
    Parameters,
    PGRParameters,
    PrefixesParameters,
    ProfileParameters,
    RapporParameters,
    SubsetParameters,
)
from deniable.protocol.unary import UnaryParameters

FOUND = {"prefixes": "n + groups (K log K + M)", "ngrams": "n k (r + 1) + pairs of places"}
"""The work of mechanisms that find strings."""


def words(parameters: Parameters, people: int) -> int:
    """Return the number of numbers in the counts: memory in words of 8 bytes, whatever n.

    Edge cases: OLH without a small pool has no counts and keeps every report.
    """
    if isinstance(parameters, ProfileParameters):
        return profile_words(parameters, people)
    if isinstance(parameters, PrefixesParameters):
        return parameters.groups * parameters.cohorts * parameters.oracle.points
    if isinstance(parameters, NGramsParameters):
        return (parameters.places + 1) * parameters.cohorts * (parameters.bits + 1)
    if isinstance(parameters, RapporParameters):
        return parameters.cohorts * parameters.bits
    if isinstance(parameters, UnaryParameters):
        return parameters.bits
    if isinstance(parameters, KRRParameters | SubsetParameters):
        return parameters.categories
    if isinstance(parameters, HadamardParameters):
        return 2 * parameters.size
    if isinstance(parameters, PGRParameters):
        return parameters.cohorts * parameters.points
    if isinstance(parameters, HCMSParameters):
        return 2 * parameters.rows * parameters.width
    if isinstance(parameters, ORRParameters):
        return parameters.cohorts * parameters.symbols
    if isinstance(parameters, OLHParameters) and parameters.seeds <= POOL:
        return parameters.seeds * parameters.symbols
    return people


def operations(parameters: Parameters, people: int, asked: int) -> int:
    """Return the approximate number of steps of counting n reports and estimating M answers.

    The formulas are those that `explain` prints (`authoring/auto.py`), with numbers put in: an
    order of magnitude, meant for comparing.
    """
    if isinstance(parameters, ProfileParameters):
        return profile_operations(parameters, people)
    if isinstance(parameters, PrefixesParameters):
        each = _sorted(parameters.oracle.points) + asked
        return people + parameters.groups * parameters.cohorts * each
    if isinstance(parameters, NGramsParameters):
        parts = people * parameters.bits * (parameters.grams + 1)
        return parts + words(parameters, people) + parameters.cohorts * asked
    if isinstance(parameters, PGRParameters):
        each = _sorted(parameters.points) + (0 if parameters.answers else asked)
        return people + parameters.cohorts * each
    if isinstance(parameters, HCMSParameters):
        return people + parameters.rows * (_sorted(parameters.width) + asked)
    if isinstance(parameters, HadamardParameters):
        return people + _sorted(parameters.size)
    if isinstance(parameters, KRRParameters):
        return people + parameters.categories
    if isinstance(parameters, SubsetParameters):
        return people * parameters.categories
    if isinstance(parameters, OLHParameters):
        return people * asked if parameters.seeds > POOL else people + parameters.seeds * asked
    if isinstance(parameters, ORRParameters):
        return people + parameters.cohorts * asked**2 * parameters.symbols + asked**3
    if isinstance(parameters, RapporParameters) and parameters.form != "basic":
        cells = parameters.cohorts * parameters.bits
        fitted = min(asked, cells // 2)  # longer lists are screened first
        screened = parameters.cohorts * parameters.hashes * asked
        return people * parameters.bits + screened + parameters.cohorts * fitted**2 + fitted**3
    return people * words(parameters, people)


def _sorted(size: int) -> int:
    """Return size log2 size, the steps of a fast transform."""
    return size * max(1, math.ceil(math.log2(size)))
