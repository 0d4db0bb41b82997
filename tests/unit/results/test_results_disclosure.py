"""The page for the people who are asked, and the registry's entry: right numbers, safe strings."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest

from deniable.authoring import read_authored, resolve
from deniable.errors import InvalidParameter
from deniable.protocol import (
    Boolean,
    Categories,
    Domain,
    Field,
    Question,
    Sets,
    Strings,
    Survey,
)
from deniable.results.disclosure.deployment import deployment, deployment_yaml
from deniable.results.disclosure.facts import disclose
from deniable.results.disclosure.files import save_disclosure
from deniable.results.disclosure.page import page_html, page_markdown
from deniable.results.disclosure.randomised import how
from material.surveys import STARTER
from material.yaml_reading import read

FIVE = Categories(tuple("abcde"))
EVIL = '<script>alert("x")</script> & *bold* [link](x) \u202e'


@pytest.fixture
def starter(tmp_path: Path) -> Survey:
    (tmp_path / "survey.toml").write_bytes(STARTER.read_bytes())
    return read_authored(tmp_path / "survey.toml").require()


def asked(
    domain: Domain, mechanism: str, repeat: str = "once", send: str = "recorded", **wanted: object
) -> Question:
    parameters = resolve(mechanism, wanted, domain, send == "always")
    field = Field("value", domain, parameters)
    return Question("q", 2, EVIL, "o", date(2099, 1, 1), 7, repeat, send, (field,))


def told(question: Question) -> str:
    return page_markdown(disclose(Survey("s", "o", (question,)))).decode()


@pytest.mark.parametrize(
    ("days", "counts", "words"),
    [
        (None, None, "No day is set on which they are deleted."),
        (1, None, "deleted one day after the period that they are about. Sums that were made"),
        (400, 1, "deleted 400 days after the period that they are about. Sums over many devices"),
    ],
)
def test_every_page_says_how_long_reports_are_kept(
    starter: Survey, days: int | None, counts: int | None, words: str
) -> None:
    survey = replace(starter, retention_days=days, keep_counts=counts)
    text = " ".join(page_markdown(disclose(survey)).decode().split())
    kept = text.partition("How long reports are kept")[2]
    assert words in kept
    # A collector takes reports for a month by default, and deletes none before.
    assert ("Reports that arrive later are refused" in kept) is (days == 1)


def test_every_page_says_what_is_different_where_the_app_is_a_web_page(starter: Survey) -> None:
    text = page_markdown(disclose(starter)).decode()
    said = text.partition("## Where the app is a web page")[2].partition("\n## ")[0]
    for word in ("keeps the page's data", "new device", "best-effort", "User-Agent", "TLS"):
        assert word in said


def test_the_starter_survey_has_its_odds(starter: Survey) -> None:
    text = page_markdown(disclose(starter)).decode()
    assert "Is dark mode on?" in text
    assert "With probability 73.1% your device sends the true answer" in text
    assert "somebody who thought 1 in 2 could at most come to believe 11 in 15" in text
    assert "for ever: somebody who thought 1 in 2 could at most come to believe 81 in 82" in text
    assert "at most 2 of 128 switches" in text
    assert "with probability 68.8%, and every other switch with probability 56.2%" in text
    assert "one of 16 fixed recipes" in text
    assert "answers once, ever" in text


def test_numbers_are_the_questions_own(starter: Survey) -> None:
    data = disclose(starter).as_json()
    json.dumps(data, allow_nan=False)
    for question, shown in zip(starter.questions, data["questions"], strict=True):
        assert shown["epsilon"] == question.epsilon_once / 1e6
        assert shown["epsilon_forever"] == question.epsilon_forever / 1e6
    assert data["questions"][2]["beliefs"][0] == {
        "before": "1 in 2",
        "after_one_report": "3 in 4",
        "for_ever": "81 in 82",
    }


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (asked(FIVE, "krr", epsilon=1.0), "true answer, and otherwise another one of the 5"),
        (asked(Boolean(), "krr", epsilon=1.0), "true answer, and otherwise the opposite"),
        (asked(FIVE, "oue", epsilon=1.0), "50.0%, and every other switch with probability 26.9%"),
        (asked(FIVE, "subset", epsilon=1.0, d=2), "a list of 2 of the 5 possible answers"),
        (asked(FIVE, "hadamard", epsilon=1.0), "truthfully with probability 73.1%"),
        (asked(FIVE, "hcms", epsilon=1.0), "truthfully with probability 73.1%"),
        (asked(FIVE, "olh", epsilon=1.0, g=4), "put into 4 groups"),
        (asked(Strings(), "orr", epsilon=1.0, k=4, cohorts=8), "which of 8 groups your device"),
        (asked(FIVE, "pgr", epsilon=1.0), "numbers. "),
        (asked(Boolean(), "rappor", p=0.25, q=0.75), "75.0% if your answer is yes"),
        (asked(Sets(tuple("abc"), 2), "krr", epsilon=1.0), "up to 2 names that apply to you, one"),
        (asked(FIVE, "krr", "epoch", epsilon=1.0), "From the 53 reports of a year"),
        (asked(FIVE, "krr", "permanent", epsilon=1.0), "identical and can be linked"),
        (asked(FIVE, "krr", "once", "always", epsilon=1.0), "sending tells nothing"),
        (
            asked(FIVE, "krr", "epoch", epsilon=1.0, epsilon_forever=2.0),
            "for ever: somebody who thought 1 in 2 could at most come to believe 8 in 9",
        ),
    ],
)
def test_every_mechanism_and_way_of_asking_has_words(question: Question, words: str) -> None:
    assert words in told(question)
    assert all("mechanism '" not in sentence for sentence in how(question.fields[0]))


class Elements(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(name in ("src", "href", "onload") for name, _ in attrs)
        self.names.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_strings_of_the_survey_stay_strings() -> None:
    survey = Survey(EVIL, EVIL, (asked(Categories(("<b>x</b>", "y")), "krr", epsilon=1.0),))
    page = page_html(disclose(survey)).decode()
    found = Elements()
    found.feed(page)
    assert "script" not in found.names
    assert "b" not in found.names
    assert '<script>alert("x")</script> & *bold*' in found.text
    assert "<b>x</b>" in found.text
    assert "\u202e" not in page
    assert "default-src 'none'" in page
    text = page_markdown(disclose(survey)).decode()
    assert "<script>" not in text.replace("\\<", "")
    assert "\\*bold\\* \\[link\\](x)" in text


def test_the_registry_entry_has_its_keys_and_numbers(starter: Survey) -> None:
    entry = read(deployment_yaml(starter).decode())
    assert entry == deployment(starter)
    about = entry["deployment"]
    assert list(about)[:2] == ["name", "data_curator"]
    assert about["dp_flavor"]["name"] == "Pure DP"
    assert about["dp_flavor"]["bound_on_output_distance"] == 1.5
    assert about["privacy_loss"]["privacy_unit"] == "Event-level"  # new values cost again
    assert about["privacy_loss"]["privacy_parameters"] == {"epsilon": 10.89445, "delta": 0}
    assert about["model"]["model_name"] == "Local"
    assert "homepage: all reports of one value" in about["accounting"]["composition"]
    assert "no floating-point number" in about["implementation"]["numeric_issues"]
    mechanisms = about["implementation"]["mechanisms"]
    assert [m["mechanism"] for m in mechanisms] == ["krr", "rappor", "rappor", "krr"]
    (field,) = starter.questions[2].fields
    assert mechanisms[2]["parameters"] == field.parameters.published()
    digests = [q["digest"] for q in about["privacy_loss"]["questions"]]
    assert digests == [question.digest.hex() for question in starter.questions]


def test_the_entry_of_a_survey_without_a_bound_says_so() -> None:
    survey = Survey(EVIL, "no", (asked(FIVE, "krr", "epoch", epsilon=1.0),))
    entry = read(deployment_yaml(survey).decode())
    assert entry == deployment(survey)
    loss = entry["deployment"]["privacy_loss"]
    assert loss["privacy_unit"] == "Event-level"
    assert loss["questions"][0]["epsilon_for_ever"] is None
    assert "every report adds" in entry["deployment"]["accounting"]["composition"]
    assert entry["registry_authors"] == ["no"]


def test_the_files(starter: Survey, tmp_path: Path) -> None:
    names = {path.name for path in save_disclosure(starter, tmp_path / "out")}
    assert names == {"disclosure.html", "disclosure.md", "deployment.yaml"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    (one,) = save_disclosure(starter, tmp_path / "page.html")
    assert one.read_bytes() == page_html(disclose(starter))
    with pytest.raises(InvalidParameter, match="ends in one of"):
        save_disclosure(starter, tmp_path / "page.pdf")


def test_questions_that_keep_reports_differently_say_so_each(starter: Survey) -> None:
    first, *rest = starter.questions
    survey = replace(
        starter,
        questions=(replace(first, retention_days=30, keep_counts=0), *rest),
        retention_days=400,
        keep_counts=1,
    )
    page = disclose(survey)
    assert "How long reports are kept" not in [section.heading for section in page.closing]
    told = [asked.sections[-1] for asked in page.questions]
    assert {section.heading for section in told} == {"How long reports are kept"}
    assert "deleted 30 days after" in told[0].points[0]
    assert "go with them" in told[0].points[0]
    assert all("deleted 400 days after" in section.points[0] for section in told[1:])
    # Where they are alike, it is said once, as of the whole survey.
    alike = tuple(replace(q, retention_days=30, keep_counts=0) for q in starter.questions)
    page = disclose(replace(starter, questions=alike))
    assert "deleted 30 days after" in page.closing[0].points[0]
