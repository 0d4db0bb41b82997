"""What every client and collector must refuse: one vector per defect, named for it.

Each vector has `kind` (what the input is), `input`, `reason` (of protocol.md) and `about`. Kinds:

    survey      `input.text` is survey.json (`input.bytes`, hexadecimal, where it is no text)
    report      `input.report` is one report of a batch
    compact     `input.body`, hexadecimal, is a compact batch; all of it is refused
    record      `input.record`, hexadecimal, is the record of `input.question`
    answer      `input.value` is recorded for `input.question`
    canonical   `input.text` is JSON that has no canonical spelling
"""

from __future__ import annotations

import json
from typing import Any

from example_cohorts import bad_parameters, bad_records, part
from example_compact import bad_bodies
from example_history import bad_histories
from example_marginals import (
    bad_profile_answers,
    bad_profile_domains,
    bad_profile_parameters,
    bad_profile_records,
    bad_profile_surveys,
)
from example_ngrams import bad_ngrams, bad_ngrams_records
from example_oracles import (
    bad_oracle_parameters,
    bad_oracle_records,
    bad_set_answers,
    bad_sets,
)
from example_prefixes import bad_prefixes, bad_prefixes_answers, bad_prefixes_records
from example_questions import COLOURS, SIZES, field, krr, question, rappor, survey
from example_segments import bad_report_segments, bad_segments

Vectors = dict[str, dict[str, Any]]
GOOD = rappor("bloom", 128, 2, 16)
T = 2**64


def bad_vectors() -> Vectors:
    """Return every bad vector by its name."""
    return {
        **_survey_texts(),
        **_survey_questions(),
        **_survey_histories(),
        **_survey_domains(),
        **_survey_parameters(),
        **_reports(),
        **{n: _bad("compact", "body", about, body=b) for n, (about, b) in bad_bodies().items()},
        **_records(),
        **_cohorts(),
        **_oracles(),
        **_marginals(),
        **_prefixes(),
        **_ngrams(),
        **_answers(),
        **_canonical(),
    }


def _bad(kind: str, reason: str, about: str, **given: Any) -> dict[str, Any]:
    return {"kind": kind, "reason": reason, "about": about, "input": given}


def _asked(**changes: Any) -> dict[str, Any]:
    return question("browser", field("strings", GOOD), **changes)


def _survey(reason: str, about: str, *questions: Any, **changes: Any) -> dict[str, Any]:
    text = json.dumps(survey(*questions, **changes), sort_keys=True, separators=(",", ":"))
    return _bad("survey", reason, about, text=text)


def _survey_texts() -> Vectors:
    text = json.dumps(survey(_asked()), sort_keys=True, separators=(",", ":"))
    named = survey(_asked())
    del named["owner"]
    return {
        "survey-empty": _bad("survey", "json", "no bytes at all", text=""),
        "survey-truncated": _bad("survey", "json", "the last byte is missing", text=text[:-1]),
        "survey-not-utf8": _bad("survey", "json", "a byte 0xff", bytes="7b22ff223a317d"),
        "survey-deep": _bad("survey", "json", "too deep to be read", text="[" * 5_000),
        "survey-not-an-object": _bad("survey", "members", "an array", text="[]"),
        "survey-repeated-member": _bad(
            "survey", "members", "readers differ on which of two counts",
            text=text.replace('"name":"vectors"', '"name":"x","name":"vectors"', 1),
        ),
        "survey-missing-member": _bad("survey", "members", "no owner", text=json.dumps(named)),
        "survey-extra-member": _survey("members", "nothing is ignored", _asked(), colour="red"),
        "survey-float": _survey("value", "a version of 1.0", _asked(version=1.0)),
        "survey-boolean": _survey("value", "a format of true", _asked(), deniable=True),
        "survey-null": _survey("value", "a null description", _asked(description=None)),
        "survey-surrogate": _survey("value", "an unpaired surrogate", _asked(owner="\ud800")),
        "survey-large-integer": _survey("value", "2^53 is not exact", _asked(epoch=2**53)),
        "survey-other-format": _survey("format", "a format of the future", _asked(), deniable=2),
        "survey-no-questions": _survey("question", "an empty list"),
        "survey-duplicate-question": _survey("question", "same id and version", _asked(), _asked()),
    }  # fmt: skip


def _survey_questions() -> Vectors:
    part = field("strings", GOOD)
    elsewhere = {**part, "candidates": "../../secrets.txt"}
    extra = {**_asked(), "colour": "red"}
    return {
        "survey-id-upper-case": _survey("question", "ids are lower-case", _asked(id="Browser")),
        "survey-id-too-long": _survey("question", "65 characters", _asked(id="a" * 65)),
        "survey-version-zero": _survey("question", "versions begin at 1", _asked(version=0)),
        "survey-epoch-zero": _survey("question", "an epoch has a day", _asked(epoch=0)),
        "survey-epoch-too-long": _survey("question", "367 days", _asked(epoch=367)),
        "survey-repeat-unknown": _survey("question", "twice", _asked(repeat="twice")),
        "survey-send-unknown": _survey("question", "sometimes", _asked(send="sometimes")),
        "survey-expires-no-date": _survey("question", "not a day", _asked(expires="2027-02-30")),
        "survey-expires-basic-date": _survey("question", "no hyphens", _asked(expires="20271231")),
        "survey-question-extra-member": _survey("members", "nothing is ignored", extra),
        "survey-no-fields": _survey("question", "an empty list", _asked(fields=[])),
        "survey-duplicate-field": _survey("question", "same name", _asked(fields=[part, part])),
        "survey-field-name": _survey("field", "a hyphen", _asked(fields=[{**part, "name": "a-b"}])),
        "survey-mechanism-unknown": _survey(
            "field", "unknown mechanism", _asked(fields=[{**part, "mechanism": "magic"}])
        ),
        "survey-candidates-outside": _survey(
            "field", "a path that leads out of the folder", _asked(fields=[elsewhere])
        ),
    }


def _survey_histories() -> Vectors:
    return {
        name: _bad("survey", reason, about, text=json.dumps(whole, sort_keys=True))
        for name, (reason, about, whole) in {**bad_histories(), **bad_segments()}.items()
    }


def _domain(about: str, domain: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    return _survey("domain", about, question("q", field(domain, parameters)))


def _names(*names: str) -> dict[str, Any]:
    return {"type": "categories", "values": list(names)}


def _edges(*edges: Any) -> dict[str, Any]:
    return {"type": "numbers", "edges": list(edges)}


def _survey_domains() -> Vectors:
    two, keep = krr(2, T, 3 * 2**62), rappor("basic", 3, 1, 1)
    return {
        "survey-domain-unknown": _domain("unknown type", {"type": "dates"}, two),
        "survey-domain-extra-member": _domain("extra", {"type": "boolean", "values": []}, two),
        "survey-one-category": _domain("nothing to choose", _names("a"), two),
        "survey-empty-category": _domain("an empty name", _names("a", ""), two),
        "survey-duplicate-category": _domain("the same name twice", _names("a", "a"), two),
        "survey-category-not-nfc": _domain("e and an accent", _names("a", "e\u0301"), two),
        "survey-no-edges": _domain("an empty list", _edges(), two),
        "survey-edge-as-integer": _domain("edges are strings", _edges(1, 2), keep),
        "survey-edge-not-decimal": _domain("an underscore", _edges("1_0", "20"), keep),
        "survey-edge-infinite": _domain("infinite as a double", _edges("0", "1e999"), keep),
        "survey-edge-nan": _domain("not a number", _edges("0", "NaN"), keep),
        "survey-edges-equal": _domain("the same double twice", _edges("1", "1.0"), keep),
        "survey-edges-falling": _domain("not rising", _edges("2", "1"), keep),
    }


def _parameters(about: str, domain: Any, parameters: dict[str, Any], **changes: Any) -> Any:
    return _survey("parameters", about, question("q", field(domain, parameters), **changes))


def _survey_parameters() -> Vectors:
    bloom = {"form": "bloom", "bits": 128, "hashes": 2, "cohorts": 16}
    return {
        "survey-threshold-as-integer": _parameters(
            "an integer, even one that fits", "strings", {**GOOD, "report_one": 1}
        ),
        "survey-threshold-leading-zero": _parameters(
            "a leading zero", "strings", {**GOOD, "report_zero": "0123"}
        ),
        "survey-threshold-sign": _parameters("a sign", "strings", {**GOOD, "report_zero": "+1"}),
        "survey-threshold-too-large": _parameters(
            "2^64 + 1", "strings", {**GOOD, "report_one": str(T + 1)}
        ),
        "survey-parameter-missing": _parameters("no thresholds", "strings", bloom),
        "survey-p-equals-q": _parameters(
            "says nothing", "strings", rappor("bloom", 128, 2, 16, report_zero=3 * 2**62)
        ),
        "survey-f-equals-one": _parameters(
            "says nothing", "strings",
            rappor("bloom", 128, 2, 16, permanent_one=2**63, permanent_zero=2**63),
        ),
        "survey-certain": _parameters(
            "a reported 0 would be certain", "strings",
            rappor("bloom", 8, 1, 1, permanent_one=T, permanent_zero=0, report_one=T),
        ),
        "survey-bloom-one-bit": _parameters("bloom", "strings", rappor("bloom", 1, 1, 1)),
        "survey-17-hashes": _parameters("h <= 16", "strings", rappor("bloom", 128, 17, 1)),
        "survey-65537-cohorts": _parameters("u16", "strings", rappor("bloom", 128, 1, 65537)),
        "survey-basic-cohorts": _parameters("basic has one", COLOURS, rappor("basic", 5, 1, 2)),
        "survey-basic-strings": _parameters("bloom", "strings", rappor("basic", 5, 1, 1)),
        "survey-basic-wrong-bits": _parameters("five names", COLOURS, rappor("basic", 4, 1, 1)),
        "survey-boolean-two-bits": _parameters("has one", "boolean", rappor("basic", 2, 1, 1)),
        "survey-krr-strings": _parameters("cannot be listed", "strings", krr(5, T, 2**63)),
        "survey-krr-absent-forgotten": _parameters(
            "five bins and absent make six", SIZES, krr(5, T, 2**63), send="always"
        ),
        "survey-krr-uniform": _parameters("1/2 of two", "boolean", krr(2, T, 2**63)),
        "survey-krr-truthful": _parameters("the true answer", "boolean", krr(2, T, T)),
    }  # fmt: skip


def _reports() -> Vectors:
    good = {
        "question": "browser",
        "version": 1,
        "digest": "0123456789abcdef" * 4,
        "epoch": 20772,
        "id": "00112233445566778899aabbccddeeff",
        "record": "AQAB_w",
    }

    def report(about: str, **changes: Any) -> dict[str, Any]:
        return _bad("report", "schema", about, report={**good, **changes})

    missing = {name: value for name, value in good.items() if name != "epoch"}
    return {
        "report-not-an-object": _bad("report", "schema", "an array", report=list(good.values())),
        "report-missing-member": _bad("report", "schema", "no epoch", report=missing),
        "report-extra-member": report("a sender is never named", device="d-17"),
        **{
            name: report("segments that no question has", segments=segments)
            for name, segments in bad_report_segments().items()
        },
        "report-uppercase-hex": report("one spelling only", digest="0123456789ABCDEF" * 4),
        "report-short-digest": report("62 digits", digest="01" * 31),
        "report-short-id": report("30 digits", id="01" * 15),
        "report-id-with-spaces": report("spaces", id=" " + "0" * 30 + " "),
        "report-question-upper-case": report("not an id", question="Browser"),
        "report-question-too-long": report("65 characters", question="a" * 65),
        "report-version-zero": report("versions begin at 1", version=0),
        "report-version-as-text": report("an integer", version="1"),
        "report-epoch-negative": report("before 1970", epoch=-1),
        "report-epoch-float": report("a fraction", epoch=1.5),
        "report-epoch-boolean": report("not an integer", epoch=True),
        "report-epoch-too-large": report("2^31", epoch=2**31),
        "report-record-null": report("null", record=None),
        "base64-padded": report("no padding is written", record="AQAB_w=="),
        "base64-standard-alphabet": report("+ and / are - and _ here", record="AQAB/w"),
        "base64-not-canonical": report("bits beyond the last byte are set", record="AQAB_x"),
        "base64-one-letter-over": report("six bits are no byte", record="AQAB_"),
        "base64-line-end": report("white space", record="AQAB_w\n"),
    }


def _records() -> Vectors:
    odd = question("odd", field("strings", rappor("bloom", 13, 2, 7)))
    ten = question("size", field(SIZES, krr(5, T, 2**63)))
    parts = (field(SIZES, krr(5, T, 2**63), "a"), field("strings", rappor("bloom", 13, 2, 7), "b"))
    two = question("two", *parts)

    def record(about: str, asked: dict[str, Any], data: str) -> dict[str, Any]:
        return _bad("record", "record", about, question=asked, record=data)

    return {
        "record-empty": record("no bytes", odd, ""),
        "record-truncated": record("three bytes of four", odd, "0600ff"),
        "record-too-long": record("five bytes for four", odd, "0600ff1f00"),
        "record-cohort-too-large": record("cohort 7 of 0..6", odd, "0700ff1f"),
        "record-cohort-big-endian": record("cohort 6, high byte first", odd, "0006ff1f"),
        "record-padding-not-zero": record("bit 13 of 0..12", odd, "0600ff3f"),
        "symbol-out-of-range": record("symbol 5 of 0..4", ten, "05000000"),
        "symbol-big-endian": record("symbol 4, high byte first", ten, "00000004"),
        "record-field-missing": record("the second field", two, "04000000"),
        "record-second-field-padding": record("in the second field", two, "040000000600ff3f"),
    }


def _listed(surveys: dict[str, Any], records: dict[str, Any], answers: dict[str, Any]) -> Vectors:
    """Return the vectors of fields (by reason), records and answers that are listed elsewhere."""
    return {
        **{
            f"survey-{name}": _survey(reason, about, question("q", part(kind, domain, given)))
            for reason, cases in surveys.items()
            for name, (about, domain, kind, given) in cases.items()
        },
        **{
            name: _bad("record", "record", about, question=asked, record=data)
            for name, (about, asked, data) in records.items()
        },
        **{
            name: _bad("answer", reason, about, question=asked, value=value)
            for name, (reason, about, asked, value) in answers.items()
        },
    }


def _oracles() -> Vectors:
    surveys = {"parameters": bad_oracle_parameters(), "domain": bad_sets()}
    return _listed(surveys, bad_oracle_records(), bad_set_answers())


def _marginals() -> Vectors:
    surveys = {"parameters": bad_profile_parameters(), "domain": bad_profile_domains()}
    whole = {
        f"survey-{name}": _survey("parameters", about, asked)
        for name, (about, asked) in bad_profile_surveys().items()
    }
    return {**_listed(surveys, bad_profile_records(), bad_profile_answers()), **whole}


def _cohorts() -> Vectors:
    return _listed({"parameters": bad_parameters()}, bad_records(), {})


def _prefixes() -> Vectors:
    surveys = {
        f"survey-prefixes-{name}": _survey(
            reason, about, question("q", part("prefixes", domain, given), repeat="once")
        )
        for name, (reason, about, domain, given) in bad_prefixes().items()
    }
    records = {
        name: _bad("record", "record", about, question=asked, record=data)
        for name, (about, asked, data) in bad_prefixes_records().items()
    }
    answers = {
        name: _bad("answer", reason, about, question=asked, value=value)
        for name, (reason, about, asked, value) in bad_prefixes_answers().items()
    }
    return {**surveys, **records, **answers}


def _ngrams() -> Vectors:
    surveys = {
        f"survey-ngrams-{name}": _survey(
            "parameters", about, question("q", part("ngrams", domain, given), repeat="once")
        )
        for name, (about, domain, given) in bad_ngrams().items()
    }
    records = {
        name: _bad("record", "record", about, question=asked, record=data)
        for name, (about, asked, data) in bad_ngrams_records().items()
    }
    return {**surveys, **records}


def _answers() -> Vectors:
    strings = question("s", field("strings", GOOD))
    yes = question("b", field("boolean", krr(2, T, 3 * 2**62)))
    colour = question("c", field(COLOURS, krr(5, T, 2**63)))
    size = question("n", field(SIZES, krr(5, T, 2**63)))
    two = question("t", *(field("boolean", krr(2, T, 3 * 2**62), name) for name in "ab"))
    half = {"a": {"boolean": True}}
    whole = {**half, "b": {"boolean": True}}

    def answer(reason: str, about: str, asked: dict[str, Any], value: Any) -> dict[str, Any]:
        return _bad("answer", reason, about, question=asked, value=value)

    other = {"fields": {**whole, "c": {"boolean": True}}}
    return {
        "answer-boolean-from-integer": answer("type", "1 is not true", yes, {"integer": "1"}),
        "answer-boolean-null": answer("type", "null", yes, {"null": True}),
        "answer-category-unknown": answer("unknown_category", "pink", colour, {"string": "pink"}),
        "answer-category-case": answer("unknown_category", "Red", colour, {"string": "Red"}),
        "answer-category-number": answer("type", "a code", colour, {"integer": "1"}),
        "answer-category-huge": answer(
            "unknown_category", "1 MB", colour, {"repeat": ["r", 10**6]}
        ),
        "answer-number-nan": answer("not_a_number", "NaN", size, {"number": "NaN"}),
        "answer-number-text": answer("type", "digits in a string", size, {"string": "10"}),
        "answer-number-boolean": answer("type", "true is not 1", size, {"boolean": True}),
        "answer-string-number": answer("type", "a number", strings, {"integer": "5"}),
        "answer-string-surrogate": answer(
            "bad_unicode", "half of a pair", strings, {"utf16": [0x61, 0xD83D]}
        ),
        "answer-string-swapped-surrogates": answer(
            "bad_unicode", "low before high", strings, {"utf16": [0xDE00, 0xD83D]}
        ),
        "answer-string-too-long": answer(
            "too_long", "4,097 bytes", strings, {"repeat": ["a", 4097]}
        ),
        "answer-string-too-many-bytes": answer(
            "too_long", "2,049 letters of two bytes", strings, {"repeat": ["é", 2049]}
        ),
        "answer-string-too-long-before-nfc": answer(
            "too_long", "4,098 code points that NFC would make 2,732 bytes", strings,
            {"repeat": ["U\u0308\u0304", 1366]},
        ),
        "answer-absent-not-allowed": answer("type", "send is recorded", yes, {"absent": True}),
        "answer-field-missing": answer("missing_field", "no b", two, {"fields": half}),
        "answer-field-unknown": answer("unknown_field", "a field c", two, other),
        "answer-fields-not-a-mapping": answer("type", "one value for two", two, {"boolean": True}),
    }  # fmt: skip


def _canonical() -> Vectors:
    texts = {
        "float": "1.5",
        "integral-float": "1.0",
        "exponent": "1e2",
        "true": "[true]",
        "null": '{"a":null}',
        "large-integer": "9007199254740992",
        "negative-large-integer": "-9007199254740992",
        "surrogate": '"\\ud800"',
        "key-not-ascii": '{"\\u00e9":1}',
        "too-deep": "[" * 18 + "]" * 18,
    }
    return {
        f"canonical-{name}": _bad("canonical", "value", name.replace("-", " "), text=text)
        for name, text in texts.items()
    }
