"""Published questions of oue, hadamard, subset, olh, of sets and of permanent reports."""

from __future__ import annotations

from typing import Any

from example_cohorts import part
from example_questions import COLOURS, SIZES, Case, krr, question, rappor

T = 2**64
SET = {"type": "set", "values": ["git", "vim", "ssh", "é"], "most": 2}
TEN = {"type": "categories", "values": [f"c{i}" for i in range(10)]}


def oue(answers: int, *stages: int, **members: int) -> dict[str, Any]:
    """Return published parameters; one stage of 1/2 and 1/4 unless said otherwise."""
    names = ("permanent_one", "permanent_zero", "report_one", "report_zero")
    usual = stages or (T, 0, 2**63, 2**62)
    return {"answers": answers, **dict(zip(names, map(str, usual), strict=True)), **members}


def hadamard(answers: int, keep: int = 3 * 2**62) -> dict[str, Any]:
    """Return published parameters."""
    return {"answers": answers, "keep": str(keep)}


def subset(answers: int, size: int, keep: int = 3 * 2**62) -> dict[str, Any]:
    """Return published parameters."""
    return {"answers": answers, "size": size, "keep": str(keep)}


def olh(symbols: int, seeds: int = 2**32, keep: int = 3 * 2**62) -> dict[str, Any]:
    """Return published parameters."""
    return {"symbols": symbols, "seeds": seeds, "keep": str(keep)}


TWO = (2**63, 2**60, 3 * 2**62, 2**62)
SHY = {"permanent_one": T, "permanent_zero": 0}


def oue_questions() -> list[Case]:
    """Questions and values for oue.json."""
    once = question("colour", part("oue", COLOURS, oue(5)), repeat="once")
    chain = question("chain", part("oue", TEN, oue(10, *TWO)), version=3)
    sizes = question("size", part("oue", SIZES, oue(6, *TWO)), send="always")
    yes = question("dark", part("oue", "boolean", oue(2)), repeat="once")
    return [
        *(("one stage", once, {"string": name}) for name in ("red", "é", "gru\u0308n")),
        *(("two stages", chain, {"string": f"c{code}"}) for code in (0, 9, 9)),
        ("bins", sizes, {"number": "10"}),
        ("absent is the last bit", sizes, {"absent": True}),
        *(("a boolean has two bits", yes, {"boolean": value}) for value in (False, True)),
    ]


def hadamard_questions() -> list[Case]:
    """Questions and values for hadamard.json."""
    ten = question("ten", part("hadamard", TEN, hadamard(10)), repeat="once")
    yes = question("yes", part("hadamard", "boolean", hadamard(2)), repeat="once")
    sizes = question("size", part("hadamard", SIZES, hadamard(6)), send="always")
    return [
        *(("ten answers of 16", ten, {"string": f"c{code}"}) for code in (0, 1, 5, 9, 9, 9)),
        ("a boolean", yes, {"boolean": True}),
        ("the largest size", sizes, {"integer": "7"}),
        ("absent is the last code", sizes, {"absent": True}),
    ]


def subset_questions() -> list[Case]:
    """Questions and values for subset.json."""
    ten = question("ten", part("subset", TEN, subset(10, 4)), repeat="once")
    yes = question("yes", part("subset", "boolean", subset(2, 1)), repeat="once")
    sizes = question("size", part("subset", SIZES, subset(6, 5, 15 * 2**60)), send="always")
    return [
        *(("four of ten", ten, {"string": f"c{code}"}) for code in (0, 4, 9, 9, 9, 9)),
        *(("one of two", yes, {"boolean": value}) for value in (False, True)),
        ("all but one, bins", sizes, {"number": "-1"}),
        ("absent is the last bit", sizes, {"absent": True}),
    ]


def olh_questions() -> list[Case]:
    """Questions and values for olh.json."""
    host = question("host", part("olh", "strings", olh(4)), repeat="once")
    wide = question("wide", part("olh", "strings", olh(65536, 2**32, 2**63)))
    pool = question("pool", part("olh", "strings", olh(3, 1000, 2**63)), send="always")
    ten = question("ten", part("olh", TEN, olh(5, 7)), send="always")
    return [
        *(("strings", host, {"string": f"example {i}"}) for i in range(5)),
        ("65,536 symbols", wide, {"string": "firefox"}),
        ("a pool of 1,000 seeds", pool, {"string": "cafe\u0301"}),
        ("absent, of strings", pool, {"absent": True}),
        ("a closed domain is hashed by its code", ten, {"string": "c7"}),
        ("absent, of a closed domain", ten, {"absent": True}),
    ]


def _names(*names: str) -> dict[str, Any]:
    return {"list": [{"string": name} for name in names]}


def set_questions() -> list[Case]:
    """Questions and values for sets.json."""
    once = question("tools", part("krr", SET, krr(5, T, 2**63)), repeat="once")
    chain = question("chain", part("krr", SET, krr(5, 2**63, 3 * 2**62)))
    always = question("seen", part("krr", SET, krr(6, T, 2**63)), send="always")
    basic = question("basic", part("rappor", SET, rappor("basic", 5, 1, 1)))
    sign = question("sign", part("hadamard", SET, hadamard(5)), repeat="once")
    hashed = question("hashed", part("olh", SET, olh(4)), repeat="once")
    bits = question("bits", part("oue", SET, oue(4, *TWO, members=2)))
    absent = question("absent", part("oue", SET, oue(5, *TWO, members=2)), send="always")
    each = question("each", part("rappor", SET, {**rappor("basic", 4, 1, 1), "members": 2}))
    texts = {"type": "set", "most": 3}
    bloom = question("names", part("rappor", texts, rappor("bloom", 128, 2, 16)))
    fresh = question("words", part("olh", texts, olh(4)), repeat="once")
    spelled = {**texts, "alphabet": "abc", "length": 2, "outside": "refuse"}
    cut = question("cut", part("olh", spelled, olh(4)), repeat="once", send="always")
    return [
        *(
            ("strings", asked, _names(*names))
            for asked in (bloom, fresh)
            for names in (
                (),
                ("git",),
                ("e\u0301", "git", "é"),
                ("a", "b", "c"),
                ("a", "b", "c", "d", "e"),
            )
        ),
        ("strings over an alphabet", cut, _names("abba", "abab", "c")),
        ("strings, absent", cut, {"absent": True}),
        *(("one sampled", once, _names(*names)) for names in ((), ("vim",), ("é", "git"))),
        ("the order does not matter", once, _names("git", "é")),
        ("a name that comes twice counts once", once, _names("e\u0301", "git", "é", "git")),
        *(("sampled for ever", chain, _names("vim", "ssh")) for _ in range(3)),
        ("sampled, may be absent", always, _names("git")),
        ("absent", always, {"absent": True}),
        ("sampled for ever, a bit per answer", basic, _names("git", "ssh")),
        ("sampled, a sign", sign, _names("git", "ssh")),
        ("sampled, hashed", hashed, _names("git", "ssh")),
        *(("a bit per name", bits, _names(*names)) for names in ((), ("vim",), ("é", "git"))),
        ("a bit per name, may be absent", absent, _names("é")),
        ("a bit per name, absent has the last one", absent, {"absent": True}),
        ("a bit per name, rappor", each, _names("é", "git")),
    ]


def permanent_questions() -> list[Case]:
    """Questions and values for permanent.json: the fresh draws are not used."""
    asked = {
        "krr": part("krr", TEN, krr(10, T, 2**63)),
        "rappor": part("rappor", "strings", rappor("bloom", 20, 2, 5, **SHY)),
        "oue": part("oue", TEN, oue(10)),
        "hadamard": part("hadamard", TEN, hadamard(10)),
        "subset": part("subset", TEN, subset(10, 3)),
        "olh": part("olh", TEN, olh(4)),
    }
    cases: list[Case] = []
    for name, field in asked.items():
        same = question(name, field, repeat="permanent")
        cases += [(name, same, {"string": value}) for value in ("c3", "c4")]
    tools = question("tools", part("krr", SET, krr(5, T, 2**63)), repeat="permanent")
    return [*cases, ("a set", tools, _names("vim", "ssh")), ("an empty set", tools, _names())]


def oracle_epsilons() -> list[tuple[str, dict[str, Any]]]:
    """Integers of which epsilon.json states the epsilon."""
    basic = rappor("basic", 10, 1, 1)
    return [
        ("oue", oue(5)),
        ("oue", oue(65537, *TWO)),
        *(("oue", oue(bits, *TWO, members=most)) for bits, most in ((4, 2), (3, 2), (2, 2))),
        *(("rappor", {**basic, "members": most}) for most in (1, 7, 10, 16)),
        ("hadamard", hadamard(2)),
        ("hadamard", hadamard(65537, T - 1)),
        ("subset", subset(10, 4)),
        ("subset", subset(65537, 20000)),
        ("olh", olh(2, 2, 2**63 + 1)),
        ("olh", olh(65536, 2**32, 2**63)),
    ]


Bad = tuple[str, str | dict[str, Any], str, dict[str, Any]]


def bad_oracle_parameters() -> dict[str, Bad]:
    """Parameters that a reader refuses: what about them, domain, mechanism, parameters."""
    return {
        "oue-strings": ("cannot be listed", "strings", "oue", oue(5)),
        "oue-wrong-bits": ("five names", COLOURS, "oue", oue(6)),
        "oue-says-nothing": ("1/2 and 1/2", COLOURS, "oue", oue(5, T, 0, 2**63, 2**63)),
        "oue-certain": ("a 1 would be certain", COLOURS, "oue", oue(5, T, 0, 2**63, 0)),
        "oue-one-bit": ("a boolean has two", "boolean", "oue", oue(1)),
        "oue-members-of-no-set": ("one name each", COLOURS, "oue", oue(5, members=2)),
        "oue-members-too-few": ("sets of two", SET, "oue", oue(4, members=1)),
        "oue-members-bit-for-none": ("no bit for none", SET, "oue", oue(5, members=2)),
        "oue-17-members": ("at most 16", SET, "oue", oue(4, members=17)),
        "rappor-members-of-no-set": (
            "one name each", COLOURS, "rappor", {**rappor("basic", 5, 1, 1), "members": 2}),
        "rappor-members-bloom": (
            "basic only", "strings", "rappor", {**rappor("bloom", 8, 1, 1), "members": 2}),
        "hadamard-strings": ("cannot be listed", "strings", "hadamard", hadamard(4)),
        "hadamard-wrong-answers": ("ten names", TEN, "hadamard", hadamard(16)),
        "hadamard-one-answer": ("a boolean has two", "boolean", "hadamard", hadamard(1)),
        "hadamard-too-many": ("2^17", TEN, "hadamard", hadamard(2**17)),
        "hadamard-uniform": ("says nothing", TEN, "hadamard", hadamard(10, 2**63)),
        "hadamard-truthful": ("no noise", TEN, "hadamard", hadamard(10, T)),
        "subset-strings": ("cannot be listed", "strings", "subset", subset(5, 2)),
        "subset-wrong-answers": ("ten names", TEN, "subset", subset(9, 2)),
        "subset-empty": ("none of them", TEN, "subset", subset(10, 0)),
        "subset-all": ("all of them", TEN, "subset", subset(10, 10)),
        "subset-uniform": ("4/10 of ten", TEN, "subset", subset(10, 5, 2**63)),
        "subset-truthful": ("always included", TEN, "subset", subset(10, 4, T)),
        "olh-one-symbol": ("says nothing", "strings", "olh", olh(1)),
        "olh-65537-symbols": ("u16", "strings", "olh", olh(65537)),
        "olh-one-seed": ("a pool has two", "strings", "olh", olh(4, 1)),
        "olh-too-many-seeds": ("u32", "strings", "olh", olh(4, 2**32 + 1)),
        "olh-uniform": ("1/4 of four", "strings", "olh", olh(4, 9, 2**62)),
        "olh-truthful": ("no noise", "strings", "olh", olh(4, 9, T)),
    }  # fmt: skip


def bad_oracle_records() -> dict[str, tuple[str, dict[str, Any], str]]:
    """Records that a collector refuses: what about them, question, record."""
    bits = question("q", part("oue", TEN, oue(10)))
    sign = question("q", part("hadamard", TEN, hadamard(10)))
    some = question("q", part("subset", TEN, subset(10, 4)))
    pool = question("q", part("olh", "strings", olh(4, 1000)))
    return {
        "oue-record-padding": ("bit 10 of 0..9", bits, "ff07"),
        "oue-record-short": ("one byte of two", bits, "ff"),
        "hadamard-record-coefficient": ("16 of 0..15", sign, "1000000000"),
        "hadamard-record-sign": ("neither 0 nor 1", sign, "0300000002"),
        "hadamard-record-long": ("six bytes for five", sign, "030000000100"),
        "subset-record-three": ("three of four bits", some, "0700"),
        "subset-record-five": ("five of four bits", some, "1f00"),
        "subset-record-padding": ("bit 10 of 0..9", some, "0704"),
        "olh-record-seed": ("seed 1,000 of 0..999", pool, "e80300000000"),
        "olh-record-symbol": ("symbol 4 of 0..3", pool, "000000000400"),
        "olh-record-short": ("five bytes of six", pool, "0000000000"),
    }


def bad_sets() -> dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]]:
    """Domains that a reader refuses, with parameters that would fit."""
    two = krr(5, T, 2**63)
    return {
        "set-most-zero": ("nothing to hold", {**SET, "most": 0}, "krr", two),
        "set-most-too-large": ("four names", {**SET, "most": 5}, "krr", two),
        "set-most-text": ("an integer", {**SET, "most": "2"}, "krr", two),
        "set-one-name": ("a boolean", {**SET, "values": ["git"], "most": 1}, "krr", two),
        "set-of-strings-most-zero": ("no place", {"type": "set", "most": 0}, "olh", olh(4)),
        "set-of-strings-no-length": (
            "missing", {"type": "set", "most": 2, "alphabet": "ab"}, "olh", olh(4)),
        "set-without-most": (
            "missing", {"type": "set", "values": SET["values"]}, "krr", two),
    }  # fmt: skip


def bad_set_answers() -> dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Values that are no sets of the domain: reason, what about them, question, value."""
    asked = question("tools", part("krr", SET, krr(5, T, 2**63)))
    texts = question("names", part("olh", {"type": "set", "most": 2}, olh(4)))
    return {
        "answer-set-too-many": ("too_many", "three of two", asked, _names("git", "vim", "ssh")),
        "answer-set-unknown": ("unknown_category", "emacs", asked, _names("git", "emacs")),
        "answer-set-text": ("type", "a name by itself", asked, {"string": "git"}),
        "answer-set-of-numbers": ("type", "a code", asked, {"list": [{"integer": "1"}]}),
        "answer-set-of-strings-text": ("type", "a text by itself", texts, {"string": "git"}),
        "answer-set-of-strings-numbers": ("type", "a number", texts, {"list": [{"integer": "1"}]}),
        "answer-set-of-strings-long": (
            "too_long",
            "a long one",
            texts,
            {"list": [{"repeat": ["a", 4097]}]},
        ),
        "answer-set-null": ("type", "null", asked, {"null": True}),
    }
