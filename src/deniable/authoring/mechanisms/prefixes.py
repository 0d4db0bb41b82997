"""Prefix growth from what people wrote: `epsilon`, and groups for the expected `people`."""

from __future__ import annotations

from collections.abc import Mapping

from deniable import _validate
from deniable.authoring.mechanisms import prefixes_plan
from deniable.authoring.mechanisms.pgr import MOST_HASHED_POINTS, best_geometry
from deniable.authoring.truth import truth_threshold
from deniable.authoring.wanted import wanted_epsilon
from deniable.authoring.written import Authoring, Written, member
from deniable.protocol import epsilon
from deniable.protocol.coding_model import CharacterModel
from deniable.protocol.declared import whole
from deniable.protocol.domain import Domain
from deniable.protocol.pgr import odds_of
from deniable.protocol.prefixes import PrefixesParameters, strings_of

_people = whole(1, 10**10).read
_points = whole(2, MOST_HASHED_POINTS // 4).read
_cohorts = member(PrefixesParameters, "cohorts")
_lengths = member(PrefixesParameters, "lengths")


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> PrefixesParameters:
    """Read `epsilon`; choose levels, sizes and cohorts for `people` unless they are given.

    `model` holds the model's bytes here; a survey names a file (`authoring.informed`).
    """
    strings = strings_of(domain)
    model = wanted.get("model", b"")
    if not isinstance(model, bytes):
        raise _validate.invalid("model", "prefixes", "the bytes of a coding model", model)
    typical = CharacterModel.from_bytes(model).typical if model else 0
    people = _people("people", "prefixes", wanted.get("people", prefixes_plan.PEOPLE))
    verification = wanted.get("verification")
    if verification is not None:
        verification = _share("verification", "prefixes", verification)
    lengths = (
        _lengths("lengths", "prefixes", wanted["lengths"])
        if "lengths" in wanted
        else prefixes_plan.lengths_for(len(strings.letters), strings.length, typical)
    )
    plan = prefixes_plan.groups_for(people, len(lengths), verification)
    cohorts = _cohorts("cohorts", "prefixes", wanted.get("cohorts", plan.cohorts))
    points = _points("points", "prefixes", wanted.get("points", prefixes_plan.POINTS))
    micros = wanted_epsilon("prefixes", wanted)
    prime, dimension = best_geometry(points, micros, hashed=True, most=4 * points)
    keep = truth_threshold(odds_of(prime, dimension), micros)
    geometry = (prime, dimension, cohorts, keep)
    return PrefixesParameters(strings.length, lengths, plan.weights, model, *geometry)


def _model(name: str, owner: str, value: object) -> object:
    if isinstance(value, bytes) or (isinstance(value, str) and value):
        return value
    raise _validate.invalid(name, owner, "the name of a model file", value)


def _share(name: str, owner: str, value: object) -> float:
    return _validate.between(name, owner, value, "0.01", "0.9")


KEYS: Mapping[str, Written] = {
    "epsilon": Written(epsilon.wanted, "1.0"),
    "people": Written(_people, "1000000"),
    "model": Written(_model, '"names.model"'),
    "lengths": Written(_lengths, "[4, 6, 8, 10]"),
    "verification": Written(_share, "0.15"),
    "cohorts": Written(_cohorts, "32"),
    "points": Written(_points, "8192"),
}
AUTHORING = Authoring(KEYS, resolve)
