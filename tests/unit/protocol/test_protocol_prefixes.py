"""Prefix growth's integers: what is chosen, reported, published and refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deniable.authoring import read_authored, resolve
from deniable.authoring.mechanisms.prefixes_plan import groups_for, lengths_for
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Answer, PrefixesParameters, Strings, Survey
from deniable.protocol.coding_model import CharacterModel
from deniable.protocol.domain import ABSENT_KEY, string_key
from deniable.protocol.hashing import fingerprint
from deniable.protocol.parameters import cohorts_of
from deniable.protocol.prefixes import END, chained

LETTERS = "abcdefghijklmnopqrstuvwxyz"
HOSTS = Strings(LETTERS, 12)
MODEL = CharacterModel("ab", 24, {(): ((0, 9), (1, 3), (2, 1))}).to_bytes()


def resolved(domain: Strings = HOSTS, **wanted: object) -> PrefixesParameters:
    return resolve(PrefixesParameters, {"epsilon": 2.0, **wanted}, domain, absent=False)


@pytest.mark.parametrize(
    ("letters", "length", "expected"),
    [
        (38, 20, (4, 6, 8, 10, 12, 14, 16, 18, 20)),
        (38, 5, (4, 5)),
        (38, 3, (3,)),
        (2, 20, (13, 20)),
        (4_096, 3, (1, 2, 3)),
        (95, 8, (3, 4, 5, 6, 7, 8)),
    ],
)
def test_levels_are_as_long_as_all_extensions_can_be_tested(
    letters: int, length: int, expected: tuple[int, ...]
) -> None:
    assert lengths_for(letters, length) == expected


@pytest.mark.parametrize(("typical", "last"), [(1, 20), (24, 20), (26, 30), (52, 50), (56, 60)])
def test_levels_of_codes_come_near_the_typical_number_of_digits(typical: int, last: int) -> None:
    assert lengths_for(38, 20, typical) == tuple(range(20, last + 1, 10))


def test_groups() -> None:
    assert groups_for(1_000_000, 4).weights == (100, 100, 100, 100, 150)
    assert groups_for(1_000_000, 4).cohorts == 32
    assert groups_for(1_000_000, 4, 0.5).weights == (100, 100, 100, 100, 400)
    assert groups_for(55_000, 4).cohorts == 10
    assert groups_for(5, 4).cohorts == 1


def test_more_levels_than_people() -> None:
    with pytest.raises(InvalidParameter, match=r"4 people into 5 groups.*Ask more people"):
        groups_for(4, 4)
    with pytest.raises(InvalidParameter, match="groups"):
        resolved(people=3)


def test_what_each_group_reports() -> None:
    shape = resolved(lengths=[2, 4, 12])
    a, b, c, d, e = (ord(x) for x in "abcde")
    assert [shape.symbols("abcde", g) for g in range(4)] == [
        (a, b), (a, b, c, d), (a, b, c, d, e, END), (a, b, c, d, e),
    ]  # fmt: skip
    assert [shape.symbols("ab", g) for g in range(4)] == [(a, b), (a, b, END), (a, b, END), (a, b)]
    assert [shape.symbols("", g) for g in range(4)] == [(END,), (END,), (END,), ()]
    assert shape.symbols("a" * 12, 2) == (a,) * 12


def test_codes_are_cut_at_the_levels() -> None:
    shape = resolved(Strings("ab", 12), model=MODEL, lengths=[3, 8, 20])
    assert shape.coder is not None
    m, k = shape.coder.code("abba")
    spelled = f"{m:0{k}b}".ljust(20, "0")
    pieces = (int(spelled[:3], 2), int(spelled[3:8], 2), int(spelled[8:20], 2))
    for group in range(3):
        assert shape.symbols("abba", group) == pieces[: group + 1]
    assert shape.symbols("abba", 3) == tuple(map(ord, "abba"))


def test_every_number_below_the_total_weight_has_its_group() -> None:
    shape = replace(resolved(lengths=[4, 12]), weights=(2, 3, 1))
    assert [shape.group_of(drawn) for drawn in range(6)] == [0, 0, 1, 1, 1, 2]
    assert shape.total_weight == 6


def test_points_differ_by_group_and_cohort_and_absent_is_one_more_answer() -> None:
    shape, answer = resolved(), Answer(string_key("mail"))
    points = {shape.point(answer, g, c) for g in range(shape.groups) for c in range(8)}
    assert len(points) > 8 * shape.groups - 8
    assert all(point < shape.oracle.points for point in points)
    absent = {shape.point(Answer(ABSENT_KEY), g, 0) for g in range(shape.groups)}
    assert len(absent) > 1


def test_words_of_sequences_follow_from_their_beginnings() -> None:
    assert chained([1, 2, 3]) == chained([3], chained([1, 2]))
    assert chained([]) == (0, 0)
    assert len({chained(s) for s in ([0], [1], [0, 0], [0, 1], [1, 0], [END])}) == 6
    assert fingerprint(ABSENT_KEY) != chained([ord("a")])


def test_integers_travel() -> None:
    for shape in (resolved(), resolved(Strings("ab", 12), model=MODEL)):
        assert PrefixesParameters.from_published(shape.published()) == shape
    assert resolved().epsilon_once <= 2_000_000
    assert resolved().epsilon_forever is None
    assert not resolved().memoised
    assert cohorts_of(resolved()) == resolved().groups * resolved().cohorts


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"lengths": [4, 4, 12]}, "rising integers"),
        ({"lengths": 4}, "rising integers"),
        ({"lengths": [4, 8]}, "levels up to"),
        ({"verification": 0.95}, "from 0.01 to 0.9"),
        ({"cohorts": 0}, "from 1 to"),
        ({"points": 1}, "from 2 to"),
        ({"people": 0}, "from 1 to"),
        ({"model": "a path"}, "bytes"),
        ({"epsilon": 33}, "from 0.000001 to 32"),
        ({"epsilon": float("nan")}, "epsilon"),
    ],
)
def test_bad_parameters_are_refused(wanted: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        resolved(**wanted)


def test_epsilon_is_needed_and_the_domain_must_fit() -> None:
    with pytest.raises(InvalidParameter, match="needs 'epsilon'"):
        resolve(PrefixesParameters, {}, HOSTS, absent=False)
    with pytest.raises(InvalidParameter, match="another alphabet"):
        resolved(Strings("ab", 12), model=MODEL).check_domain(HOSTS, absent=False)
    with pytest.raises(InvalidParameter, match="'length'"):
        resolved().check_domain(Strings(LETTERS, 13), absent=False)


@pytest.mark.parametrize("record", ["0a000000000000", "00200000000000", "000000ffffff00", "00"])
def test_bad_records_are_refused(record: str) -> None:
    shape = resolved(lengths=[4, 8, 12])
    with pytest.raises(InvalidReport):
        shape.check_record(bytes.fromhex(record))


SURVEY = """name = "n"
owner = "o"
people = 200000
[[questions]]
id = "q"
description = "d"
expires = 2099-01-01
domain = {{ type = "strings", alphabet = "ab", length = 12 }}
mechanism = "prefixes"
parameters = {{ epsilon = 2.0{more} }}
"""


def test_a_survey_brings_its_people_and_its_model(tmp_path: Path) -> None:
    (tmp_path / "names.model").write_bytes(MODEL)
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY.format(more=', model = "names.model"'))
    survey = read_authored(path).require()
    (question,) = survey.questions
    shape = question.fields[0].parameters
    assert isinstance(shape, PrefixesParameters)
    assert shape.model == MODEL
    assert shape.lengths == (20,)
    assert shape.cohorts == 32
    assert Survey.from_published(survey.published()) == survey
    other = CharacterModel("ab", 24, {(): ((0, 8), (1, 3), (2, 1))}).to_bytes()
    (tmp_path / "names.model").write_bytes(other)
    (changed,) = read_authored(path).require().questions
    assert changed.digest != question.digest


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (', model = "missing.model"', "no readable file"),
        (', model = "survey.toml"', "as deniable writes it"),
        (", model = 5", "name of a model file"),
        (', model = "names.model", lengths = []', "rising integers"),
    ],
)
def test_a_survey_says_what_is_wrong_with_its_model(
    tmp_path: Path, more: str, problem: str
) -> None:
    (tmp_path / "names.model").write_bytes(MODEL)
    (tmp_path / "survey.toml").write_text(SURVEY.format(more=more))
    problems = read_authored(tmp_path / "survey.toml").problems
    assert problem in "\n".join(map(str, problems))
