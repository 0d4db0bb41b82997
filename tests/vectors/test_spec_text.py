"""The pages of spec/ name every limit and word of the code, and the code keeps to them."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from test_schemas import PROBLEM, validator

from deniable.authoring import resolve
from deniable.client import Limits
from deniable.client.encode import TAG_BYTES
from deniable.collector.problems import Problem
from deniable.collector.reasons import Reason as CollectorReason
from deniable.collector.settings import Settings
from deniable.protocol import (
    MECHANISMS,
    canonical,
    domain,
    epochs,
    prf,
    question,
    rappor,
    report,
    survey,
)
from deniable.protocol.reasons import FINAL_REASONS, REPORT_REASONS, SPLIT_REASONS, Reason
from material.vectors import SPEC

PROTOCOL, MECHANISM_PAGE, PRIVACY = (
    (SPEC / name).read_text(encoding="utf-8")
    for name in ("protocol.md", "mechanisms.md", "privacy.md")
)


@pytest.mark.parametrize(
    "text",
    [
        f"array of 1 to {survey.MAX_QUESTIONS:,} questions",
        f"array of 1 to {question.MAX_FIELDS} fields",
        f"integer from 1 to {question.MAX_EPOCH_DAYS}: the length of an epoch",
        f"({survey.MAX_SURVEY_BYTES:,} bytes)",
        f"`{question.QUESTION_ID.pattern}`",
        f"`{question.FIELD_NAME.pattern}`",
        f'b"{question.DIGEST_PREFIX.decode().encode("unicode_escape").decode()}"',
        f"2 to {domain.MAX_CATEGORIES:,} different names",
        f"1 to {domain.MAX_CATEGORIES - 1:,} edges",
        f"1 to {domain.MAX_STRING_BYTES:,} UTF-8 bytes",
        f'b"{prf.SALT.decode()}"',
        f"one {prf.SECRET_BYTES}-byte secret",
        f"first {TAG_BYTES} bytes: recognises",
        f"1 to {report.MAX_BATCH_REPORTS:,} reports",
        f"({report.MAX_BATCH_BYTES:,} bytes)",
        f"{2 * report.ID_BYTES} hexadecimal digits: {report.ID_BYTES} bytes",
        f"At most {16} levels",
    ],
)
def test_limits_are_the_ones_of_the_code(text: str) -> None:
    assert text in PROTOCOL


def test_large_numbers_are_the_ones_of_the_code() -> None:
    assert canonical.LARGEST_INTEGER == 2**53 - 1
    assert question.MAX_VERSION == report.MAX_EPOCH == 2**31 - 1
    limits = (f"from 1 to {rappor.MAX_BITS:,}", f"from 1 to {rappor.MAX_HASHES};")
    for text in (*limits, f"from 1 to {rappor.MAX_COHORTS:,};"):
        assert text in MECHANISM_PAGE


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_and_published_parameter_has_its_place(name: str) -> None:
    start = MECHANISM_PAGE.index(f"## `{name}`")
    section = MECHANISM_PAGE[start : MECHANISM_PAGE.index("\n## ", start)]
    schema = validator("survey.json").schema["$defs"][name]
    for parameter in schema["required"]:
        assert f"| `{parameter}` |" in section


def test_every_reason_of_a_collector_is_documented_and_fits_the_schema() -> None:
    assert CollectorReason is Reason  # one set of words for both sides
    for reason in Reason:
        assert f"`{reason}`" in PROTOCOL
        problem = Problem.of(reason, "What to do.", index=0)
        PROBLEM.validate(msgspec.json.decode(msgspec.json.encode(problem)))


def rows_of(head: str) -> dict[str, tuple[str, str]]:
    """Return the status and the last column of each reason in a table of the protocol."""
    table = PROTOCOL[PROTOCOL.index(head) :].partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table]
    return {name.strip("`"): (status, client) for name, status, _, client in cells}


def test_the_tables_of_reasons_are_the_ones_of_the_code() -> None:
    about_reports = rows_of("| reason | status | the report | client |")
    assert about_reports == {
        reason.value: (str(reason.status), "drops it" if reason.final else "lets it wait")
        for reason in REPORT_REASONS
    }
    about_requests = rows_of("| reason | status | the request | client |")
    assert about_requests == {
        reason.value: (str(reason.status), _of_a_request(reason))
        for reason in Reason
        if reason not in REPORT_REASONS
    }


def _of_a_request(reason: Reason) -> str:
    if reason not in SPLIT_REASONS:
        return "lets all wait"
    return (
        f"sends halves; {'drops a single report' if reason.final else 'lets a single report wait'}"
    )


def test_the_list_of_final_reasons_is_the_one_of_the_code() -> None:
    listed = re.search(r"a final reason \(([^)]+)\)", PROTOCOL)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == FINAL_REASONS


def test_the_days_of_acceptance_are_the_ones_of_the_code() -> None:
    past = f"ended more than {epochs.ACCEPT_PAST_DAYS} days ago"
    assert len(re.findall(past, PROTOCOL.replace("\n", " "))) == 2
    assert f"begins more than {epochs.ACCEPT_FUTURE_DAYS} day from now" in PROTOCOL
    assert Settings(Path(), Path()).accept_past_days == epochs.ACCEPT_PAST_DAYS
    assert Settings(Path(), Path()).accept_future_days == epochs.ACCEPT_FUTURE_DAYS
    assert Limits().stale_days == epochs.ACCEPT_PAST_DAYS


def test_every_reason_for_refusing_a_value_is_documented() -> None:
    closed = re.search(r"closed set of reasons for refusing a value: ([^.]+)\.", PROTOCOL)
    assert closed is not None
    assert set(re.findall(r"`(\w+)`", closed[1])) == {
        "type",
        "not_a_number",
        "unknown_category",
        "too_long",
        "too_many",
        "bad_unicode",
        "alphabet",
        "missing_field",
        "unknown_field",
    }


def test_the_example_of_the_privacy_page() -> None:
    paper = {"k": 128, "h": 2, "m": 16, "f": 0.5, "p": 0.5, "q": 0.75}
    parameters = resolve("rappor", paper, domain.Strings(), False)
    assert parameters.epsilon_forever is not None
    for micros in (parameters.epsilon_once, parameters.epsilon_forever):
        assert f"{micros / 1e6:.6f}" in PRIVACY
