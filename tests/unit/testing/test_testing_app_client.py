"""The client for tests of apps: it raises at the app's mistakes, and shows what would leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.authoring import read_authored
from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.testing.app_client import MakeClient, strict_client
from material.surveys import BOOLEAN, asked, categories, profile, several, survey

__all__ = ["strict_client"]
pytest_plugins = ["pytester"]
JANE = "jane.doe"
SURVEY = survey(
    asked("dark-mode"),
    asked("colour", categories("red", "blue"), "krr", "epsilon = 2.0"),
    several("two", ("a", BOOLEAN, "krr", "epsilon = 3.0"), ("b", BOOLEAN, "krr", "epsilon = 3.0")),
    profile("many", "marg_ps", "epsilon = 3.0, order = 2", ("x", BOOLEAN), ("y", BOOLEAN)),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "survey.toml").write_text(SURVEY)
    path = tmp_path / "survey.json"
    path.write_bytes(read_authored(tmp_path / "survey.toml").require().published())
    return path


def test_what_would_be_sent_is_shown(strict_client: MakeClient, file: Path) -> None:
    client = strict_client(file)
    assert client.would_send() == []
    client.record("dark-mode", True)
    client.record("colour", "red")
    assert client.would_send() == [
        "colour: 4 bytes, epsilon 2",
        "dark-mode: 4 bytes, epsilon 1",
    ]
    assert "colour" in client.explain()


def test_an_unknown_question_is_guessed(strict_client: MakeClient, file: Path) -> None:
    with pytest.raises(InvalidParameter, match="Did you mean 'dark-mode'"):
        strict_client(file).record("dark_mode", True)


@pytest.mark.parametrize(
    ("question", "value", "words"),
    [
        ("colour", JANE, "Allowed: value: red, blue"),
        ("dark-mode", JANE, "Allowed: value: false, true"),
        ("two", {"a": True}, "must have every field"),
        ("many", {"x": True, "z": JANE}, "attribute that the question has not"),
    ],
)
def test_a_value_outside_of_the_domain_raises_without_it(
    strict_client: MakeClient,
    file: Path,
    question: str,
    value: object,
    words: str,
) -> None:
    client = strict_client(file)
    with pytest.raises(InvalidAnswer, match=words) as caught:
        client.record(question, value)
    assert JANE not in str(caught.value)
    assert caught.value.__context__ is None
    assert JANE not in repr(client)


def test_what_is_not_the_apps_mistake_is_counted(strict_client: MakeClient, file: Path) -> None:
    client = strict_client(file)
    client.record("colour", "red")
    client.record("colour", "blue")
    assert client.counters()["colour", "answered"] == 1
    assert len(client.would_send()) == 1


def test_the_fixture_is_found_as_a_plugin(pytester: pytest.Pytester, file: Path) -> None:
    pytester.makeconftest('pytest_plugins = ["deniable.testing.app_client"]')
    pytester.makepyfile(
        f"""
        def test_app(strict_client):
            client = strict_client({str(file)!r})
            client.record("dark-mode", False)
            assert client.would_send() == ["dark-mode: 4 bytes, epsilon 1"]

        def test_two_clients_are_two_devices(strict_client):
            one, two = strict_client({str(file)!r}), strict_client({str(file)!r})
            one.record("dark-mode", False)
            assert two.would_send() == []
        """
    )
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-q")
    done.assert_outcomes(passed=2)
