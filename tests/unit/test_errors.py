"""The exception tree: what each error says, carries and is."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from deniable import errors
from deniable.errors import (
    DeniableError,
    InvalidAnswer,
    InvalidParameter,
    InvalidReport,
    InvalidSurvey,
    LedgerLost,
    MissingExtra,
    OutcomeUnknown,
    RecordRefused,
    StoreError,
)

EXAMPLES = [
    InvalidParameter("It is wrong.", "Mend it."),
    InvalidAnswer("type", "The value must be a number."),
    InvalidSurvey(["first", "second"]),
    InvalidReport("record", "The record is short."),
    RecordRefused("ceiling", "The ceiling is reached."),
    StoreError("The disk is full."),
    OutcomeUnknown("The connection was lost."),
    LedgerLost("The database is missing."),
    MissingExtra("analysis", "Estimating"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_every_error_is_one_of_ours(error: DeniableError) -> None:
    assert isinstance(error, DeniableError)


def test_every_public_error_has_an_example_here_and_a_line_in_the_tree() -> None:
    public = {
        name
        for name, item in vars(errors).items()
        if isinstance(item, type) and issubclass(item, DeniableError) and not name.startswith("_")
    }
    assert public == {type(error).__name__ for error in EXAMPLES} | {"DeniableError"}
    assert errors.__doc__ is not None
    assert all(name in errors.__doc__ for name in public)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_errors_survive_copying_as_pickling_does_it(
    error: DeniableError, again: Callable[[DeniableError], DeniableError]
) -> None:
    other = again(error)
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert vars(other) == vars(error)


def test_messages() -> None:
    assert str(InvalidParameter("It is wrong.", "Mend it.")) == "It is wrong. Mend it."
    assert str(InvalidParameter("It is wrong.")) == "It is wrong."
    assert str(InvalidAnswer("type", "Words.")) == "Words."
    assert str(InvalidReport("schema", "Words.")) == "Words."
    assert str(RecordRefused("ceiling", "Words.")) == "Words."
    assert str(InvalidSurvey(["first", "second"])) == "first\nsecond"
    assert "pip install 'deniable[analysis]'" in str(MissingExtra("analysis", "Estimating"))


def test_errors_carry_what_is_needed_to_react() -> None:
    assert InvalidParameter("a", "b").fix == "b"
    assert InvalidAnswer("too_long", "m").reason == "too_long"
    assert InvalidReport("digest", "m").reason == "digest"
    assert RecordRefused("expired", "m").reason == "expired"
    assert InvalidSurvey(["a", "b"]).problems == ("a", "b")
    assert MissingExtra("server", "Serving").extra == "server"


@pytest.mark.parametrize("kind", [InvalidParameter, InvalidAnswer, InvalidSurvey, InvalidReport])
def test_bad_input_is_also_a_value_error(kind: type[Exception]) -> None:
    assert issubclass(kind, ValueError)


def test_a_missing_extra_is_also_an_import_error() -> None:
    assert issubclass(MissingExtra, ImportError)
