"""An encoder of each mechanism with one probability that is 5% off: caught by `audit sample`.

The mutant encodes with another threshold than the one that is published; the same audit passes
without it (tests/unit/audit/test_audit_probabilities.py and below).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from deniable.audit.sample import size
from deniable.audit.sample.black_box import audit_sample
from deniable.audit.sample.probability_scores import directions
from deniable.authoring import resolve
from deniable.client import encode as client_encode
from deniable.client.encoders import Draws
from deniable.client.randomness import SystemDraws
from deniable.protocol import (
    MECHANISMS,
    PROFILE_MECHANISMS,
    Answer,
    Attribute,
    Boolean,
    Categories,
    CoefficientsParameters,
    Domain,
    Field,
    Parameters,
    PrefixesParameters,
    Profile,
    Question,
    Sets,
    Strings,
    Survey,
)
from deniable.protocol.profile_truth import TruthParameters
from deniable.protocol.thresholds import to_text
from deniable.testing.ledger import LEDGER

PERMANENT: dict[str, object] = {"k": 32, "h": 2, "m": 4, "f": 0.5, "p": 0.0, "q": 1.0}
SMALL: dict[str, object] = {"k": 32, "h": 4, "m": 4, "f": 0.08, "p": 0.25, "q": 0.75}
PAIR = Profile((Attribute("a", Boolean()), Attribute("b", Boolean())))


def categories(count: int) -> Categories:
    return Categories(tuple(f"category {i}" for i in range(count)))


def a_question(name: str, domain: Domain, mechanism: str, wanted: dict[str, object]) -> Question:
    field = Field("value", domain, resolve(mechanism, wanted, domain, False))
    repeat = "epoch" if field.parameters.memoised else "once"
    return Question(name, 1, "?", "me", date(2099, 12, 31), 1, repeat, "recorded", (field,))


STRONG: dict[str, object] = {"epsilon": 3.0}
"""Large probabilities: few devices are needed to see an error of 5%."""
BITS = ("inp_rr", "marg_rr")
NAMES = Strings("abcd", 4)
ASKED = [
    a_question("krr", categories(3), "krr", {**STRONG, "epsilon_forever": 4.0}),
    a_question("oue", Sets(tuple("abcdefgh"), 8), "oue", {"epsilon": 2.0, "per": "bit"}),
    a_question("rappor", Strings(), "rappor", PERMANENT),
    a_question("rappor-fresh", categories(8), "rappor", {"f": 0.0, "p": 0.5, "q": 0.9}),
    a_question("orr", Strings(), "orr", {**STRONG, "k": 2, "cohorts": 8}),
    a_question("olh", Strings(), "olh", {**STRONG, "g": 2}),
    a_question("hcms", Strings(), "hcms", STRONG),
    *(a_question(name, categories(6), name, STRONG) for name in ("pgr", "hadamard", "subset")),
    a_question("prefixes", NAMES, "prefixes", {"epsilon": 6.0, "points": 20, "cohorts": 2}),
    a_question("ngrams", NAMES, "ngrams", {"p": 0.4, "q": 0.9, "k": 8, "h": 1, "m": 2}),
    *(
        a_question(name, PAIR, name, {"epsilon": 1.2} if name in BITS else STRONG)
        for name in PROFILE_MECHANISMS
        if name != "inp_olh"
    ),
    a_question("inp_olh", PAIR, "inp_olh", {**STRONG, "g": 2}),
    # A permanent coin that is 1 once in 25 times, under fresh noise; and 200 symbols.
    a_question("small", Strings(), "rappor", SMALL),
    a_question("krr-200", categories(200), "krr", {"epsilon": 5.0}),
]
LEAST = 1_500


def thresholds_of(question: Question) -> list[str]:
    return [name for name, _, _ in directions(question.fields[0].parameters)]


def broken(parameters: Parameters, name: str, share: float) -> Parameters:
    """Return the parameters of an encoder that has one threshold wrong."""
    published = parameters.published()
    if isinstance(parameters, TruthParameters):
        # keep(m) = E/(E + m - 1) must be off by the share, whatever that does to E.
        cells = parameters.sizes[-1]
        keep = parameters.keep(cells) * share / 2**64
        odds = keep * (cells - 1) / (1 - keep)
        return replace(parameters, truth=round(2**64 * odds / (1 + odds)))
    if name == "orders[0]":
        assert isinstance(parameters, CoefficientsParameters)
        return replace(parameters, orders=(int(parameters.orders[0] * share),))
    if name == "group[0]":
        assert isinstance(parameters, PrefixesParameters)
        own, total = parameters.weights[0] * share, parameters.total_weight
        first = own * (total - parameters.weights[0]) / (total - own)
        return replace(
            parameters, weights=(round(10 * first), *(10 * w for w in parameters.weights[1:]))
        )
    wrong = to_text(int(int(str(published[name])) * share))
    return type(parameters).from_published({**published, name: wrong})


def test_every_mechanism_is_here() -> None:
    assert {question.fields[0].parameters.mechanism for question in ASKED} == set(MECHANISMS)


def tried(question: Question) -> list[str]:
    """Return the smallest probability; where few devices are needed, all of them."""
    every = thresholds_of(question)
    if question.id in ("krr", "rappor", "rappor-fresh"):
        return every
    published = question.fields[0].parameters.published()
    smallest = sorted(
        (name for name in every if not name.startswith("group")),
        key=lambda name: int(str(published.get(name, 0))),
    )
    return [*smallest[:1], *(name for name in every if name == "group[0]")]


@pytest.mark.parametrize(
    ("question", "name"),
    [(question, name) for question in ASKED for name in tried(question)],
    ids=lambda x: getattr(x, "id", x),
)
def test_an_error_of_5_percent_is_found_with_as_many_devices_as_are_asked(
    question: Question, name: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the number of devices that the audit itself chooses.

    Some mutants have too much, some too little. The audit is asked for errors of 3.45%, so that it
    misses one of 5% once in 10^9, not once in 100 (12 standard deviations; 5.8 are asked for).
    """
    right = client_encode.encode_drawn
    share = 0.95 if thresholds_of(question).index(name) % 2 == 0 else 1.05
    wrong_parameters = broken(question.fields[0].parameters, name, share)

    def wrong(field: Field, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        mutant = Field(field.name, field.domain, wrong_parameters)
        return right(mutant, answer, cohort, permanent, fresh)

    monkeypatch.setattr(client_encode, "encode_drawn", wrong)
    monkeypatch.setattr(size, "ERROR", 0.0345)
    audit = audit_sample(
        Survey("mutants", "owner", (question,)), draws=SystemDraws(rng.bytes), least=LEAST
    )
    (found,) = [finding for finding in audit.findings if finding.check == "every probability"]
    assert not found.holds, found.words
    off = found.numbers["probabilities"]
    assert isinstance(off, dict)
    LEDGER.add(2e-9)
    assert off[name]["found_from"] <= 0.035
    assert "REJECTED" in found.words


def test_a_right_encoder_passes(rng: np.random.Generator) -> None:
    question = next(question for question in ASKED if question.id == "krr")
    survey = Survey("mutants", "owner", (question,))
    LEDGER.add(1e-9)
    assert audit_sample(survey, draws=SystemDraws(rng.bytes), least=LEAST, alpha=2e-10).holds
