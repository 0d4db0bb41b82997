"""Published questions about many attributes for the vectors, and what must be refused of them."""

from __future__ import annotations

from typing import Any

from example_cohorts import part
from example_questions import Case, krr, question

T = 2**64
KEEP = 3 * 2**62
FLAGS = ["toll", "card", "night", "far"]


def profile(*attributes: tuple[str, Any]) -> dict[str, Any]:
    """Return a published domain of named attributes; a text is a domain without members."""
    listed = [
        {"name": name, "domain": {"type": domain} if isinstance(domain, str) else domain}
        for name, domain in attributes
    ]
    return {"type": "profile", "attributes": listed}


FARE = {"type": "numbers", "edges": ["0", "10", "20", "50"]}
YES = profile(*((name, "boolean") for name in FLAGS))
MANY = profile(*((f"a{i}", "boolean") for i in range(16)))
MIXED = profile(
    ("toll", "boolean"),
    ("class", {"type": "categories", "values": ["a", "b", "é"]}),
    ("fare", FARE),
)
ANSWERS = {id(YES): [2] * 4, id(MANY): [2] * 16, id(MIXED): [2, 3, 5]}


def shape(domain: dict[str, Any], order: int, **others: Any) -> dict[str, Any]:
    """Return published parameters; thresholds become strings, as do those in lists of `orders`."""
    thresholds = ("keep", "truth", "one", "zero")
    given = {n: str(v) if n in thresholds else v for n, v in others.items()}
    if "orders" in given:
        given["orders"] = [str(threshold) for threshold in given["orders"]]
    return {"answers": ANSWERS[id(domain)], "order": order, **given}


USUAL: dict[str, dict[str, Any]] = {
    "inp_rr": {"one": KEEP, "zero": 2**62},
    "inp_ps": {"keep": 2**63},
    "inp_ht": {"keep": KEEP},
    "marg_rr": {"one": 2**63, "zero": 2**62},
    "marg_ps": {"truth": KEEP},
    "marg_ht": {"keep": KEEP},
    "inp_em": {"keep": 5 * 2**61},
    "inp_olh": {"symbols": 4, "seeds": 1000, "keep": KEEP},
    "inp_ht_cms": {"rows": 5, "width": 256, "keep": KEEP},
    "coefficients": {"keep": KEEP, "basis": "walsh", "orders": [2**62]},
    "views": {"truth": KEEP, "views": [[0, 1, 2], [0, 3], [1, 3], [2, 3]]},
}
MIXED_VIEWS = [[0, 1], [0, 2], [1, 2]]


def usual(mechanism: str, domain: dict[str, Any], order: int, **changes: Any) -> dict[str, Any]:
    """Return the parameters of a mechanism, with an order and what is said otherwise."""
    return shape(domain, order, **{**USUAL[mechanism], **changes})


def _yes(*true: str) -> dict[str, Any]:
    return {"fields": {name: {"boolean": name in true} for name in FLAGS}}


def _trip(toll: bool, kind: str, fare: str) -> dict[str, Any]:
    values = {"toll": {"boolean": toll}, "class": {"string": kind}, "fare": {"number": fare}}
    return {"fields": values}


TRIPS = [_trip(True, "é", "10"), _trip(False, "e\u0301", "-1"), _trip(True, "a", "1e9")]


def _cases(mechanism: str, **mixed: Any) -> list[Case]:
    """Four yes/no attributes, and three of 2, 3 and 5 answers."""
    flags = question("trip", part(mechanism, YES, usual(mechanism, YES, 2)), repeat="once")
    trips = part(mechanism, MIXED, usual(mechanism, MIXED, 2, **mixed))
    asked = question("mixed", trips, repeat="once")
    same = question("same", trips, repeat="permanent")
    return [
        *(("yes or no", flags, _yes(*names)) for names in ((), ("toll",), ("card", "far"), FLAGS)),
        *(("2, 3 and 5 answers", asked, trip) for trip in TRIPS),
        *(("2, 3 and 5 answers again", asked, trip) for trip in TRIPS),
        ("a permanent report", same, TRIPS[0]),
    ]


def profile_questions(mechanism: str) -> list[Case]:
    """Questions and values for the file of a mechanism."""
    cases = _cases(mechanism, **({"views": MIXED_VIEWS} if mechanism == "views" else {}))
    if mechanism == "inp_rr":
        return cases
    if mechanism == "coefficients":
        cases += _coefficient_cases()
    order = 3 if mechanism.startswith("marg") or mechanism == "inp_ht" else 2
    changes: dict[str, Any] = {}
    if mechanism == "coefficients":
        order, changes = 3, {"orders": [2**60, 2**62]}
    if mechanism == "inp_ps":
        changes = {"keep": 2**60}
    if mechanism == "views":
        order, changes = 1, {"views": [list(range(start, start + 4)) for start in (0, 4, 8, 12)]}
    many = question("many", part(mechanism, MANY, usual(mechanism, MANY, order, **changes)))
    values = {f"a{i}": {"boolean": i % 3 == 0} for i in range(16)}
    return [*cases, *(("sixteen attributes", many, {"fields": values}) for _ in range(3))]


def _coefficient_cases() -> list[Case]:
    real = usual("coefficients", MIXED, 3, basis="contrasts", orders=[2**61, 2**62])
    asked = question("real", part("coefficients", MIXED, real), repeat="once")
    alone = usual("coefficients", MIXED, 1, orders=[])
    first = question("first", part("coefficients", MIXED, alone), repeat="once")
    return [
        *(("contrasts", asked, trip) for trip in TRIPS * 3),
        ("one attribute at a time", first, TRIPS[0]),
    ]


def profile_epsilons() -> list[tuple[str, dict[str, Any]]]:
    """Integers of which epsilon.json states the epsilon."""
    flags = [(name, usual(name, YES, 2)) for name in USUAL]
    mixed = [(name, usual(name, MIXED, 2)) for name in USUAL if name != "views"]
    views = usual("views", MIXED, 2, views=MIXED_VIEWS)
    return [
        *flags,
        *mixed,
        ("views", views),
        ("marg_ps", usual("marg_ps", MIXED, 2, truth=T - 2**20)),
        ("inp_em", usual("inp_em", MANY, 3, keep=2**63 + 2**58)),
    ]


Bad = tuple[str, dict[str, Any] | str, str, dict[str, Any]]


def bad_profile_parameters() -> dict[str, Bad]:
    """Parameters that a reader refuses: what about them, domain, mechanism, parameters."""
    cases: dict[str, Bad] = {
        "profile-krr": ("one value each", YES, "krr", krr(16, T, 2**63)),
        "profile-order-zero": ("no table", YES, "inp_ht", usual("inp_ht", YES, 0)),
        "profile-order-five": ("four attributes", YES, "inp_ht", usual("inp_ht", YES, 5)),
        "profile-wrong-answers": (
            "3 and 5 answers", MIXED, "inp_ht", {**usual("inp_ht", YES, 2), "answers": [2, 3, 4]}),
        "profile-answers-text": (
            "integers", YES, "inp_ht", {**usual("inp_ht", YES, 2), "answers": ["2"] * 4}),
        "profile-one-level": (
            "nothing to tell", YES, "inp_ht", {**usual("inp_ht", YES, 2), "answers": [2, 2, 2, 1]}),
        "profile-extra-member": (
            "seeds", YES, "inp_ht", {**usual("inp_ht", YES, 2), "seeds": 5}),
        "inp-rr-says-nothing": (
            "1/4 and 1/4", YES, "inp_rr", usual("inp_rr", YES, 2, one=2**62)),
        "inp-rr-certain": ("a 1 would be certain", YES, "inp_rr", usual("inp_rr", YES, 2, zero=0)),
        "inp-ps-uniform": ("1/16 of 16", YES, "inp_ps", usual("inp_ps", YES, 2, keep=2**60)),
        "inp-em-uniform": ("1/2", YES, "inp_em", usual("inp_em", YES, 2, keep=2**63)),
        "marg-ps-truthful": ("no noise", YES, "marg_ps", usual("marg_ps", YES, 2, truth=T)),
        "inp-olh-one-symbol": (
            "says nothing", YES, "inp_olh", usual("inp_olh", YES, 2, symbols=1)),
        "inp-ht-cms-width": (
            "a power of two", YES, "inp_ht_cms", usual("inp_ht_cms", YES, 2, width=100)),
        "coefficients-basis": (
            "unknown", YES, "coefficients", usual("coefficients", YES, 2, basis="fourier")),
        "coefficients-orders": (
            "one threshold", YES, "coefficients", usual("coefficients", YES, 2, orders=[1, 2])),
        "coefficients-order-never": (
            "order 1 is never drawn", YES, "coefficients",
            usual("coefficients", YES, 2, orders=[0])),
        "views-uncovered": (
            "2 and 3 are together in none", YES, "views",
            usual("views", YES, 2, views=[[0, 1, 2], [0, 3], [1, 3]])),
        "views-falling": (
            "not rising", YES, "views", usual("views", YES, 2, views=[[3, 2, 1, 0]])),
        "views-attribute": (
            "4 of 0..3", YES, "views", usual("views", YES, 2, views=[[0, 1, 2, 3], [0, 4]])),
        "views-empty": ("none", YES, "views", usual("views", YES, 2, views=[])),
    }  # fmt: skip
    return {**cases, "profile-inp-ht-boolean": ("no profile", "boolean", "inp_ht", usual(
        "inp_ht", YES, 2))}  # fmt: skip


def bad_profile_domains() -> dict[str, Bad]:
    """Domains that a reader refuses, with parameters that would fit."""
    fits = usual("inp_ht", YES, 2)
    attributes = YES["attributes"]
    named = {"name": "toll", "domain": {"type": "boolean"}}
    wrong: dict[str, tuple[str, list[Any]]] = {
        "profile-one-attribute": ("a plain question", attributes[:1]),
        "profile-33-attributes": (
            "at most 32", [{**named, "name": f"a{i}"} for i in range(33)]),
        "profile-same-names": ("the same name twice", [*attributes[:3], named]),
        "profile-name": ("a hyphen", [*attributes[:3], {**named, "name": "a-b"}]),
        "profile-strings": (
            "not closed", [*attributes[:3], {"name": "far", "domain": {"type": "strings"}}]),
        "profile-in-profile": ("one deep", [*attributes[:3], {"name": "far", "domain": YES}]),
        "profile-unknown-two": (
            "1 or left out", [*attributes[:3], {**named, "name": "far", "unknown": 2}]),
        "profile-unknown-category": (
            "two answers of one name", [*attributes[:3], {"name": "far", "unknown": 1, "domain":
                {"type": "categories", "values": ["known", "unknown"]}}]),
        "profile-extra-attribute-member": ("extra", [*attributes[:3], {**named, "answers": 2}]),
    }  # fmt: skip
    return {
        name: (about, {"type": "profile", "attributes": listed}, "inp_ht", fits)
        for name, (about, listed) in wrong.items()
    }


def bad_profile_records() -> dict[str, tuple[str, dict[str, Any], str]]:
    """Records that a collector refuses: what about them, question, record."""

    def asked(mechanism: str, domain: dict[str, Any] = YES, **changes: Any) -> dict[str, Any]:
        return question("q", part(mechanism, domain, usual(mechanism, domain, 2, **changes)))

    return {
        "inp-rr-record-short": ("one byte of two", asked("inp_rr"), "ff"),
        "inp-ps-record-symbol": ("cell 16 of 0..15", asked("inp_ps"), "10"),
        "inp-ht-record-symbol": ("2 T = 20 of 0..19", asked("inp_ht"), "14"),
        "marg-rr-record-marginal": ("table 6 of 0..5", asked("marg_rr"), "060f"),
        "marg-rr-record-padding": ("cell 4 of 0..3", asked("marg_rr"), "0510"),
        "marg-rr-record-small-table": ("cell 8 of 0..7", asked("marg_rr", MIXED), "0000010000"),
        "marg-ps-record-small-table": ("cell 8 of 0..7", asked("marg_ps", MIXED), "08"),
        "marg-ht-record-constant": ("alpha = 0", asked("marg_ht"), "01"),
        "marg-ht-record-small-table": ("alpha 8 of 1..7", asked("marg_ht", MIXED), "10"),
        "inp-em-record-padding": ("bit 4 of 0..3", asked("inp_em"), "10"),
        "inp-olh-record-seed": ("seed 1,000 of 0..999", asked("inp_olh"), "e80300"),
        "inp-ht-cms-record-symbol": ("2,560 of 0..2,559", asked("inp_ht_cms"), "000a"),
        "coefficients-record-symbol": ("20 of 0..19", asked("coefficients"), "14"),
        "views-record-small-view": ("cell 4 of 0..3", asked("views"), "0c"),
        "views-record-view": ("view 4 of 0..3", asked("views"), "20"),
    }


def bad_profile_answers() -> dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Values that are no profiles of the domain: reason, what about them, question, value."""
    asked = question("trip", part("inp_ht", YES, usual("inp_ht", YES, 2)))
    trip = question("trip", part("inp_ht", MIXED, usual("inp_ht", MIXED, 2)))
    whole = _yes("toll")["fields"]
    fewer = {name: value for name, value in whole.items() if name != "far"}
    return {
        "answer-profile-missing": ("missing_field", "no far", asked, {"fields": fewer}),
        "answer-profile-unknown": (
            "unknown_field", "colour", asked, {"fields": {**whole, "colour": {"boolean": True}}}),
        "answer-profile-list": ("type", "a list", asked, {"list": list(whole.values())}),
        "answer-profile-absent": ("type", "no absent answer", asked, {"absent": True}),
        "answer-profile-absent-part": (
            "type", "one attribute absent", asked, {"fields": {**whole, "far": {"absent": True}}}),
        "answer-profile-code": (
            "type", "1 is not true", asked, {"fields": {**whole, "far": {"integer": "1"}}}),
        "answer-profile-category": (
            "unknown_category", "no such class", trip, _trip(True, "c", "1")),
        "answer-profile-nan": ("not_a_number", "NaN", trip, _trip(True, "a", "nan")),
    }  # fmt: skip


def bad_profile_surveys() -> dict[str, tuple[str, dict[str, Any]]]:
    """Questions that a reader refuses for their parameters."""
    fits = part("inp_ht", YES, usual("inp_ht", YES, 2))
    return {"profile-always": ("there is no absent answer", question("q", fits, send="always"))}
