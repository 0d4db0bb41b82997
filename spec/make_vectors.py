"""Write the vectors of spec/vectors from the reference, or check that they are what it writes.

    python spec/make_vectors.py            writes the files
    python spec/make_vectors.py --check    exits with 1 and names the files that differ
    python spec/make_vectors.py --seed 7 FOLDER    writes others of v1 there, from other secrets

v1 is the whole protocol; v2 is what format 2 of the survey adds to it.

Standard library only, and nothing of the package: see reference.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import example_cohorts
import example_compact
import example_fetched
import example_fields
import example_history
import example_marginals
import example_ngrams
import example_oracles
import example_prefixes
import example_retention
import example_segments
import reference as ref
import reference_cohorts  # noqa: F401 - it registers its encoders
import reference_marginals  # noqa: F401 - so does it
import reference_ngrams  # noqa: F401 - and it
import reference_oracles  # noqa: F401 - and it
import reference_prefixes  # noqa: F401 - and it
from bad_vectors import bad_vectors
from example_bytes import some_bytes as _bytes
from example_bytes import use_seed
from example_questions import (
    field,
    krr,
    question,
    rappor,
    rappor_questions,
    symbol_questions,
)
from reference_epsilon import micros_of, ratios

FOLDER = Path(__file__).parent / "vectors"
Cases = list[dict[str, Any]]


def canonical_vectors() -> Cases:
    """Values and their one spelling."""
    values: dict[str, Any] = {
        "empty object": {},
        "empty array": [],
        "empty string": "",
        "keys are sorted by their bytes": {"b": 1, "a": 2, "B": 3, "a_": 4, "a-": 5, "": 6},
        "integers": [0, -1, 2**53 - 1, 1 - 2**53],
        "only what must be escaped is escaped": '"\\/\b\t\n\f\r\u0000\u001f\u007f',
        "not ASCII, written as itself": "é 漢 😀 \u2028\u2029\ufeff",
        "not normalised": "e\u0301",
        "nested": {"list": [{"a": [[]]}, "x", {"b": {}}]},
    }
    return [
        {"name": name, "value": value, "bytes": ref.canonical(value).hex()}
        for name, value in values.items()
    ]


def hashing_vectors() -> Cases:
    """Keys, their words, outputs of hash functions and Bloom bits."""
    keys = [b"a", b"s", b"sfirefox", "s漢字".encode(), b"i\x00\x00\x00\x00", b"i\xff\xff\x00\x00"]
    indices = [0, 1, 65536, 65535 * 65536 + 15]
    shapes = [(0, 2, 128), (15, 2, 128), (63, 1, 100), (65535, 16, 65537), (3, 4, 2)]
    return [
        {
            "key": key.hex(),
            "words": [str(word) for word in ref.fingerprint(key)],
            "outputs": [{"index": i, "word": str(ref.hash_word(key, i))} for i in indices],
            "bloom": [
                {"cohort": c, "hashes": h, "bits": k, "places": ref.bloom(key, c, h, k)}
                for c, h, k in shapes
            ],
        }
        for key in keys
    ]


RFC_5869 = [  # secret, salt, info, length, output: appendix A.1 to A.3
    (
        b"\x0b" * 22, bytes(range(13)), bytes(range(0xF0, 0xFA)), 42,
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
    ),
    (
        bytes(range(0x50)), bytes(range(0x60, 0xB0)), bytes(range(0xB0, 0x100)), 82,
        "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c6"
        "5e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87",
    ),
    (
        b"\x0b" * 22, b"", b"", 42,
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
    ),
]  # fmt: skip


def prf_vectors() -> dict[str, Cases]:
    """The published HKDF vectors, then our keys, streams and draws."""
    hkdf = []
    for secret, salt, info, length, output in RFC_5869:
        if ref.hkdf(secret, salt, info, length)[1].hex() != output:
            raise ArithmeticError("The reference does not reproduce RFC 5869.")
        case = {"secret": secret.hex(), "salt": salt.hex(), "info": info.hex(), "length": length}
        hkdf.append({**case, "output": output})
    lists = [
        [],
        [b""],
        [b"", b""],
        [b"account"],
        [b"ab", b"c"],
        [b"a", b"bc"],
        [b"tag", b"x" * 300],
    ]
    keys = [
        {
            "secret": secret.hex(),
            "pieces": [piece.hex() for piece in pieces],
            "key": ref.derive(secret, *pieces).hex(),
        }
        for secret in (bytes(32), _bytes("secret"), b"an account secret of odd length.....")
        for pieces in lists
    ]
    streams = []
    for label in ("one", "two"):
        stream = ref.words(_bytes(label))
        streams.append({"key": _bytes(label).hex(), "words": [str(next(stream)) for _ in range(9)]})
    return {"hkdf": hkdf, "keys": keys, "streams": streams, "draws": [_draws("one"), _draws("two")]}


def _draws(label: str) -> dict[str, Any]:
    """Draws of every kind from one stream; the word after them shows how many words they took."""
    stream, results = ref.words(_bytes(label)), []
    for threshold in (0, 2**64, 2**63, 1, 2**64 - 1, 3 * 2**62):
        results.append({"coin": str(threshold), "result": ref.coin(stream, threshold)})
    for bound in (1, 2, 3, 5, 6, 7, 33, 129, 65535, 65536, 2**31 + 1, 2**32, 1):
        results.append({"below": bound, "result": ref.below(stream, bound)})
    return {"key": _bytes(label).hex(), "draws": results, "next_word": str(next(stream))}


def answer_vectors() -> Cases:
    """Values of every domain and their answers. Refused values are in bad/."""
    categories = {"type": "categories", "values": ["red", "grün", "é", "Å"]}
    numbers = {"type": "numbers", "edges": ["-1.5", "0", "0.1", "1e3", "9007199254740992"]}
    boolean, strings = {"type": "boolean"}, {"type": "strings"}
    cases: list[tuple[dict[str, Any], bool, dict[str, Any]]] = []
    for absent in (False, True):
        cases += [(boolean, absent, {"boolean": value}) for value in (False, True)]
    names = ["red", "grün", "gru\u0308n", "e\u0301", "\u212b", "A\u030a"]
    cases += [(categories, False, {"string": name}) for name in names]
    texts = [
        "-Infinity",
        "-1.5000000000000002",
        "-1.5",
        "-0.0",
        "0",
        "5e-324",
        "0.1",
        "999.9",
        "1e3",
    ]
    texts += ["0.09999999999999999", "0.30000000000000004", "1e300", "Infinity"]
    cases += [(numbers, False, {"number": text}) for text in texts]
    integers = [0, -2, 1000, 2**53 - 1, 2**53, 2**53 + 1, 10**400, -(10**400)]
    cases += [(numbers, False, {"integer": str(number)}) for number in integers]
    names = ["", "a", "https://example.org/?q=1", "é", "e\u0301", "漢字", "😀", "\u0000", "\ufb01"]
    names += ["\u1100\u1161\u11a8", "\u212b", "q\u0323\u0307", "q\u0307\u0323", "\ufeffx"]
    cases += [(strings, False, {"string": name}) for name in names]
    cases += [(strings, False, {"utf16": [0xD83D, 0xDE00]})]
    cases += [(strings, False, {"repeat": spell}) for spell in (["a", 4096], ["é", 2048])]
    cases += [(strings, False, {"repeat": ["U\u0308\u0304", 1365]})]
    declared = {"alphabet": "abé", "length": 4}
    refusing = {"type": "strings", **declared, "outside": "refuse"}
    cases += [(refusing, False, {"string": text}) for text in ("", "ab", "e\u0301", "abab漢")]
    escaping = {"type": "strings", **declared, "outside": "escape"}
    cases += [
        (escaping, False, {"string": text}) for text in ("", "axb", "漢字", "e\u0301\ufffdabx")
    ]
    tools = {"type": "set", "values": ["red", "grün", "é"], "most": 2}
    members = ([], ["é"], ["e\u0301", "red"], ["red", "é", "red"])
    cases += [(tools, False, {"list": [{"string": name} for name in names]}) for names in members]
    parts = {"wet": {"boolean": True}, "size": {"number": "0.1"}, "hue": {"string": "e\u0301"}}
    whole = {"wet": boolean, "size": numbers, "hue": categories}
    listed = [{"name": name, "domain": domain} for name, domain in whole.items()]
    cases += [({"type": "profile", "attributes": listed}, False, {"fields": parts})]
    names_of = {"type": "set", "most": 2}
    spelled = {**refusing, "type": "set", "most": 65535}
    for domain, members in (
        (names_of, []),
        (names_of, ["b", "a", "b"]),
        (names_of, ["e\u0301", "é", "漢", ""]),
        (spelled, ["abab漢", "ab"]),
    ):
        cases.append((domain, False, {"list": [{"string": name} for name in members]}))
    perhaps = [{"name": n, "domain": d, "unknown": 1} for n, d in whole.items()]
    for missing in ("wet", "size", "hue"):
        some = {name: part for name, part in parts.items() if name != missing}
        cases.append(({"type": "profile", "attributes": perhaps}, False, {"fields": some}))
    cases.append(({"type": "profile", "attributes": perhaps}, False, {"fields": {}}))
    cases += [
        (domain, True, {"absent": True})
        for domain in (boolean, categories, numbers, strings, tools, names_of)
    ]
    return [_answer(*case) for case in cases]


def _answer(domain: dict[str, Any], absent: bool, value: dict[str, Any]) -> dict[str, Any]:
    key, code = ref.answer(domain, ref.value_of(value), absent)
    return {"domain": domain, "absent": absent, "value": value, "key": key.hex(), "code": code}


def digest_vectors() -> Cases:
    """Questions and their digests. `same` says whether it is the digest of the first question."""
    first = question("browser", field("strings", rappor("bloom", 128, 2, 16)))
    plain, part = {**first}, first["fields"][0]
    changes: dict[str, dict[str, Any]] = {
        "the first question": {},
        "another description": {"description": 'Anders gefragt: \u00e9 \u2028 "quoted"'},
        "another owner": {"owner": "somebody else"},
        "another expiry": {"expires": "2031-02-28"},
        "candidates": {"fields": [{**part, "candidates": "lists/browsers.txt"}]},
        "another id": {"id": "browser.name"},
        "another version": {"version": 2},
        "another epoch": {"epoch": 7},
        "a level": {"level": "strict"},
        "some devices only": {"asked": str(2**63)},
        "another repeat": {"repeat": "once"},
        "another send": {"send": "always"},
        "another field name": {"fields": [{**part, "name": "name"}]},
        "another threshold": {
            "fields": [field("strings", rappor("bloom", 128, 2, 16, report_zero=2**63 + 1))]
        },
        "another domain and mechanism": {"fields": [field("boolean", krr(2, 2**64, 3 * 2**62))]},
        "two fields": {"fields": [part, {**part, "name": "second"}]},
        "two fields, the other way round": {"fields": [{**part, "name": "second"}, part]},
    }
    return [
        {
            "name": name,
            "question": (changed := {**plain, **change}),
            "contract": ref.canonical(ref.contract(changed)).decode(),
            "digest": ref.digest(changed).hex(),
            "same": ref.digest(changed) == ref.digest(first),
        }
        for name, change in changes.items()
    ]


def epsilon_vectors() -> Cases:
    """Integers and their epsilon, once and for ever, in micros; null where it is unbounded."""
    fine = {"permanent_one": 16601696787986013273, "permanent_zero": 1845047285723538343,
            "report_one": 9789400714687658759, "report_zero": 4130257862818266267}  # fmt: skip
    some = [
        ("rappor", rappor("bloom", 128, 2, 16)),
        ("rappor", rappor("bloom", 128, 1, 64, **fine)),
        ("rappor", rappor("bloom", 64, 16, 1, **fine)),
        ("rappor", rappor("bloom", 2, 1, 1, permanent_one=2**64, permanent_zero=0)),
        ("rappor", rappor("basic", 10, 1, 1, report_one=2**64, report_zero=0)),
        ("rappor", rappor("basic", 1, 1, 1)),
        ("rappor", rappor("basic", 1, 1, 1, permanent_one=2**63, permanent_zero=2**61)),
        ("rappor", rappor("bloom", 8, 16, 1, permanent_one=2**64, permanent_zero=0,
                          report_one=2**64 - 1, report_zero=1)),
        ("rappor", rappor("basic", 3, 1, 1, permanent_one=2**63 + 1, permanent_zero=2**63)),
        *(("krr", krr(k, 2**64, keep)) for k, keep in (
            (2, 2**63 + 1), (2, 3 * 2**62), (2, 2**64 - 1), (10, 2**62), (65537, 2**63))),
        *(("krr", krr(k, 2**63 + 2**62, keep)) for k, keep in ((2, 3 * 2**62), (10, 2**64))),
        *example_cohorts.epsilon_cases(),
        *example_oracles.oracle_epsilons(),
        *example_marginals.profile_epsilons(),
        *example_prefixes.prefixes_epsilons(),
        *example_ngrams.ngrams_epsilons(),
    ]  # fmt: skip
    cases = []
    for mechanism, parameters in some:
        once, forever = ratios(mechanism, parameters)
        cases.append(
            {
                "mechanism": mechanism,
                "parameters": parameters,
                "once": micros_of(once),
                "forever": None if forever is None else micros_of(forever),
            }
        )
    return cases


def record_vectors(cases: list[tuple[str, dict[str, Any], dict[str, Any]]]) -> Cases:
    """Questions, secrets, values and the key of a stream that plays the fresh draws: records."""
    vectors = []
    for i, (name, asked, value) in enumerate(cases):
        secret, fresh = _bytes(f"secret {i % 3}"), _bytes(f"fresh {i}")
        made = ref.encode(asked, ref.value_of(value), secret, fresh)
        case = {"name": name, "question": asked, "secret": secret.hex(), "value": value}
        vectors.append({**case, "fresh_key": fresh.hex(), **made})
    return vectors


def report_vectors() -> Cases:
    """Reports and the bytes of the batch that carries them."""
    reports = [
        {
            "question": name,
            "version": version,
            "digest": _bytes(name).hex(),
            "epoch": epoch,
            "id": _bytes(f"id {name}", 16).hex(),
            "record": record.hex(),
        }
        for name, version, epoch, record in (
            ("a", 1, 0, b""),
            ("browser", 2, 20772, bytes(range(18))),
            ("z" + "-._9" * 15 + "abc", 2**31 - 1, 2**31 - 1, b"\xff\xfe\xfb"),
            ("dark_mode", 1, 20772, b"\x01\x00\x00\x00"),
        )
    ]
    segments = {"platform": "Windows 11", "channel": "(other)"}
    batches = [reports[:1], reports[1:2], reports, [{**reports[1], "segments": segments}]]
    return [{"reports": batch, "batch": _batch(batch)} for batch in batches]


def _batch(reports: Cases) -> str:
    wire = [{**r, "record": ref.base64url(bytes.fromhex(r["record"]))} for r in reports]
    return ref.canonical({"reports": wire}).decode()


def all_files() -> dict[str, str]:
    """Return the text of every vector file by its path below vectors/v1."""
    vectors: dict[str, Any] = {
        "canonical.json": canonical_vectors(),
        "hashing.json": hashing_vectors(),
        "prf.json": prf_vectors(),
        "answers.json": answer_vectors(),
        "digest.json": digest_vectors(),
        "surveys.json": example_history.survey_vectors(),
        "segments.json": example_segments.segment_vectors(),
        "asked.json": example_segments.asked_vectors(),
        "order.json": example_history.order_vectors(),
        "fetched.json": example_fetched.fetched_vectors(),
        "epsilon.json": epsilon_vectors(),
        "rappor.json": record_vectors(rappor_questions()),
        "rappor_permuted.json": record_vectors(example_cohorts.permuted_questions()),
        "krr.json": record_vectors(symbol_questions()),
        "oue.json": record_vectors(example_oracles.oue_questions()),
        "hadamard.json": record_vectors(example_oracles.hadamard_questions()),
        "subset.json": record_vectors(example_oracles.subset_questions()),
        "olh.json": record_vectors(example_oracles.olh_questions()),
        "sets.json": record_vectors(example_oracles.set_questions()),
        "permanent.json": record_vectors(example_oracles.permanent_questions()),
        "orr.json": record_vectors(example_cohorts.orr_questions()),
        "pgr.json": record_vectors(example_cohorts.pgr_questions()),
        "hcms.json": record_vectors(example_cohorts.hcms_questions()),
        "fields.json": record_vectors(example_fields.field_questions()),
        **{
            f"{name}.json": record_vectors(example_marginals.profile_questions(name))
            for name in example_marginals.USUAL
        },
        "prefixes.json": record_vectors(example_prefixes.prefixes_questions()),
        "ngrams.json": record_vectors(example_ngrams.ngrams_questions()),
        "coding.json": example_prefixes.coding_vectors(),
        "report.json": report_vectors(),
        "compact.json": example_compact.compact_vectors(),
        **{f"bad/{name}.json": vector for name, vector in bad_vectors().items()},
    }
    return _texts(vectors)


def second_files() -> dict[str, str]:
    """Return the text of every vector file by its path below vectors/v2."""
    return _texts(
        {
            "surveys.json": example_retention.survey_vectors(),
            "fetched.json": example_retention.fetched_vectors(),
            **{f"bad/{n}.json": vector for n, vector in example_retention.bad_retention().items()},
        }
    )


def _texts(vectors: dict[str, Any]) -> dict[str, str]:
    # ASCII, so that no editor, archive or diff can change a code point.
    return {
        name: json.dumps(data, indent=1, sort_keys=True) + "\n" for name, data in vectors.items()
    }


def main(arguments: list[str]) -> int:
    """Write the files, or check them; return the exit status."""
    folder = FOLDER
    if arguments[:1] == ["--seed"]:
        use_seed(int(arguments[1]))
        folder, files = Path(arguments[2]), all_files()
    else:
        files = {f"v1/{name}": text for name, text in all_files().items()}
        files |= {f"v2/{name}": text for name, text in second_files().items()}
    there = {str(p.relative_to(folder).as_posix()) for p in folder.rglob("*.json")}
    if arguments == ["--check"]:
        wrong = sorted(there ^ files.keys())
        wrong += [n for n in sorted(there & files.keys()) if (folder / n).read_text() != files[n]]
        for name in wrong:
            print(f"differs from what the reference writes: {name}")
        return 1 if wrong else 0
    for name in there - files.keys():
        (folder / name).unlink()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    print(f"wrote {len(files)} files below {folder.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
