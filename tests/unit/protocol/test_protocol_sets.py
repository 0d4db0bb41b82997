"""Answers that are sets: what is an answer, what is refused, what may be written and published."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import read_authored, resolve
from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.protocol import ABSENT, Field, KRRParameters, Question, RapporParameters, Sets
from deniable.protocol.domain_reading import domain_from_published

NAMES = ("git", "vim", "ssh", "é")
TOOLS = Sets(NAMES, 2)


@given(st.lists(st.sampled_from(NAMES), max_size=2), st.sampled_from([list, tuple, set, frozenset]))
def test_the_key_is_the_members_in_rising_order(value: list[str], kind: type) -> None:
    answer = TOOLS.answer(kind(value))
    codes = sorted({NAMES.index(name) for name in value})
    assert answer.members == tuple(codes)
    assert answer.key == b"m" + b"".join(code.to_bytes(4, "little") for code in codes)
    assert answer.code == -1
    assert "hidden" in repr(answer)


def test_names_are_compared_in_nfc_and_count_once() -> None:
    assert TOOLS.answer(["e\u0301", "é", "git", "git"]).members == (0, 3)
    assert TOOLS.answer([]).key == b"m"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("git", "type"),
        (b"git", "type"),
        ({"git": True}, "type"),
        (None, "type"),
        (3, "type"),
        (iter(["git"]), "type"),
        ([["git"]], "type"),
        ([None], "type"),
        (["emacs"], "unknown_category"),
        (["git", "vim", "ssh"], "too_many"),
        (["git"] * 70_000, "too_many"),
    ],
)
def test_what_is_no_answer_is_refused_without_the_value(value: object, reason: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        TOOLS.answer(value)
    assert caught.value.reason == reason
    assert "emacs" not in str(caught.value)


def test_as_a_closed_domain_it_has_an_answer_for_none_and_for_absent() -> None:
    assert TOOLS.size == 5
    assert TOOLS.labels == (*NAMES, "(none)")
    field = Field("value", TOOLS, KRRParameters(6, 2**64, 2**63))
    assert field.answer(ABSENT, absent=True).code == 5
    field.parameters.check_domain(TOOLS, absent=True)
    with pytest.raises(InvalidParameter):
        field.parameters.check_domain(TOOLS, absent=False)


def test_published_round_trip() -> None:
    assert domain_from_published(TOOLS.published()) == TOOLS
    for most in (0, 5, True, "2", 2.0):
        with pytest.raises(InvalidParameter, match="'most' must be an integer from 1 to 4"):
            domain_from_published({**TOOLS.published(), "most": most})
    many = {"type": "set", "values": [str(i) for i in range(65_536)], "most": 1}
    with pytest.raises(InvalidParameter, match="2 to 65,535"):
        domain_from_published(many)


@pytest.mark.parametrize(
    ("names", "most", "exponents"),
    [(6, 2, (2, 2)), (4, 2, (2, 2)), (3, 2, (2, 1)), (3, 3, (3, 0)), (2, 1, (1, 1))],
)
def test_rappor_of_a_bit_per_name(names: int, most: int, exponents: tuple[int, int]) -> None:
    domain = Sets(tuple(map(str, range(names))), most)
    wanted = {"epsilon": 1.0, "epsilon_forever": 3.0, "per": "bit"}
    parameters = resolve(RapporParameters, wanted, domain, False)
    assert (parameters.bits, parameters.members) == (names, most)
    assert parameters.exponents == exponents
    assert 1_000_000 - 8 <= parameters.epsilon_once <= 1_000_000
    assert parameters.epsilon_forever is not None
    assert 3_000_000 - 8 <= parameters.epsilon_forever <= 3_000_000


TOML = """
name = "n"
owner = "o"
[[questions]]
id = "tools"
description = "d"
expires = 2099-01-01
domain = {domain}
mechanism = "{mechanism}"
parameters = {{ {parameters} }}
{more}
"""


def written(
    folder: Path,
    domain: str = '{ type = "set", values = ["a", "b", "c"], most = 2 }',
    mechanism: str = "krr",
    parameters: str = "epsilon = 1",
    more: str = "",
) -> tuple[Question | None, list[str], list[str]]:
    path = folder / "survey.toml"
    path.write_text(
        TOML.format(domain=domain, mechanism=mechanism, parameters=parameters, more=more)
    )
    read = read_authored(path)
    question = read.survey.questions[0] if read.survey else None
    return question, [str(p) for p in read.problems], [str(w) for w in read.warnings]


def test_a_set_is_read_from_toml(tmp_path: Path) -> None:
    question, problems, warnings = written(tmp_path)
    assert (problems, warnings) == ([], [])
    assert question is not None
    assert question.fields[0].domain == Sets(("a", "b", "c"), 2)
    assert question.repeat == "once"


@pytest.mark.parametrize(
    ("domain", "problem"),
    [
        ('{ type = "set", values = ["a", "b"] }', "domain.most: missing"),
        ('{ type = "set", values = ["a", "b"], most = 3 }', "integer from 1 to 2"),
        ('{ type = "set", values = ["a", "b"], most = 0 }', "integer from 1 to 2"),
        ('{ type = "set", values = ["a"], most = 1 }', "2 to 65,535 names"),
        ('{ type = "set", values = ["a", "a"], most = 1 }', "appear twice"),
        ('{ type = "set" }', "domain.most: missing"),
        ('{ type = "set", most = 0 }', "integer from 1 to 65,535"),
        ('{ type = "set", most = 2, alphabet = "ab" }', "length: missing"),
        ('{ type = "set", values = ["a", "b"], most = 1, length = 3 }', "unknown key"),
        ('{ type = "set", values = ["a", "b"], most = 1, edges = [1] }', "unknown key"),
    ],
)
def test_what_is_wrong_with_a_set_is_said(tmp_path: Path, domain: str, problem: str) -> None:
    question, problems, _ = written(tmp_path, domain)
    assert question is None
    assert any(problem in text for text in problems), problems


def test_permanent_reports_and_their_warning(tmp_path: Path) -> None:
    permanent = 'repeat = "permanent"'
    question, problems, warnings = written(tmp_path, more=permanent)
    assert (problems, warnings) == ([], [])
    assert question is not None
    assert question.epsilon_forever == question.epsilon_once == 1_000_000
    two = "epsilon = 1, epsilon_forever = 2"
    question, _, warnings = written(tmp_path, parameters=two, more=permanent)
    assert question is not None
    assert question.epsilon_forever == question.epsilon_once
    assert "only adds noise" in warnings[0]
    _, _, warnings = written(tmp_path, more='repeat = "epoch"')
    assert '"permanent"' in warnings[0]
