"""The page and the registry's entry of a question about profiles."""

from __future__ import annotations

from datetime import date

import pytest

from deniable.authoring import resolve
from deniable.protocol import (
    PROFILE_MECHANISMS,
    Attribute,
    Boolean,
    Categories,
    Field,
    Profile,
    Question,
    Survey,
)
from deniable.results.disclosure.deployment import deployment_yaml
from deniable.results.disclosure.facts import disclose
from deniable.results.disclosure.page import page_markdown
from deniable.results.disclosure.randomised import how
from material.yaml_reading import read

TRIPS = Profile(
    (
        Attribute("card", Boolean()),
        Attribute("tip", Boolean()),
        Attribute("zone", Categories(("inner", "outer", "airport"))),
    )
)


def survey(mechanism: str, **wanted: object) -> Survey:
    parameters = resolve(mechanism, {"epsilon": 1.1, **wanted}, TRIPS, False)
    field = Field("value", TRIPS, parameters)
    asked = Question("trips", 1, "How?", "o", date(2099, 1, 1), 7, "once", "recorded", (field,))
    return Survey("s", "o", (asked,))


def told(mechanism: str, **wanted: object) -> str:
    return page_markdown(disclose(survey(mechanism, **wanted))).decode()


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_every_mechanism_says_how_in_words(mechanism: str) -> None:
    sentences = " ".join(how(survey(mechanism).questions[0].fields[0]))
    assert "%" in sentences
    assert mechanism not in sentences
    assert sentences.startswith(("Your", "By a recipe", "With probability"))


def test_every_attribute_is_listed() -> None:
    text = told("views")
    assert "3 answers together" in text
    assert "- card: Yes or no." in text
    assert "- zone: One of 3 answers: “inner”, “outer”, “airport”." in text
    assert "What leaves is 1 byte, the same" in text


def test_known_words() -> None:
    assert "picks 2 of the 3 answers at random. It sends their combination" in told("views")
    assert "37.5% to 50.0%" in told("views", size=2)
    assert "yes-or-no property at random of 1 to 2 of your answers" in told("coefficients")
    assert "truthfully with probability 75.0%" in told("inp_ht")
    assert "only partly" in told("coefficients", basis="contrasts")
    assert "written as 4 switches" in told("inp_em")
    assert "a row of 16 switches" in told("inp_rr")
    assert "Your device sends a row of switches" in told("marg_rr", order=3)


def test_what_is_drawn_by_lot_is_said() -> None:
    assert "shows which answers it is about" in told("marg_ps")
    assert "shows which property it is about" in told("inp_ht")
    assert "shows which recipe was picked" in told("inp_olh")
    assert "drawn by lot" not in told("inp_ps")


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_the_entry_of_the_registry(mechanism: str) -> None:
    entry = read(deployment_yaml(survey(mechanism)).decode())
    assert isinstance(entry, dict)
    deployment = entry["deployment"]
    assert isinstance(deployment, dict)
    text = str(deployment)
    assert "profile of 3 attributes (2 x 2 x 3 answers)" in text
    assert "Tables of a few attributes" in text
    (one,) = deployment["implementation"]["mechanisms"]
    assert one["mechanism"] == mechanism
    assert one["parameters"]["answers"] == "2 2 3"
    assert one["epsilon"] <= 1.1
