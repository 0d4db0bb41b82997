"""Surveys to audit: every mechanism, in every form, small and large."""

from __future__ import annotations

from datetime import date

from deniable.authoring import resolve
from deniable.protocol import (
    PROFILE_MECHANISMS,
    Attribute,
    Boolean,
    Categories,
    Domain,
    Field,
    Numbers,
    Profile,
    Question,
    Sets,
    Strings,
    Survey,
)

ONCE: dict[str, object] = {"epsilon": 1.0}
TWO_STAGES: dict[str, object] = {"epsilon": 1.0, "epsilon_forever": 4.0}
PAPER: dict[str, object] = {"k": 128, "h": 2, "m": 16, "f": 0.5, "p": 0.5, "q": 0.75}
RESPONSE: dict[str, object] = {"k": 32, "h": 2, "m": 4, "f": 0.5, "p": 0.0, "q": 1.0}
"""RAPPOR whose fresh stage does nothing."""
CLOSED = ("krr", "orr", "pgr", "hcms", "oue", "hadamard", "subset", "rappor", "olh")
OPEN = ("orr", "pgr", "hcms", "rappor", "olh")


def categories(count: int) -> Categories:
    return Categories(tuple(f"category {i}" for i in range(count)))


def a_field(
    name: str, domain: Domain, mechanism: str, wanted: dict[str, object], absent: bool = False
) -> Field:
    return Field(name, domain, resolve(mechanism, wanted, domain, absent))


def a_question(
    name: str,
    domain: Domain,
    mechanism: str,
    wanted: dict[str, object],
    *,
    repeat: str | None = None,
    send: str = "recorded",
) -> Question:
    field = a_field("value", domain, mechanism, wanted, send == "always")
    usual = "epoch" if field.parameters.memoised else "once"
    return of_fields(name, field, repeat=repeat or usual, send=send)


def of_fields(name: str, *fields: Field, repeat: str = "once", send: str = "recorded") -> Question:
    expires = date(2099, 12, 31)
    return Question(name, 1, "Why?", "owner", expires, 1, repeat, send, fields)


def survey(*questions: Question) -> Survey:
    return Survey("test", "owner", questions)


def profile_of(*answers: int) -> Profile:
    domains = [Boolean() if count == 2 else categories(count) for count in answers]
    return Profile(tuple(Attribute(f"a{i}", domain) for i, domain in enumerate(domains)))


def about_profiles(answers: tuple[int, ...], **wanted: object) -> list[Question]:
    """Questions about a profile, one of every mechanism and form."""
    forms: list[tuple[str, str, dict[str, object]]] = [
        *((name, name, {}) for name in PROFILE_MECHANISMS),
        ("inp_rr-asymmetric", "inp_rr", {"asymmetric": True}),
        ("coefficients-contrasts", "coefficients", {"basis": "contrasts"}),
    ]
    shape = "x".join(map(str, answers))
    return [
        a_question(f"{name}-{shape}", profile_of(*answers), mechanism, {**ONCE, **wanted, **others})
        for name, mechanism, others in forms
    ]


def small_profiles() -> list[Question]:
    """Questions about profiles that are enumerated whole, where that is possible."""
    return [*about_profiles((2, 2, 2)), *about_profiles((3, 2))]


def large_profiles() -> list[Question]:
    """Questions about profiles that are proven by their structure: answers of different sizes."""
    wide = [
        a_question(f"{name}-32", profile_of(*(2,) * 32), name, {**ONCE, "order": 3})
        for name in ("inp_ht", "marg_rr", "marg_ps", "marg_ht", "inp_em", "coefficients", "views")
    ]
    return [*about_profiles((2, 3, 5)), *wide]


def found_strings() -> list[Question]:
    """Questions about strings that are found, not listed."""
    names = Strings("abcdefgh", 6)
    return [
        a_question("prefixes-strings", names, "prefixes", {"epsilon": 3.0, "people": 100_000}),
        a_question("prefixes-small", names, "prefixes", {**ONCE, "points": 100, "cohorts": 4}),
        a_question("ngrams-strings", names, "ngrams", {"epsilon": 6.0, "k": 32, "m": 4}),
        a_question("ngrams-two", names, "ngrams", {"epsilon": 4.0, "k": 16, "h": 2, "m": 4}),
    ]


def small_questions() -> list[Question]:
    """Questions that are enumerated whole, where that is possible."""
    closed = [a_question(f"{m}-3", categories(3), m, ONCE) for m in CLOSED]
    permanent = [
        a_question(f"{m}-permanent-3", categories(3), m, TWO_STAGES, send="always")
        for m in ("krr", "oue", "rappor")
    ]
    names = Sets(("a", "b"), 2)
    return [
        *closed,
        *permanent,
        a_question("yes-no", Boolean(), "rappor", TWO_STAGES),
        a_question("warner", Boolean(), "krr", ONCE, repeat="permanent"),
        a_question("bins", Numbers(("1", "10")), "krr", ONCE),
        a_question("set-bits", names, "oue", {**TWO_STAGES, "per": "bit"}),
        a_question("set-drawn", names, "krr", TWO_STAGES),
    ]


def large_questions() -> list[Question]:
    """Questions that are proven by their structure."""
    closed = [a_question(f"{m}-200", categories(200), m, ONCE) for m in CLOSED]
    permanent = [
        a_question(f"{m}-permanent-30", categories(30), m, TWO_STAGES, send="always")
        for m in ("krr", "oue", "rappor")
    ]
    strings = [a_question(f"{m}-strings", Strings(), m, ONCE) for m in OPEN]
    names = Sets(tuple(f"n{i}" for i in range(12)), 3)
    return [
        *closed,
        *permanent,
        *strings,
        a_question("paper", Strings(), "rappor", PAPER, send="always"),
        a_question("response", Strings(), "rappor", RESPONSE),
        a_question("permuted", categories(50), "rappor", {**ONCE, "form": "permuted", "h": 2}),
        a_question("many-set-bits", names, "oue", {**TWO_STAGES, "per": "bit"}),
        a_question("many-set-drawn", names, "krr", TWO_STAGES),
        a_question("many-set-subset", names, "subset", ONCE),
    ]
