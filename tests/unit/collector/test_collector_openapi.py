"""The description of the interface is true: real answers fit it, and nothing is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from starlette.routing import Route

from deniable.collector import hash_write_keys, new_token
from deniable.collector.openapi import openapi_bytes
from deniable.collector.problems import Problem
from deniable.collector.reasons import REPORT_REASONS, Reason
from deniable.collector.settings import hash_token
from deniable.store import SqliteStore
from material.collector import JSON, TODAY, Answer, InProcess, body, collector, report
from material.openapi import COPIES, described
from material.openapi_pages import PAGES

TOKEN = new_token()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "data" / "s") as store:
        yield store


@pytest.fixture
def app(tmp_path: Path, store: SqliteStore) -> Iterator[InProcess]:
    with collector(tmp_path, store) as app:
        yield app


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator({**schema, "components": openapi()["components"]})


def check(path: str, method: str, answer: Answer) -> None:
    """Fail unless the answer is one that the description has."""
    responses = openapi()["paths"][path][method]["responses"]
    documented = responses[str(answer.status)]
    if answer.status == 304:
        assert answer.body == b""
        return
    (media,) = documented["content"]
    assert answer.headers["content-type"] == media
    validator(documented["content"][media]["schema"]).validate(answer.json)
    if "reason" in answer.json:
        assert re.search(rf"\b{answer.json['reason']}:", documented["description"])
        for name in documented.get("headers", {}):
            assert name in answer.headers


def openapi() -> dict[str, Any]:
    """Return the description that is served."""
    found: dict[str, Any] = json.loads(openapi_bytes())
    return found


def test_the_description_says_what_the_code_does() -> None:
    for copy in COPIES:
        assert copy.read_bytes() == described(), (
            "Write it again: PYTHONPATH=src:tests python -m material.openapi"
        )


def test_it_is_served(app: InProcess) -> None:
    answer = app.get("/openapi.json")
    check("/openapi.json", "get", answer)
    assert answer.body == openapi_bytes()


def test_every_route_is_described_and_no_other(app: InProcess) -> None:
    routes = {
        (route.path, method.lower())
        for route in app.app.routes
        if isinstance(route, Route)
        for method in route.methods or ()
        if method != "HEAD"
    }
    told = {(path, method) for path, item in openapi()["paths"].items() for method in item}
    assert routes == told - {(path, "get") for path in PAGES}  # those are the dashboard's


def test_every_reason_is_described() -> None:
    text = json.dumps(openapi()["paths"])
    alone = {Reason.NOT_FOUND, Reason.METHOD}  # they belong to no route
    for reason in set(Reason) - set(REPORT_REASONS) - alone:
        assert f"{reason.value}: {reason.meaning}" in text


def test_schemas_are_schemas_and_references_lead_somewhere() -> None:
    schemas = openapi()["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(openapi())):
        assert name in schemas


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        ({}, body(report(1), report(2, "pair"))),
        ({}, body(report(1), report(1))),
        ({}, body(*(report(n, epoch=TODAY + 9 * n) for n in range(-9, 9)))),
        ({}, body(report(1, digest=bytes(32)), report(2, record=b""), 7, report(3, version=9))),
        ({}, body(report(4, question="who"), report(5, epoch=2**31 - 1))),
        ({}, b"nonsense"),
        ({}, body()),
        ({}, body(*[{}] * 1_001)),
        ({}, b" " * (2**20 + 1)),
        ({"content-type": "text/plain"}, b"{}"),
        ({"content-encoding": "gzip"}, b"{}"),
        ({"host": "evil.example"}, b"{}"),
    ],
)
def test_answers_to_batches_fit(app: InProcess, headers: dict[str, str], sent: bytes) -> None:
    check("/v1/reports", "post", app.post(sent, headers={**JSON, **headers}))


def test_what_is_sent_fits() -> None:
    batch = validator({"$ref": "#/components/schemas/Batch"})
    batch.validate(json.loads(body(report(1), report(2, "words"))))
    for bad in (body(), body({}), body({**report(1).as_json(), "sender": "me"}), b"[]"):
        assert not batch.is_valid(json.loads(bad))


def test_problems_fit_the_schema_of_the_protocol() -> None:
    schema = json.loads((COPIES[0].parent / "schemas/problem.json").read_text())
    for reason in Reason:
        for problem in (Problem.of(reason, "?"), Problem.of(reason, "?", index=7)):
            Draft202012Validator(schema).validate(msgspec.to_builtins(problem))


def test_answers_to_readers_fit(app: InProcess) -> None:
    app.post(body(report(1), report(1), report(2, digest=bytes(32)), 7))
    for path in ("/v1/survey", "/v1/counters", "/healthz", "/readyz", "/openapi.json"):
        check(path, "get", app.get(path))
        check(path, "get", app.get(path, {"host": "evil.example"}))
    check("/v1/counters", "get", app.get("/v1/counters", {"via": "proxy"}))
    etag = app.get("/v1/survey").headers["etag"]
    check("/v1/survey", "get", app.get("/v1/survey", {"if-none-match": etag}))


def test_answers_of_a_guarded_collector_fit(tmp_path: Path, store: SqliteStore) -> None:
    guarded = {
        "write_key_hashes": hash_write_keys("sesame"),
        "analyst_token_hash": hash_token(TOKEN),
    }
    with collector(tmp_path, store, **guarded) as app:
        check("/v1/reports", "post", app.post(body(report(1))))
        check("/v1/counters", "get", app.get("/v1/counters"))


def test_answers_of_a_broken_store_fit(app: InProcess, store: SqliteStore) -> None:
    store.path.write_bytes(b"not a database")
    store.close()
    check("/v1/reports", "post", app.post(body(report(1))))
    check("/v1/counters", "get", app.get("/v1/counters"))
    check("/readyz", "get", app.get("/readyz"))
