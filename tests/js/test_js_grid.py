"""Whatever `publish` can emit, the JavaScript client reads and encodes as Python does.

A grid of domains, mechanisms, parameters, `repeat` and `send` is written as people write it. What
authoring refuses is left out; of all the rest both clients must have the same digest, the same
epsilons and, with the same secret and the same draws, the same records.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from deniable.authoring import read_authored
from deniable.client.encode import encode
from deniable.client.randomness import StreamDraws
from deniable.protocol import MECHANISMS, Question
from deniable.protocol.built_in import PROFILES
from deniable.protocol.prf import Stream
from material.js_reports import published
from material.node import JS, node
from material.vectors import value_of

Spelled = dict[str, Any]


def texts(*values: str) -> list[Spelled]:
    return [{"string": value} for value in values]


def lists(*values: list[str]) -> list[Spelled]:
    return [{"list": texts(*value)} for value in values]


NAMES = '["a", "b", "c", "d", "é"]'
NUMBERS: list[Spelled] = [{"number": number} for number in ("0.5", "2", "-7.25", "1e300", "inf")]
WORDS = texts("", "ab", "abba", "x" * 4096, "é")
ALPHABET = 'alphabet = "abé", length = 4'
SINGLE: dict[str, tuple[str, list[Spelled]]] = {
    "boolean": ('"boolean"', [{"boolean": True}, {"boolean": False}]),
    "categories": (f'{{ type = "categories", values = {NAMES} }}', texts("a", "é", "e\u0301")),
    "edges": ('{ type = "numbers", edges = [-1, 0.5, 100] }', NUMBERS),
    "bins": ('{ type = "numbers", low = 1, high = 9, bins = 3, scale = "log" }', NUMBERS),
    "strings": ('"strings"', WORDS),
    "refuse": (f'{{ type = "strings", {ALPHABET} }}', texts("", "ab", "abbaab", "é")),
    "escape": (f'{{ type = "strings", {ALPHABET}, outside = "escape" }}', WORDS),
    "set": (f'{{ type = "set", values = {NAMES}, most = 2 }}', lists([], ["a"], ["é", "b"])),
    "strings_set": ('{ type = "set", most = 3 }', lists([], ["mail"], ["a", "b", "c", "d", "e"])),
    "letters_set": (f'{{ type = "set", most = 2, {ALPHABET} }}', lists([], ["ab"], ["é", "bbbbb"])),
}
PARAMETERS = (
    "epsilon = 1.0",
    "epsilon = 1.0, epsilon_forever = 3.0",
    "f = 0.5, p = 0.4, q = 0.7",
    "k = 16, h = 2, m = 4, f = 0.5, p = 0.5, q = 0.75",
    "epsilon = 1.0, k = 16, h = 1, m = 2",
    'epsilon = 1.0, m = 4, form = "permuted"',
    "epsilon = 1.5, symbols = 5, cohorts = 3",
    "epsilon = 1.0, g = 4, seeds = 8",
    "epsilon = 1.0, rows = 2, width = 8",
    "epsilon = 2.0, cohorts = 2, points = 40, lengths = [1, 2, 4]",
    "epsilon = 3.0, n = 2, bits = 8, cohorts = 2",
)
ATTRIBUTES = """[[questions.fields]]
name = "wet"
domain = "boolean"
[[questions.fields]]
name = "hue"
domain = { type = "categories", values = ["x", "y", "z"] }
unknown = true
[[questions.fields]]
name = "size"
domain = { type = "numbers", edges = [1, 10] }
"""
ONE_PROFILE: list[Spelled] = [
    {"fields": {"wet": {"boolean": True}, "hue": {"string": "z"}, "size": {"number": "3"}}},
    {"fields": {"wet": {"boolean": False}, "size": {"integer": "77"}}},
]
BASES = ("", ', basis = "contrasts"', ', basis = "walsh"', ", g = 4, seeds = 8")
ABSENT: Spelled = {"absent": 1}
TWO = """[[questions.fields]]
name = "dark"
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0, epsilon_forever = 2.0 }
[[questions.fields]]
name = "page"
domain = "strings"
mechanism = "rappor"
parameters = { k = 16, h = 2, m = 4, f = 0.5, p = 0.5, q = 0.75 }
"""
DARK: list[Spelled] = [{"fields": {"dark": {"boolean": True}, "page": {"string": "mail"}}}]


def written() -> Iterator[tuple[str, list[Spelled]]]:
    """Yield questions as people write them, with values to encode."""
    for repeat, send in product(("once", "epoch", "permanent"), ("recorded", "always")):
        how = f'repeat = "{repeat}"\nsend = "{send}"\n'
        absent = [ABSENT] if send == "always" else []
        singles = [name for name in MECHANISMS if name not in PROFILES]
        for (domain, values), mechanism in product(SINGLE.values(), singles):
            for parameters in PARAMETERS:
                about = f'domain = {domain}\nmechanism = "{mechanism}"\n'
                yield f"{how}{about}parameters = {{ {parameters} }}\n", values + absent
        yield how + TWO, DARK + absent
        if send == "recorded":
            for mechanism, order, more in product(PROFILES, (1, 2), BASES):
                about = f'mechanism = "{mechanism}"\nparameters = {{ epsilon = 1.0, order = {order}'
                yield f"{how}{about}{more} }}\n{ATTRIBUTES}", ONE_PROFILE


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Question, Spelled, list[Spelled]]]:
    """Return every question of the grid that can be published, as published, with its values."""
    path = tmp_path_factory.mktemp("grid") / "survey.toml"
    head = 'name = "t"\nowner = "t"\npeople = 1000000\n'
    about = '[[questions]]\nid = "q"\ndescription = "?"\nexpires = 2099-12-31\n'
    found: dict[str, tuple[Question, Spelled, list[Spelled]]] = {}
    for text, values in written():
        path.write_text(head + about + text, encoding="utf-8")
        survey = read_authored(path).survey
        if survey is not None:
            (question,), (spelled,) = survey.questions, published(survey)
            found[question.digest.hex()] = (question, spelled, values)
    return list(found.values())


def test_the_grid_has_every_mechanism_and_every_domain(
    grid: list[tuple[Question, Spelled, list[Spelled]]],
) -> None:
    fields = [field for question, _, _ in grid for field in question.fields]
    assert {field.parameters.mechanism for field in fields} == set(MECHANISMS)
    kinds = {
        (type(field.domain).__name__, question.absent)
        for question, _, _ in grid
        for field in question.fields
    }
    names = {"Boolean", "Categories", "Numbers", "Sets", "StringSets", "Strings"}
    assert kinds == {*product(names, (True, False)), ("Profile", False)}
    assert {question.repeat for question, _, _ in grid} == {"once", "epoch", "permanent"}
    assert len(grid) > 200
    text = (JS / "src" / "survey.js").read_text()
    assert all(f'"{name}"' in text for name in MECHANISMS)


def test_both_clients_make_the_same_of_every_question(
    grid: list[tuple[Question, Spelled, list[Spelled]]],
) -> None:
    secret, key = secrets.token_bytes(32), secrets.token_bytes(32)
    print("secret", secret.hex(), "key", key.hex())
    drawn = {"secret": secret.hex(), "fresh_key": key.hex()}
    lines = [json.dumps({"question": q, "values": values, **drawn}) for _, q, values in grid]
    done = node("tests/encode_lines.js", given="\n".join(lines).encode())
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    told = [json.loads(line) for line in done.stdout.splitlines()]
    for (question, spelled, values), found in zip(grid, told, strict=True):
        wanted = {
            "digest": question.digest.hex(),
            "costs": [
                [field.parameters.epsilon_once, field.parameters.epsilon_forever]
                for field in question.fields
            ],
            "records": [
                encode(question, value_of(value), secret, StreamDraws(Stream(key))).hex()
                for value in values
            ],
        }
        assert found == wanted, spelled
