"""Every mechanism and kind of domain from survey.toml to a table: publish, simulate, estimate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.errors import InvalidParameter
from deniable.protocol import Survey
from deniable.testing.statistics import accept, mean
from material.commands import call

ALPHA = 1e-10
NAMES = ["git", "vim", "ssh", "curl", "tmux"]
CATEGORIES = f'{{ type = "categories", values = {json.dumps(NAMES)} }}'
SET = f'{{ type = "set", values = {json.dumps(NAMES)}, most = 3 }}'

QUESTIONS = {
    "oue": (CATEGORIES, "oue", "epsilon = 2.0, epsilon_forever = 4.0"),
    "oue-of-bins": ('{ type = "numbers", edges = [1, 2, 3, 4, 5] }', "oue", "epsilon = 2.0"),
    "hadamard": (CATEGORIES, "hadamard", "epsilon = 2.0"),
    "subset": (CATEGORIES, "subset", "epsilon = 2.0"),
    "olh": (CATEGORIES, "olh", "epsilon = 2.0"),
    "olh-yes-no": ('"boolean"', "olh", "epsilon = 2.0, seeds = 65536"),
    "olh-strings": ('{ type = "strings" }', "olh", "epsilon = 2.0, g = 8"),
    "set-krr": (SET, "krr", "epsilon = 2.0"),
    "set-krr-chain": (SET, "krr", "epsilon = 2.0, epsilon_forever = 4.0"),
    "set-hadamard": (SET, "hadamard", "epsilon = 2.0"),
    "set-subset": (SET, "subset", "epsilon = 2.0"),
    "set-olh": (SET, "olh", "epsilon = 2.0"),
    "set-rappor": (SET, "rappor", "epsilon = 2.0"),
    "set-bits": (SET, "oue", 'epsilon = 6.0, per = "bit"'),
    "set-bits-rappor": (SET, "rappor", 'epsilon = 6.0, epsilon_forever = 12.0, per = "bit"'),
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mechanisms")
    text = 'name = "n"\nowner = "o"\n'
    for send in ("recorded", "always"):
        for name, (domain, mechanism, parameters) in QUESTIONS.items():
            text += (
                f'[[questions]]\nid = "{name}-{send}"\ndescription = "d"\nexpires = 2099-01-01\n'
                f'repeat = "permanent"\nsend = "{send}"\ndomain = {domain}\n'
                f'mechanism = "{mechanism}"\nparameters = {{ {parameters} }}\n'
            )
    (folder / "survey.toml").write_text(text)
    (folder / "names.txt").write_text("\n".join(NAMES))
    call("publish", folder / "survey.toml", "--output", folder / "survey.json")
    return folder / "survey.json"


@pytest.mark.parametrize("send", ["recorded", "always"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_truth_is_found(published: Path, tmp_path: Path, name: str, send: str) -> None:
    asked = [f"{name}-{send}", "--survey", published, "--data", tmp_path / "data", "--json"]
    if name == "olh-strings":
        asked += ["--candidates", published.parent / "names.txt"]
    truth = json.loads(call("simulate", *asked, "--people", 20_000, "--seed", 5))["truth"]["value"]
    rows = {row["value"]: row for row in json.loads(call("estimate", *asked))["rows"]}
    assert rows.keys() == truth.keys()
    assert ("(absent)" in rows) == (send == "always")
    for value, row in rows.items():
        accept(mean(row["frequency"], truth[value], row["std_error"]), ALPHA)
        assert row["std_error"] < 0.2
    if name.startswith("set"):
        assert sum(truth.values()) > 1.2  # people hold more than one name


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_a_device_would_send_is_admitted(published: Path, name: str) -> None:
    survey = Survey.load(published)
    for send in ("recorded", "always"):
        question = survey.question(f"{name}-{send}")
        assert question is not None
        kind = question.fields[0].domain.kind
        value = {"set": "git,tmux", "boolean": "yes", "numbers": "3.5"}.get(kind, "vim")
        for text in (value, '["ssh"]', "[]") if kind == "set" else (value,):
            printed = call("encode", question.id, text, "--survey", published)
            question.check_record(bytes.fromhex(printed.replace(" ", "")))


def test_explain_says_that_reports_can_be_linked_and_what_a_set_costs(published: Path) -> None:
    told = {
        question["id"]: " ".join(question["sentences"])
        for question in json.loads(call("explain", published, "--json"))["questions"]
    }
    for name, text in told.items():
        assert "every report of one value is the same" in text, name
        assert "identical, so that they can be linked" in text, name
    assert "one is drawn at random" in told["set-krr-recorded"]
    assert "two sets can differ, 5" in told["set-bits-recorded"]
    assert "two sets can differ, 6" in told["set-bits-always"]


def test_a_set_that_is_no_json_list_is_refused(published: Path) -> None:
    with pytest.raises(InvalidParameter, match="JSON list"):
        call("encode", "set-krr-recorded", '["git"', "--survey", published)
