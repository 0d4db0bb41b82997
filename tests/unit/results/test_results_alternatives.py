"""Why this mechanism: the numbers of the alternatives, in words and in JSON."""

from __future__ import annotations

from datetime import date

import pytest

from deniable.authoring import resolve
from deniable.authoring.auto import CLOSED, OPEN
from deniable.protocol import (
    Attribute,
    Boolean,
    Categories,
    Domain,
    Field,
    Profile,
    Question,
    RapporParameters,
    Strings,
)
from deniable.results.alternatives import alternatives, why
from deniable.results.explain import explain_question

TEN = Categories(tuple(f"c{i}" for i in range(10)))


def asked(domain: Domain, mechanism: str, name: str = "value", **wanted: object) -> Question:
    parameters = resolve(mechanism, wanted, domain, False)
    field = Field(name, domain, parameters)
    return Question("q", 1, "d", "o", date(2099, 1, 1), 1, "once", "recorded", (field,))


def told(question: Question, people: int | None = None) -> str:
    return why(question.fields[0], alternatives(question, question.fields[0], people))


def test_the_best_is_said_to_be_what_auto_chooses() -> None:
    text = told(asked(Boolean(), "krr", epsilon=1.0))
    assert 'is krr, what "auto" chooses' in text
    assert "variance 0.921 / n, 4 bytes each, and work n + k" in text


def test_a_worse_one_is_said_to_be_worse_and_by_how_much() -> None:
    text = told(asked(TEN, "hadamard", epsilon=1.0))
    assert 'is hadamard, where "auto" would choose subset, for' in text
    assert "% less variance" in text
    assert "subset" in text.partition("At the same epsilon:")[2]


def test_fields_are_named_and_forms_said() -> None:
    assert "The mechanism of colour is basic rappor" in told(
        asked(TEN, "rappor", "colour", epsilon=1.0)
    )
    assert "a rare string" in told(asked(Strings(), "rappor", epsilon=1.0))


@pytest.mark.parametrize(("domain", "names"), [(TEN, CLOSED), (Strings(), OPEN)])
def test_json_has_every_alternative(domain: Domain, names: tuple[str, ...]) -> None:
    question = asked(domain, "olh", epsilon=1.0)
    printed = explain_question(question, 10**6).as_json()
    (rows,) = printed["alternatives"].values()
    assert {row["mechanism"] for row in rows} == set(names)
    for row in rows:
        assert set(row) == {"mechanism", "n_variance", "bytes", "work"}
    own = next(row for row in rows if row["mechanism"] == "olh")
    assert own["bytes"] == question.record_size


def test_a_mechanism_that_auto_does_not_consider_is_compared_all_the_same() -> None:
    question = asked(Strings(), "orr", epsilon=1.0)
    found = alternatives(question, question.fields[0])
    assert found[-1].parameters == question.fields[0].parameters
    assert "is orr" in told(question)


def test_the_sentence_stands_in_the_explanation() -> None:
    question = asked(TEN, "krr", epsilon=1.0)
    assert told(question) in explain_question(question).reasons


def test_nothing_is_compared_where_auto_takes_no_such_epsilon() -> None:
    parameters = resolve(RapporParameters, {"f": 0.5, "p": 0, "q": 1}, TEN, False)
    field = Field("value", TEN, parameters)
    question = Question("q", 1, "d", "o", date(2099, 1, 1), 1, "epoch", "recorded", (field,))
    assert alternatives(question, field) == []
    assert told(question) == ""


EIGHT = Profile(tuple(Attribute(f"a{i}", Boolean()) for i in range(8)))


@pytest.mark.parametrize(("people", "best"), [(5_000, "views of 2"), (5 * 10**6, "coefficients")])
def test_for_records_the_number_of_people_decides(people: int, best: str) -> None:
    """Both mechanisms, asked about with few people and with many."""
    for mechanism in ("views", "coefficients"):
        question = asked(EIGHT, mechanism, epsilon=0.5, people=people)
        field = question.fields[0]
        text = why(field, alternatives(question, field, people), people=people)
        chosen = best.startswith(mechanism)
        assert ('what "auto" chooses' in text) is chosen
        assert (f'where "auto" would choose {best}, for the least error' in text) is not chosen
        assert f"of smoothed tables with {people:,} people" in text


def test_views_of_another_size_stand_beside_those_of_auto() -> None:
    question = asked(EIGHT, "views", epsilon=0.5, size=4)
    field = question.fields[0]
    found = alternatives(question, field, 5_000)
    assert [c.mechanism for c in found].count("views") == 2
    assert found[-1].parameters == field.parameters
    assert found[-1].noise > found[0].noise
    text = why(field, found, people=5_000)
    assert 'is views of 4 attributes, where "auto" would choose views of 2' in text


def test_a_method_of_the_paper_has_no_number_but_the_choice_is_named() -> None:
    text = told(asked(EIGHT, "inp_ht", epsilon=0.5))
    assert 'no closed form. "auto" would choose' in text
    assert "with 1,000,000 people, the default where a survey does not say" in text
