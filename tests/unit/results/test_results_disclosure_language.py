"""A disclosure in another language: every sentence of it, or an error that says what is missing."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from deniable.authoring import read_authored, resolve
from deniable.errors import InvalidParameter
from deniable.protocol import (
    Attribute,
    Boolean,
    Categories,
    Field,
    Numbers,
    Profile,
    Question,
    StringSets,
    Survey,
)
from deniable.protocol.profile_domain import Perhaps
from deniable.results.disclosure import disclose, page_html, read_language
from deniable.results.disclosure.language import ENGLISH, Language, english
from deniable.results.disclosure.randomised import how
from material.channels import CASES
from material.commands import call, run

MARKED = re.compile(r"^⟪.*⟫$", re.DOTALL)
SURVEY = """
name = "app"
owner = "team"
people = 1_000_000
retention_days = 30

[[segments]]
name = "platform"
values = ["linux", "mac"]
shares = [0.5, 0.4]

[[questions]]
id = "both"
description = "Both?"
expires = 2099-12-31
segments = ["platform"]
asked = 0.5
[[questions.fields]]
name = "one"
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }
[[questions.fields]]
name = "two"
domain = { type = "categories", values = ["a", "b", "c"] }
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "always"
description = "Always?"
expires = 2099-12-31
segments = ["platform"]
send = "always"
domain = { type = "categories", values = ["a", "b", "c"] }
mechanism = "oue"
parameters = { epsilon = 1.0 }

[[questions]]
id = "levels"
description = "How sure?"
expires = 2099-12-31
epoch = 7
repeat = "epoch"
domain = "boolean"
mechanism = "krr"
[[questions.levels]]
name = "strict"
epsilon = 0.5
share = 0.5
[[questions.levels]]
name = "open"
epsilon = 30.0
share = 0.5
"""


class Marking(Language):
    """A language whose sentences are marked, and which remembers what it was asked for."""

    def __init__(self) -> None:
        flat = dict(_flat())
        super().__init__({key: f"⟪{text}⟫" for key, text in flat.items()} | {"language": "xx"})
        self.keys, self.used = set(flat), {"language"}

    def __call__(self, key: str, **names: object) -> str:
        self.used.add(key)
        return super().__call__(key, **names)


def _flat() -> list[tuple[str, str]]:
    data = tomllib.loads(ENGLISH.read_text("utf-8"))
    return [
        (f"{key}.{name}".rstrip("."), text)
        for key, part in data.items()
        for name, text in (part.items() if isinstance(part, dict) else [("", part)])
    ]


def surveys(folder: Path) -> list[Survey]:
    """Surveys that say everything that a page can say."""
    (folder / "survey.toml").write_text(SURVEY)
    written = read_authored(folder / "survey.toml").require()
    fields = [case.field for case in CASES]
    krr = {"epsilon": 1.0}
    numbers, many = Numbers(("0", "1", "2")), Categories(tuple("abcdefghijklmn"))
    sets = StringSets(most=2)
    profile = Profile(
        (Attribute("a", Perhaps(Boolean())), Attribute("b", Categories(("x", "y", "z"))))
    )
    fields += [
        Field("value", domain, resolve("krr", krr, domain, False)) for domain in (numbers, many)
    ]
    fields.append(Field("value", sets, resolve("rappor", {"epsilon": 1.0}, sets, True)))
    for order, mechanism in ((1, "coefficients"), (2, "views")):
        wanted = {"epsilon": 1.0, "order": order}
        fields.append(Field("value", profile, resolve(mechanism, wanted, profile, False)))
    four = Profile(tuple(Attribute(name, Boolean()) for name in "abcd"))
    views = resolve("views", {"epsilon": 1.0, "order": 2, "size": 3}, four, False)
    fields.append(Field("value", four, views))
    repeats = [("once", 1), ("epoch", 1), ("epoch", 7), ("permanent", 7)]
    asked = [
        Question(f"q{i}", 1, "", "o", date(2099, 1, 1), epoch, repeat, "recorded", (field,))
        for i, field in enumerate(fields)
        for repeat, epoch in (repeats if i < 2 else repeats[:1])
    ]
    made = [Survey("s", "o", (question,)) for question in asked]
    return [
        written,
        replace(written, retention_days=1, keep_counts=1),
        *made,
    ]


def test_no_word_of_a_page_is_outside_of_the_file(tmp_path: Path) -> None:
    say = Marking()
    for case in CASES:
        assert all(MARKED.match(sentence) for sentence in how(case.field, say))
    for survey in surveys(tmp_path):
        page = disclose(survey, say)
        assert page.language == "xx"
        told = [page.title, *page.introduction]
        sections = [*page.closing, *(one for asked in page.questions for one in asked.sections)]
        for section in sections:
            told += [section.heading, *section.points]
        for text in told:
            assert all(MARKED.match(part) for part in re.split(r"(?<=⟫) (?=⟪)", text)), text
    assert say.keys - say.used == set()  # a sentence that is never said need not be translated


def translated(folder: Path, *changes: tuple[str, str]) -> Path:
    text = ENGLISH.read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "other.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_translation_is_used_whole(tmp_path: Path) -> None:
    path = translated(
        tmp_path, ('language = "en"', 'language = "de"'), ('"Yes or no."', '"Ja oder nein."')
    )
    page = page_html(disclose(surveys(tmp_path)[0], read_language(path))).decode()
    assert '<html lang="de">' in page
    assert "Ja oder nein." in page
    assert "Yes or no." not in page


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('boolean = "Yes or no."\n', "", "kinds.boolean is missing"),
        ("boolean = ", "bolean = ", r"kinds.bolean is not known \(did you mean kinds.boolean\?\)"),
        ("{share} in {parts}", "{share}", "odds.parts must have the names parts, share in braces"),
        ('"Yes or no."', '"Yes {or} no."', "kinds.boolean must have the names none"),
        ('"Yes or no."', '"Yes {or no."', "kinds.boolean: expected '}'"),
        ('"Yes or no."', '" "', "kinds.boolean must be a sentence"),
        ('"Yes or no."', "7", "kinds.boolean must be a sentence"),
        ('"Yes or no."', '"Yes', "is not TOML"),
        ('language = "en"\n', "", "language is missing"),
    ],
)
def test_what_is_wrong_with_a_translation_is_said(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(InvalidParameter, match=words):
        read_language(translated(tmp_path, (old, new)))


def test_the_command_takes_a_translation_and_prints_what_to_translate(tmp_path: Path) -> None:
    survey = tmp_path / "survey.toml"
    survey.write_text(SURVEY)
    printed = call("explain", survey, "--sentences")
    assert printed == ENGLISH.read_text("utf-8")
    path = tmp_path / "de.toml"
    path.write_text(printed.replace("Yes or no.", "Ja oder nein."), "utf-8")
    assert "Ja oder nein." in call("explain", survey, "--public", "--language", path)
    call("explain", survey, "--public", "--language", path, "-o", tmp_path / "page.html")
    assert "Ja oder nein." in (tmp_path / "page.html").read_text("utf-8")
    assert "--public" in str(run("explain", survey, "--language", path).exception)
    path.write_text("", "utf-8")
    wrong = run("explain", survey, "--public", "--language", path)
    assert "page.title is missing" in str(wrong.exception)


def test_english_is_the_default() -> None:
    assert english().code == "en"
    assert read_language(ENGLISH)("kinds.boolean") == "Yes or no."
