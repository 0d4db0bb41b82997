"""The good vectors, written by the reference, agree with the package bit for bit."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest

from deniable.client.encode import is_asked
from deniable.client.reservation import in_order, order_word, paid_mark
from deniable.client.surveys import Bundle, ceiling_of, narrowed
from deniable.protocol import MECHANISMS, Question, Report, Survey, batch_bytes, compact
from deniable.protocol.canonical import canonical
from deniable.protocol.compact import Row, read_compact
from deniable.protocol.composition import first_fit
from deniable.protocol.domain_reading import domain_from_published
from deniable.protocol.hashing import bloom_bits, fingerprint, hash_word
from deniable.protocol.prf import Stream, derive_key
from deniable.protocol.question import Field
from deniable.protocol.segments import (
    Segment,
    combination_text,
    combinations,
    numbering,
    own_combination,
)
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
        {"answers": 2, "permanent_keep": str(2**64), "report_keep": str(2**63 + 1)}
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
    assert same == free | {"candidates", "some devices only"}
    assert len({case["digest"] for case in cases}) == len(cases) - len(same) + 1


@pytest.mark.parametrize("case", load("surveys.json"), ids=lambda case: case["name"])
def test_surveys(case: dict[str, Any]) -> None:
    survey = Survey.from_published(case["text"].encode())
    assert survey.published().decode() == case["text"]
    assert sorted([q.id, q.version] for q in survey.at_level("").asked) == case["asked"]
    assert [[q.id, q.version] for q in survey.earlier] == case["earlier"]
    assert survey.ceiling == case["ceiling"]


@pytest.mark.parametrize("word", [False, True], ids=["without", "with"])
@pytest.mark.parametrize("case", load("fetched.json"), ids=lambda case: case["name"])
def test_fetched_surveys(case: dict[str, Any], word: bool) -> None:
    app, shown = (Bundle.read(case[name].encode()) for name in ("app", "shown"))
    left, _ = narrowed(app, shown, word)
    expected = case["with" if word else "without"]
    asked = [[q.id, q.version, q.level or None, str(q.expires), q.asked] for q in left.survey.asked]
    told = [[*q[:4], q[4] and int(q[4])] for q in expected["asked"]]
    assert sorted(asked, key=lambda q: q[0]) == told
    assert ceiling_of(None, app, left) == expected["ceiling"]
    pinned = frozenset({sha256(case["shown"].encode()).hexdigest()}) if word else frozenset()
    assert narrowed(app, shown, pinned)[0].survey == left.survey


@pytest.mark.parametrize("case", load("segments.json"), ids=lambda case: case["text"])
def test_combinations_of_segments(case: dict[str, Any]) -> None:
    segments = [Segment(one["name"], tuple(one["values"])) for one in case["segments"]]
    assert combinations(segments) == tuple(case["combinations"])
    assert own_combination(segments, case["told"]) == case["text"]
    assert case["combinations"][case["number"]] == case["text"]
    assert numbering(segments).hex() == case["numbering"]


@pytest.mark.parametrize("case", load("asked.json"))
def test_the_coin_of_who_is_asked(case: dict[str, Any]) -> None:
    question = SimpleNamespace(id=case["id"], asked=int(case["asked"]))
    secret = bytes.fromhex(case["secret"])
    assert is_asked(secret, cast("Question", question)) == case["result"]


def test_a_larger_share_keeps_who_was_asked() -> None:
    asked: dict[tuple[str, str], list[bool]] = {}
    for case in sorted(load("asked.json"), key=lambda case: int(case["asked"])):
        asked.setdefault((case["secret"], case["id"]), []).append(case["result"])
    assert all(results == sorted(results) for results in asked.values())
    assert {False, True} <= {result for results in asked.values() for result in results[1:3]}


@pytest.mark.parametrize("case", load("order.json"), ids=lambda case: case["name"])
def test_a_device_s_order_and_what_it_sets_aside(case: dict[str, Any]) -> None:
    """Only ids, versions, digests and costs matter: any question may stand for them."""
    secret = bytes.fromhex(case["secret"])
    questions = [
        _Asked(q["id"], q["version"], bytes.fromhex(q["digest"])) for q in case["questions"]
    ]
    costs = {(q["id"], q["version"]): q["micros"] for q in case["questions"]}
    for question, wanted in zip(questions, case["questions"], strict=True):
        assert str(order_word(secret, question.id)) == wanted["word"]
        assert paid_mark(secret, cast("Question", question)).hex() == wanted["mark"]
    walked = in_order(secret, cast("list[Question]", questions))
    keys = [(q.id, q.version) for q in walked]
    assert [list(key) for key in keys] == case["order"]
    fits = first_fit([costs[key] for key in keys], case["ceiling"] - case["spent"])
    answered = [list(key) for key, fit in zip(keys, fits, strict=True) if fit]
    assert answered == case["answered"]


class _Asked(NamedTuple):
    id: str
    version: int
    digest: bytes


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
            segments=combination_text(report["segments"]) if "segments" in report else "",
        )
        for report in case["reports"]
    ]
    assert batch_bytes(reports).decode() == case["batch"]
    assert [Report.from_json(report.as_json()) for report in reports] == reports


@pytest.mark.parametrize("case", load("compact.json"), ids=lambda case: case["name"])
def test_compact_batches(case: dict[str, Any]) -> None:
    digest, body = bytes.fromhex(case["digest"]), bytes.fromhex(case["body"])
    packed = read_compact(body)
    assert packed.digest == digest
    rows = [
        Row(g["epoch"], g["combination"], bytes.fromhex(r["id"]), bytes.fromhex(r["record"]))
        for g in case["groups"]
        for r in g["reports"]
    ]
    assert list(packed.rows()) == rows
    segments = tuple(Segment(name, tuple(values)) for name, values in case.get("segments", ()))
    asked = replace(question_of(load("krr.json")[0]["question"]), segments=segments)
    texts = {compact.NO_COMBINATION: "", **dict(enumerate(case.get("combinations", ())))}
    reports = [
        Report("q", 1, digest, row.epoch, row.id, row.record, texts[row.combination])
        for row in rows
    ]
    assert compact.in_groups(reports) == reports
    assert compact.compact_bytes(reports, asked) == body
    assert (compact.compact_bytes(reports) == body) is not bool(segments)
