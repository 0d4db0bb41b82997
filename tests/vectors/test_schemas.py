"""The JSON Schemas accept what is published and refuse what they can express."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deniable.authoring import read_authored
from material.vectors import BAD, RECORD_FILES, SPEC, load, survey_text

NOT_EXPRESSIBLE = {
    "survey-repeated-member": "a reader has dropped one of the two already",
    "survey-float": "1.0 is an integer in JSON Schema",
    "survey-surrogate": "strings are not looked into",
    "survey-duplicate-question": "two members together",
    "survey-earlier-asked-too": "two members together",
    "survey-earlier-newer": "two members together",
    "survey-earlier-twice": "two entries together",
    "survey-earlier-unsorted": "two entries together",
    "survey-earlier-unsorted-ids": "two entries together",
    "survey-segments-unsorted": "two entries together",
    "survey-segment-unused": "two members together",
    "survey-segment-undeclared": "two members together",
    "survey-combinations-65": "two members together",
    "survey-level-twice": "two entries together",
    "survey-level-missing": "two entries together",
    "survey-level-epochs": "two entries together",
    "survey-level-shares": "two entries together",
    "survey-asked-nobody": "numbers in strings",
    "survey-asked-all": "numbers in strings",
    "survey-duplicate-field": "a name apart from the rest",
    "survey-expires-no-date": "formats are notes by default",
    "survey-category-not-nfc": "strings are not looked into",
    "survey-edge-infinite": "numbers in strings",
    "survey-edges-equal": "numbers in strings",
    "survey-edges-falling": "numbers in strings",
    "survey-threshold-too-large": "numbers in strings",
    "survey-p-equals-q": "two members together",
    "survey-f-equals-one": "two members together",
    "survey-certain": "two members together",
    "survey-basic-strings": "parameters and domain together",
    "survey-basic-wrong-bits": "parameters and domain together",
    "survey-boolean-two-bits": "parameters and domain together",
    "survey-krr-strings": "parameters and domain together",
    "survey-krr-absent-forgotten": "parameters and domain together",
    "survey-krr-uniform": "parameters together",
    "survey-krr-truthful": "parameters together",
    "survey-orr-hashed-closed": "parameters and domain together",
    "survey-orr-permuted-answers": "parameters and domain together",
    "survey-orr-more-symbols": "parameters together",
    "survey-orr-uniform": "parameters together",
    "survey-orr-truthful": "parameters together",
    "survey-pgr-not-prime": "prime numbers",
    "survey-pgr-too-few-points": "parameters together",
    "survey-pgr-too-many-points": "parameters together",
    "survey-pgr-closed-strings": "parameters and domain together",
    "survey-pgr-wrong-answers": "parameters and domain together",
    "survey-pgr-uniform": "parameters together",
    "survey-pgr-truthful": "numbers in strings",
    "survey-prefixes-any-strings": "parameters and domain together",
    "survey-prefixes-other-length": "parameters and domain together",
    "survey-prefixes-too-short": "parameters together",
    "survey-prefixes-falling": "numbers in a list together",
    "survey-prefixes-weights": "parameters together",
    "survey-prefixes-uniform": "numbers in strings",
    "survey-prefixes-truthful": "numbers in strings",
    "survey-prefixes-not-prime": "prime numbers",
    "survey-prefixes-other-alphabet": "parameters and domain together",
    "survey-prefixes-model-cut": "bytes in strings",
    "survey-prefixes-model-longer": "bytes in strings",
    "survey-prefixes-model-zero": "bytes in strings",
    "survey-prefixes-alphabet-falling": "strings are not looked into",
    "survey-prefixes-alphabet-not-nfc": "strings are not looked into",
    "survey-prefixes-escape-inside": "strings are not looked into",
    "survey-ngrams-any-strings": "parameters and domain together",
    "survey-ngrams-other-length": "parameters and domain together",
    "survey-ngrams-padding": "strings are not looked into",
    "survey-ngrams-gap": "parameters together",
    "survey-ngrams-one-gram": "parameters together",
    "survey-ngrams-many-grams": "parameters together",
    "survey-ngrams-many-choices": "parameters together",
    "survey-ngrams-uniform": "numbers in strings",
    "survey-ngrams-truthful": "numbers in strings",
    "survey-hcms-width": "powers of two",
    "survey-hcms-too-many-cells": "parameters together",
    "survey-hcms-wrong-answers": "parameters and domain together",
    "survey-hcms-uniform": "numbers in strings",
    "survey-hcms-truthful": "numbers in strings",
    "survey-permuted-strings": "parameters and domain together",
    "survey-permuted-answers": "parameters and domain together",
    "survey-oue-strings": "parameters and domain together",
    "survey-oue-wrong-bits": "parameters and domain together",
    "survey-oue-says-nothing": "two members together",
    "survey-oue-certain": "two members together",
    "survey-oue-members-of-no-set": "parameters and domain together",
    "survey-oue-members-too-few": "parameters and domain together",
    "survey-oue-members-bit-for-none": "parameters and domain together",
    "survey-rappor-members-of-no-set": "parameters and domain together",
    "survey-hadamard-strings": "parameters and domain together",
    "survey-hadamard-wrong-answers": "parameters and domain together",
    "survey-hadamard-uniform": "numbers in strings",
    "survey-hadamard-truthful": "numbers in strings",
    "survey-subset-strings": "parameters and domain together",
    "survey-subset-wrong-answers": "parameters and domain together",
    "survey-subset-all": "parameters together",
    "survey-subset-uniform": "parameters together",
    "survey-subset-truthful": "numbers in strings",
    "survey-olh-uniform": "parameters together",
    "survey-olh-truthful": "numbers in strings",
    "survey-set-most-too-large": "two members together",
    "survey-profile-krr": "parameters and domain together",
    "survey-profile-order-five": "parameters together",
    "survey-profile-wrong-answers": "parameters and domain together",
    "survey-profile-unknown-category": "strings are not looked into",
    "survey-profile-same-names": "a name apart from the rest",
    "survey-profile-inp-ht-boolean": "parameters and domain together",
    "survey-profile-always": "a domain and its question together",
    "survey-inp-rr-says-nothing": "parameters together",
    "survey-inp-rr-certain": "numbers in strings",
    "survey-inp-ps-uniform": "parameters together",
    "survey-inp-em-uniform": "numbers in strings",
    "survey-marg-ps-truthful": "numbers in strings",
    "survey-inp-ht-cms-width": "powers of two",
    "survey-coefficients-orders": "parameters together",
    "survey-coefficients-order-never": "numbers in strings",
    "survey-views-uncovered": "parameters together",
    "survey-views-falling": "numbers beside each other",
    "survey-views-attribute": "parameters together",
    "base64-line-end": "in Python `$` also matches before a last line end",
}


def validator(name: str) -> Draft202012Validator:
    schema = json.loads((SPEC / "schemas" / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


SURVEY, BATCH, PROBLEM = map(validator, ("survey.json", "report-batch.json", "problem.json"))


def _bad(kind: str) -> list[Any]:
    cases = [(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in BAD]
    return [
        pytest.param(name, case["input"], id=name)
        for name, case in cases
        if case["kind"] == kind and case["reason"] != "json"
    ]


@pytest.mark.parametrize("name", [*RECORD_FILES, "digest.json"])
def test_questions_of_the_vectors_fit(name: str) -> None:
    for case in load(name):
        SURVEY.validate(json.loads(survey_text(case["question"])))


@pytest.mark.parametrize("case", load("surveys.json"), ids=lambda case: case["name"])
def test_surveys_of_the_vectors_fit(case: dict[str, Any]) -> None:
    SURVEY.validate(json.loads(case["text"]))


def test_a_survey_published_from_toml_fits(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("a\n")
    (tmp_path / "survey.toml").write_text(
        'name = "n"\nowner = "o"\n'
        '[[questions]]\nid = "a"\ndescription = "d"\nexpires = 2030-01-01\nmechanism = "rappor"\n'
        'domain = { type = "strings", candidates = "names.txt" }\nparameters = { epsilon = 1 }\n'
        '[[questions]]\nid = "b"\ndescription = "d"\nexpires = 2030-01-01\nmechanism = "krr"\n'
        'domain = { type = "numbers", low = 0.001, high = 1e9, bins = 50, scale = "log" }\n'
        "parameters = { epsilon = 1, epsilon_forever = 3 }\n"
    )
    SURVEY.validate(json.loads(read_authored(tmp_path / "survey.toml").require().published()))


def test_batches_of_the_vectors_fit() -> None:
    for case in load("report.json"):
        BATCH.validate(json.loads(case["batch"]))


@pytest.mark.parametrize("size", [0, 1001])
def test_batches_have_1_to_1000_reports(size: int) -> None:
    report = json.loads(load("report.json")[0]["batch"])["reports"][0]
    assert BATCH.is_valid({"reports": [report] * 1000})
    assert not BATCH.is_valid({"reports": [report] * size})


@pytest.mark.parametrize(("name", "given"), _bad("survey"))
def test_bad_surveys_do_not_fit(name: str, given: dict[str, Any]) -> None:
    assert SURVEY.is_valid(json.loads(given["text"])) == (name in NOT_EXPRESSIBLE)


@pytest.mark.parametrize(("name", "given"), _bad("report"))
def test_bad_reports_do_not_fit(name: str, given: dict[str, Any]) -> None:
    assert BATCH.is_valid({"reports": [given["report"]]}) == (name in NOT_EXPRESSIBLE)


def test_every_exception_is_a_vector() -> None:
    assert NOT_EXPRESSIBLE.keys() <= {path.stem for path in BAD}


def test_problems() -> None:
    problem = {
        "type": "about:blank",
        "title": "The digest differs.",
        "status": 422,
        "detail": "Update the survey.",
        "reason": "digest",
        "index": 7,
    }
    PROBLEM.validate(problem)
    without = {name: value for name, value in problem.items() if name not in ("index", "detail")}
    PROBLEM.validate(without)
    for name in ("title", "status", "reason", "type"):
        assert not PROBLEM.is_valid({key: value for key, value in problem.items() if key != name})
    for change in ({"status": 200}, {"index": -1}, {"reason": "Digest!"}, {"address": "10.0.0.1"}):
        assert not PROBLEM.is_valid({**problem, **change})
