"""The bytes that ARCHITECTURE.md shows at each stage are what the code makes of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deniable.cli.demo_survey import publish_demo
from deniable.client import encode as encoding
from deniable.client.encode import encode
from deniable.client.randomness import StreamDraws
from deniable.protocol import Question, RapporParameters, Report, batch_bytes
from deniable.protocol.canonical import canonical
from deniable.protocol.compact import compact_bytes
from deniable.protocol.hashing import bloom_bits
from deniable.protocol.prf import Stream
from material.imports import folder_edges

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
SQUEEZED = re.sub(r"\s+", "", TEXT)
SECRET = bytes(range(32))
VALUE = "https://mail.example"


@pytest.fixture
def question(tmp_path: Path) -> Question:
    found = publish_demo(tmp_path).question("homepage")
    assert found is not None
    return found


def shown(text: str) -> bool:
    return re.sub(r"\s+", "", text) in SQUEEZED


def test_the_survey_stage(question: Question) -> None:
    (field,) = question.fields
    assert shown(canonical(field.parameters.published()).decode())
    assert question.digest.hex() in TEXT
    assert f"epsilon  {question.epsilon_once / 1e6:.6f} once, " in TEXT
    assert f"{(question.epsilon_forever or 0) / 1e6:.6f} for ever" in TEXT


def test_the_encode_stage(question: Question) -> None:
    (field,), (answer,) = question.fields, question.answers(VALUE)
    parameters = field.parameters
    assert isinstance(parameters, RapporParameters)
    assert f"`{answer.key.decode()}`" in TEXT
    assert shown(f"{answer.words[0]:x} and {answer.words[1]:x}")
    cohort = encoding.cohort_draws(SECRET, question, field).below(parameters.cohorts)
    bits = bloom_bits(answer.words, cohort, parameters.hashes, parameters.bits)
    assert shown(f"cohort {cohort} for this question")
    assert shown(f"bits {bits[0]} and {bits[1]}.")
    draws = encoding.permanent_draws(SECRET, question, field, answer)
    one, zero = parameters.permanent_one, parameters.permanent_zero
    permanent = sum(draws.coin(one if i in bits else zero) << i for i in range(128))
    record = encode(question, VALUE, SECRET, StreamDraws(Stream(bytes(32))))
    reported = int.from_bytes(record[2:], "little").bit_count()
    assert shown(f"has {permanent.bit_count()} bits set, the report {reported} of 128")
    assert f"permanent  {permanent.to_bytes(16, 'little').hex()} " in TEXT
    assert f"record     {record[:2].hex()} {record[2:].hex()} " in TEXT
    report = Report(question.id, 1, question.digest, 2967, bytes(range(16)), record)
    assert shown(batch_bytes([report]).decode())
    packed = compact_bytes([report])
    assert packed is not None
    assert shown(packed.hex())


OUTSIDE = {"spec", "js"}
"""Rows of the code map that are no folders of the package."""


def test_every_folder_of_the_package_is_on_the_code_map() -> None:
    folders = {path.parent.name for path in (ROOT / "src/deniable").glob("*/__init__.py")}
    mapped = set(re.findall(r"^\| `([a-z]+)/` \|", TEXT, re.MULTILINE)) - OUTSIDE
    assert mapped == folders


def test_the_code_map_lists_the_true_edges_between_folders() -> None:
    rows = re.findall(r"^\| `([a-z]+)/` \|.*\| ([^|]*) \|$", TEXT, re.MULTILINE)
    said = {
        folder: re.findall(r"`([a-z]+)`", cell) for folder, cell in rows if folder not in OUTSIDE
    }
    assert said == {folder: sorted(edges) for folder, edges in folder_edges().items()}


def test_the_layers_are_the_ones_that_are_checked() -> None:
    checked = re.search(r"layers = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.DOTALL)
    assert checked
    layers = " > ".join(re.findall(r'"([^"]+)"', checked.group(1)))
    assert shown(layers)
