"""A question for every mechanism, small enough that every record's probability is known exactly."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.authoring import read_authored
from deniable.client.encode import encode_drawn
from deniable.privacy.enumeration import channel
from deniable.protocol import Answer, Question, Survey

_CLOSED = 'domain = { type = "categories", values = ["a", "b", "c", "d", "e"] }'
_OPEN = 'domain = "strings"'
_LETTERS = 'domain = { type = "strings", alphabet = "ab", length = 2, outside = "refuse" }'
_PROFILE = """[[questions.fields]]
name = "wet"
domain = "boolean"
[[questions.fields]]
name = "hue"
domain = { type = "categories", values = ["x", "y", "z"] }"""
_WET = {"wet": True, "hue": "z"}
_DRY = {"wet": False, "hue": "x"}

QUESTIONS: dict[str, tuple[str, str, str, Any, Any]] = {
    "krr": ("krr", _CLOSED, "epsilon = 1.0, epsilon_forever = 2.0", "c", "a"),
    "oue": ("oue", _CLOSED, "epsilon = 1.0", "c", "a"),
    "subset": ("subset", _CLOSED, "epsilon = 1.0", "c", "a"),
    "hadamard": ("hadamard", _CLOSED, "epsilon = 1.0", "c", "a"),
    "pgr": ("pgr", _CLOSED, "epsilon = 1.0", "c", "a"),
    "orr": ("orr", _OPEN, "epsilon = 1.0, symbols = 4, cohorts = 3", "mail", "news"),
    "olh": ("olh", _OPEN, "epsilon = 1.0, g = 4, seeds = 8", "mail", "news"),
    "hcms": ("hcms", _OPEN, "epsilon = 1.0, rows = 2, width = 8", "mail", "news"),
    "basic": ("rappor", _CLOSED, "f = 0.25, p = 0.3, q = 0.8", "c", "a"),
    "bloom": ("rappor", _OPEN, "k = 4, h = 2, m = 2, f = 0.25, p = 0.3, q = 0.8", "mail", "news"),
    "prefixes": ("prefixes", _LETTERS, "epsilon = 1.0, cohorts = 2, points = 13", "ab", "b"),
    "ngrams": ("ngrams", _LETTERS, "epsilon = 3.0, n = 1, bits = 2, cohorts = 2", "ab", "b"),
    **{
        name: (name, _PROFILE, f"epsilon = 1.0, order = {order}{more}", _WET, _DRY)
        for name, order, more in (
            ("inp_rr", 1, ""),
            ("inp_ps", 2, ""),
            ("inp_ht", 2, ""),
            ("marg_rr", 1, ""),
            ("marg_ps", 2, ""),
            ("marg_ht", 2, ""),
            ("inp_em", 2, ""),
            ("inp_olh", 2, ", g = 4, seeds = 8"),
            ("inp_ht_cms", 2, ", rows = 2, width = 8"),
            ("coefficients", 2, ""),
            ("views", 2, ""),
        )
    },
}
"""By id: mechanism, domain, parameters, the value that is reported, and another one."""


def authored_survey(folder: Path) -> Survey:
    """Return the survey that asks all of them."""
    blocks = []
    for name, (mechanism, domain, parameters, _, _) in QUESTIONS.items():
        head = f'[[questions]]\nid = "{name}"\ndescription = "?"\nexpires = 2099-12-31\n'
        how = f'mechanism = "{mechanism}"\nparameters = {{ {parameters} }}\n'
        # Keys of a question stand before its fields.
        blocks.append(head + how + domain + "\n")
    path = folder / "survey.toml"
    path.write_text('name = "t"\nowner = "t"\n' + "".join(blocks), encoding="utf-8")
    authored = read_authored(path)
    assert authored.survey is not None, authored.problems
    return authored.survey


def published(survey: Survey) -> list[dict[str, Any]]:
    """Return the survey's questions as they are published."""
    questions: list[dict[str, Any]] = json.loads(survey.published())["questions"]
    return questions


def law_of(question: Question, value: object) -> dict[bytes, Fraction]:
    """Return the probability of every record of a value, from the Python encoder."""
    (answer,) = question.answers(value)
    (field,) = question.fields

    def encode(given: Answer, draws: Any) -> bytes:
        return encode_drawn(field, given, draws, draws, draws)

    return channel(encode, [answer])[answer]
