"""Surveys as people write them, put together from questions: tests name what they are about."""

from __future__ import annotations

from pathlib import Path

STARTER = Path(__file__).parents[1] / "fixtures" / "every_kind.toml"
"""A survey with every kind of domain, and Bloom filters."""
BOOLEAN = '"boolean"'
EPSILON = "epsilon = 1.0"


def survey(*questions: str, head: str = "") -> str:
    """Return a survey.toml of questions; `head` has further lines for its beginning."""
    return f'name = "Test"\nowner = "us"\n{head}' + "".join(questions)


def asked(
    name: str,
    domain: str = BOOLEAN,
    mechanism: str = "krr",
    parameters: str = EPSILON,
    description: str = "d",
    more: str = "",
) -> str:
    """Return a question of one field."""
    about = f"domain = {domain}\n{_randomised(mechanism, parameters)}{more}"
    return _question(name, description) + about


def several(name: str, *fields: tuple[str, str, str, str], description: str = "d") -> str:
    """Return a question of fields, each a name, a domain, a mechanism and its parameters."""
    written = (
        _field(field, domain) + _randomised(mechanism, parameters)
        for field, domain, mechanism, parameters in fields
    )
    return _question(name, description) + "".join(written)


def profile(
    name: str, mechanism: str, parameters: str, *attributes: tuple[str, str], description: str = "d"
) -> str:
    """Return a question about attributes, each a name and a domain, in one report."""
    written = "".join(_field(attribute, domain) for attribute, domain in attributes)
    return _question(name, description) + _randomised(mechanism, parameters) + written


def categories(*values: str) -> str:
    """Return the domain of some names."""
    return '{ type = "categories", values = [' + ", ".join(f'"{value}"' for value in values) + "] }"


def unlisted(alphabet: str, length: int = 6) -> str:
    """Return the domain of strings that nobody listed."""
    return f'{{ type = "strings", alphabet = "{alphabet}", length = {length} }}'


def listed(file: str) -> str:
    """Return the domain of strings with a file of candidates."""
    return f'{{ type = "strings", candidates = "{file}" }}'


def _question(name: str, description: str) -> str:
    head = f'[[questions]]\nid = "{name}"\ndescription = "{description}"\n'
    return f"{head}expires = 2099-12-31\n"


def _randomised(mechanism: str, parameters: str) -> str:
    return f'mechanism = "{mechanism}"\nparameters = {{ {parameters} }}\n'


def _field(name: str, domain: str) -> str:
    return f'[[questions.fields]]\nname = "{name}"\ndomain = {domain}\n'


TRIPS = (("card", BOOLEAN), ("tip", BOOLEAN))
"""Attributes of a trip: only who pays by card tips."""

N_GRAMS = survey(
    asked("word", unlisted("abehimrt"), "ngrams", "epsilon = 6.0, m = 16", "Which word?")
)
"""A question about strings that n-grams find."""
