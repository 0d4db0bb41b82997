"""The good vectors, written by the reference, agree with the package bit for bit."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.protocol import MECHANISMS, Report, batch_bytes
from deniable.protocol.canonical import canonical
from deniable.protocol.domain_reading import domain_from_published
from deniable.protocol.hashing import bloom_bits, fingerprint, hash_word
from deniable.protocol.prf import Stream, derive_key
from deniable.protocol.question import Field
from material.vectors import load, question_of, value_of


@pytest.mark.parametrize("case", load("canonical.json"), ids=lambda case: case["name"])
def test_canonical_bytes(case: dict[str, Any]) -> None:
    assert canonical(case["value"]).hex() == case["bytes"]


@pytest.mark.parametrize("case", load("hashing.json"), ids=lambda case: case["key"])
def test_hash_family(case: dict[str, Any]) -> None:
    words = fingerprint(bytes.fromhex(case["key"]))
    assert [str(word) for word in words] == case["words"]
    for output in case["outputs"]:
        assert str(hash_word(words, output["index"])) == output["word"]
    for bloom in case["bloom"]:
        places = bloom_bits(words, bloom["cohort"], bloom["hashes"], bloom["bits"])
        assert places == bloom["places"]


@pytest.mark.parametrize("case", load("prf.json")["keys"])
def test_derived_keys(case: dict[str, Any]) -> None:
    pieces = [bytes.fromhex(piece) for piece in case["pieces"]]
    assert derive_key(bytes.fromhex(case["secret"]), *pieces).hex() == case["key"]


def test_lists_of_pieces_that_join_alike_give_different_keys() -> None:
    keys = [(case["secret"], case["key"]) for case in load("prf.json")["keys"]]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("case", load("prf.json")["streams"])
def test_streams(case: dict[str, Any]) -> None:
    stream = Stream(bytes.fromhex(case["key"]))
    assert [str(stream.word()) for _ in case["words"]] == case["words"]


@pytest.mark.parametrize("case", load("answers.json"), ids=lambda case: str(case["value"])[:60])
def test_answers(case: dict[str, Any]) -> None:
    parameters = MECHANISMS["krr"].from_published(
        {"categories": 2, "permanent_keep": str(2**64), "report_keep": str(2**63 + 1)}
    )
    field = Field("value", domain_from_published(case["domain"]), parameters)
    answer = field.answer(value_of(case["value"]), case["absent"])
    assert (answer.key.hex(), answer.code) == (case["key"], case["code"])


@pytest.mark.parametrize("case", load("digest.json"), ids=lambda case: case["name"])
def test_digests(case: dict[str, Any]) -> None:
    question = question_of(case["question"])
    assert question.published() == case["question"]
    assert canonical(question.contract()).decode() == case["contract"]
    assert question.digest.hex() == case["digest"]


def test_the_digest_covers_what_gives_a_report_its_meaning_and_nothing_else() -> None:
    free = {"the first question", "another description", "another owner", "another expiry"}
    cases = load("digest.json")
    same = {case["name"] for case in cases if case["same"]}
    assert same == free | {"candidates"}
    assert len({case["digest"] for case in cases}) == len(cases) - len(same) + 1


@pytest.mark.parametrize("case", load("epsilon.json"))
def test_epsilon_from_integers(case: dict[str, Any]) -> None:
    parameters = MECHANISMS[case["mechanism"]].from_published(case["parameters"])
    assert parameters.epsilon_once == case["once"]
    assert parameters.epsilon_forever == case["forever"]
    assert parameters.published() == case["parameters"]


@pytest.mark.parametrize("case", load("report.json"))
def test_batches(case: dict[str, Any]) -> None:
    reports = [
        Report(
            question=report["question"],
            version=report["version"],
            digest=bytes.fromhex(report["digest"]),
            epoch=report["epoch"],
            id=bytes.fromhex(report["id"]),
            record=bytes.fromhex(report["record"]),
        )
        for report in case["reports"]
    ]
    assert batch_bytes(reports).decode() == case["batch"]
    assert [Report.from_json(report.as_json()) for report in reports] == reports
