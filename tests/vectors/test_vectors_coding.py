"""Coding models, frequencies and codes are those of the reference, bit for bit."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.protocol.coding import Coder
from deniable.protocol.coding_model import CharacterModel
from material.vectors import load

CASES = load("coding.json")


def _name(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_models_are_read_and_written(case: dict[str, Any]) -> None:
    model = CharacterModel.from_bytes(bytes.fromhex(case["model"]))
    assert model.letters == case["letters"]
    assert model.to_bytes().hex() == case["model"]


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_frequencies(case: dict[str, Any]) -> None:
    model = CharacterModel.from_bytes(bytes.fromhex(case["model"]))
    for row in case["frequencies"]:
        found = model.frequencies(model.context_of(tuple(row["before"])))
        assert list(found[:8]) == row["values"]


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_codes(case: dict[str, Any]) -> None:
    coder = Coder(CharacterModel.from_bytes(bytes.fromhex(case["model"])), case["length"])
    for row in case["codes"]:
        assert coder.code(row["text"]) == (int(row["number"]), row["digits"])
