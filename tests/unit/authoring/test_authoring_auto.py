"""mechanism = "auto": the choice follows the closed forms, and is published as if written."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from deniable.authoring import read_authored, resolve
from deniable.authoring.auto import CLOSED, OPEN, PERMANENT, choices, noise_of
from deniable.authoring.mechanisms.orr import listed_variance
from deniable.errors import InvalidParameter
from deniable.mechanisms import HCMS, Rappor, mechanism_for
from deniable.protocol import (
    Boolean,
    Categories,
    KRRParameters,
    PGRParameters,
    Strings,
    Survey,
)


def _domain(size: int) -> Categories:
    return Categories(tuple(map(str, range(size))))


def _names(size: int, epsilon: float) -> list[str]:
    return [c.mechanism for c in choices(_domain(size), False, {"epsilon": epsilon})]


@pytest.mark.parametrize("epsilon", [0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
@pytest.mark.parametrize("size", [2, 3, 5, 10, 30, 100, 256, 1_000, 4_096])
def test_the_choice_is_within_5_percent_of_every_mechanism(size: int, epsilon: float) -> None:
    found = choices(_domain(size), False, {"epsilon": epsilon})
    assert {c.mechanism for c in found} == set(CLOSED)
    assert found[0].noise <= 1.05 * min(c.noise for c in found)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_krr_beats_unary_exactly_below_3e_plus_2(epsilon: float) -> None:
    """At f = 0, as the rule says: n Var of k-RR and OUE cross at k = 3E + 2."""
    limit = 3 * math.exp(epsilon) + 2
    for k in (math.floor(limit), math.ceil(limit)):
        krr, oue = (
            noise_of(resolve(name, {"epsilon": epsilon}, _domain(k), False), 0)
            for name in ("krr", "oue")
        )
        assert (krr < oue) == (k < limit)


def test_known_choices() -> None:
    assert _names(2, 1.0)[0] == "krr"
    assert _names(5, 4.0)[0] == "krr"
    assert _names(4_096, 1.0)[0] == "pgr"
    assert _names(256, 4.0)[0] == "subset"  # no geometry is within 5% here
    assert _names(256, 6.0)[0] == "krr"
    assert _names(4_096, 1.0)[-1] == "krr"


def test_known_numbers() -> None:
    """Mathematics, section 2: k = 1024, epsilon 1, of a rare answer."""
    expected = {"krr": 347, "oue": 3.68, "subset": 3.68, "hadamard": 4.68}
    for name, noise in expected.items():
        parameters = resolve(name, {"epsilon": 1.0}, _domain(1_024), False)
        assert noise_of(parameters, 0) == pytest.approx(noise, rel=0.003)


@pytest.mark.parametrize("size", [2, 6, 50])
def test_noise_is_the_mean_variance_of_the_mechanism(size: int) -> None:
    """The standard-library closed form against the population's, for an uneven distribution."""
    true = [2.0 ** -(i + 1) for i in range(size - 1)]
    true.append(1 - sum(true))
    for choice in choices(_domain(size), False, {"epsilon": 1.0}):
        if choice.mechanism == "orr":
            continue  # its closed form neglects that all answers are fitted
        mechanism = mechanism_for(choice.parameters)
        mean = sum(float(mechanism.variance(1, f)) for f in true) / size
        if isinstance(mechanism, HCMS):  # `variance` is that of an answer by itself
            mean /= 1 - size / (mechanism.parameters.rows * mechanism.parameters.width)
        assert choice.noise == pytest.approx(mean, rel=1e-9)


def test_the_noise_of_bloom_filters_is_that_of_the_population() -> None:
    mechanism = Rappor(bits=64, hashes=2, cohorts=8, epsilon=1.0)
    assert noise_of(mechanism.parameters, 0) == pytest.approx(float(mechanism.variance(1, 0.0)))


@pytest.mark.parametrize("domain", [Boolean(), _domain(5), _domain(100), Strings()])
def test_a_permanent_response_is_had_where_it_is_wanted(domain: Categories) -> None:
    found = choices(domain, False, {"epsilon": 1.0, "epsilon_forever": 3.0})
    assert {c.mechanism for c in found} <= set(PERMANENT)
    for choice in found:
        assert choice.parameters.memoised
        assert choice.parameters.epsilon_once <= 1_000_000
        assert (choice.parameters.epsilon_forever or 0) <= 3_000_000


@pytest.mark.parametrize("people", [None, 500, 10**4, 10**6, 10**9])
def test_strings(people: int | None) -> None:
    found = choices(Strings(), True, {"epsilon": 1.0}, people)
    assert {c.mechanism for c in found} == set(OPEN)
    for choice in found:
        choice.parameters.check_domain(Strings(), True)
        cohorts = getattr(choice.parameters, "cohorts", 1)
        assert people is None or cohorts == 1 or people >= 1_000 * cohorts


def test_collisions_count_where_there_are_many_people() -> None:
    """They do not fall with n: a geometry of a billion people has more cohorts, and more noise."""
    few, many = (
        next(c for c in choices(Strings(), False, {"epsilon": 1.0}, n) if c.mechanism == "pgr")
        for n in (10**5, 10**9)
    )
    assert isinstance(few.parameters, PGRParameters)
    assert isinstance(many.parameters, PGRParameters)
    assert many.parameters.cohorts > few.parameters.cohorts
    assert many.noise > 1.5 * few.noise


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "auto needs 'epsilon'"),
        ({"epsilon": 0}, "parameter of auto must be a number from 0.000001"),
        ({"epsilon": 2, "epsilon_forever": 2}, "greater than 'epsilon'"),
    ],
)
def test_what_is_refused(wanted: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        choices(Boolean(), False, wanted)


def _written(folder: Path, parameters: str, domain: str = '"boolean"') -> Path:
    path = folder / "survey.toml"
    path.write_text(
        'name = "n"\nowner = "o"\npeople = 100000\n[[questions]]\nid = "a"\ndescription = "d"\n'
        f'expires = 2099-01-01\nmechanism = "auto"\ndomain = {domain}\nparameters = {parameters}\n'
    )
    return path


def test_the_choice_stands_in_the_published_survey_as_if_written(tmp_path: Path) -> None:
    survey = read_authored(_written(tmp_path, "{ epsilon = 1.0 }")).require()
    (field,) = survey.questions[0].fields
    assert field.parameters == resolve(KRRParameters, {"epsilon": 1.0}, Boolean(), False)
    assert b"auto" not in survey.published()
    assert Survey.from_published(survey.published()) == survey
    forever = _written(tmp_path, "{ epsilon = 1.0, epsilon_forever = 2.0 }")
    assert read_authored(forever).require().questions[0].repeat == "epoch"


def test_people_limit_the_cohorts_of_strings(tmp_path: Path) -> None:
    authored = read_authored(_written(tmp_path, "{ epsilon = 1.0 }", '"strings"'))
    (field,) = authored.require().questions[0].fields
    assert 1 < field.parameters.cohorts <= 100
    assert authored.warnings == ()


@pytest.mark.parametrize(
    ("parameters", "key"),
    [("{ epsilon = 0 }", "parameters.epsilon"), ("{ epsilon = 1, k = 3 }", "parameters.k")],
)
def test_mistakes_are_noted_at_their_place(tmp_path: Path, parameters: str, key: str) -> None:
    authored = read_authored(_written(tmp_path, parameters))
    assert authored.survey is None
    assert [problem.key for problem in authored.problems] == [f"questions[0](a).{key}"]


@pytest.mark.parametrize(("epsilon", "expected"), [(1.0, "pgr"), (2.0, "pgr"), (6.0, "orr")])
def test_a_short_list_lets_orr_win_where_collisions_are_most_of_the_noise(
    epsilon: float, expected: str
) -> None:
    found = choices(Strings(), False, {"epsilon": epsilon}, 1_000_000, 256)
    assert found[0].mechanism == expected
    unlisted = choices(Strings(), False, {"epsilon": epsilon}, 1_000_000)
    assert "orr" not in [choice.mechanism for choice in unlisted]


def test_orr_is_not_considered_for_long_lists_or_few_people() -> None:
    for people, listed in ((1_000_000, 1_025), (15_000, 256), (None, 256), (1_000_000, 1)):
        found = choices(Strings(), False, {"epsilon": 6.0}, people, listed)
        assert "orr" not in [choice.mechanism for choice in found]


def test_the_variance_of_a_list_falls_with_cohorts_and_has_a_best_k() -> None:
    keep = [math.exp(6) / (math.exp(6) + k - 1) for k in (8, 221, 900)]
    few, best, many = (
        listed_variance(256, k, 512, p) for k, p in zip((8, 221, 900), keep, strict=True)
    )
    assert best < min(few, many)
    assert listed_variance(256, 221, 64, keep[1]) > best


def test_auto_reads_how_long_the_candidate_file_is(tmp_path: Path) -> None:
    survey = tmp_path / "survey.toml"
    survey.write_text(
        'name = "s"\nowner = "o"\npeople = 1_000_000\n[[questions]]\nid = "q"\n'
        'description = "d"\nexpires = 2099-01-01\nmechanism = "auto"\n'
        "parameters = { epsilon = 6.0 }\n"
        'domain = { type = "strings", candidates = "names.txt" }\n'
    )
    chosen = []
    for length in (256, 5_000):
        (tmp_path / "names.txt").write_text("".join(f"name{i}\n\n" for i in range(length)))
        (question,) = read_authored(survey).require().questions
        chosen.append(question.fields[0].parameters.mechanism)
    assert chosen == ["orr", "pgr"]
