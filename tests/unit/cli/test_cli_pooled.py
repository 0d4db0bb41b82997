"""Levels and versions of every kind of question under every verb: pooled, or an error that says so.

The grid is walked whole: no verb may answer for one level or version where several were asked
about, without a word.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from material.commands import call, run

SCHEMA = json.loads((Path(__file__).parents[3] / "spec/schemas/table.json").read_text())
HEAD = """
name = "Levels"
owner = "us"
people = 1_000_000
[[segments]]
name = "arm"
values = ["old", "new"]
"""
THREE = '{ type = "categories", values = ["a", "b", "c"] }'
BINS = '{ type = "numbers", low = 1, high = 256, bins = 4, scale = "log" }'
STRINGS = '{ type = "strings", candidates = "names.txt" }'
SET = '{ type = "set", values = ["x", "y", "z"], most = 2 }'
STRING_SET = '{ type = "set", candidates = "names.txt", most = 2 }'
LETTERS = '{ type = "strings", alphabet = "ghimstv", length = 3 }'
FIELDS = {"dark": '"boolean"', "colour": THREE}
CLOSED = {
    "yes": ("krr", '"boolean"'),
    "three-krr": ("krr", THREE),
    "three-oue": ("oue", THREE),
    "three-olh": ("olh", THREE),
    "three-subset": ("subset", THREE),
    "three-hadamard": ("hadamard", THREE),
    "three-pgr": ("pgr", THREE),
    "three-orr": ("orr", THREE),
    "three-hcms": ("hcms", THREE),
    "numbers": ("krr", BINS),
    "numbers-oue": ("oue", BINS),
    "set-krr": ("krr", SET),
    "set-rappor": ("rappor", SET),
    "set-oue": ("oue", SET),
}
OPEN = {
    "strings-rappor": ("rappor", STRINGS),
    "strings-pgr": ("pgr", STRINGS),
    "strings-hcms": ("hcms", STRINGS),
    "strings-olh": ("olh", STRINGS),
    "string-set": ("olh", STRING_SET),
}
FOUND = {"prefixes": ("prefixes", LETTERS)}
LISTED = {**CLOSED, **OPEN}
SEVERAL = ("two-fields",)
PROFILES = ("profile-marg_ps", "profile-inp_ht")
KINDS = (*LISTED, *FOUND, *SEVERAL, *PROFILES)
NUMBERS = ("numbers", "numbers-oue")
WALKED = (
    "yes",
    "numbers",
    "set-rappor",
    "strings-olh",
    "string-set",
    *FOUND,
    *SEVERAL,
    "profile-marg_ps",
)
"""One mechanism of every kind, under which every verb is walked."""
OTHERS = tuple(kind for kind in KINDS if kind not in WALKED)
PEOPLE = 1_000
"""Reports of a level of a version."""
VERBS = {
    "estimate": ("estimate",),
    "by epoch": ("estimate", "--by", "epoch"),
    "by arm": ("estimate", "--by", "arm"),
    "numbers": ("estimate", "--numbers"),
    "numbers by": ("estimate", "--numbers", "--by", "epoch"),
    "cumulative": ("estimate", "--cumulative"),
    "crafted": ("estimate", "--crafted", "0.01"),
    "reporters": ("estimate", "--of", "reporters"),
    "exact": ("estimate", "--interval", "exact"),
    "lasso": ("estimate", "--decoder", "lasso"),
    "compare": ("compare", "--by", "arm"),
    "associate": ("associate",),
    "crafted association": ("associate", "--crafted", "0.01"),
    "marginals": ("marginals", "--order", "2"),
    "marginals by": ("marginals", "--by", "epoch"),
    "pairs": ("marginals", "--pairs"),
    "tree": ("marginals", "--tree"),
    "sample": ("marginals", "--sample", "5"),
    "crafted tables": ("marginals", "--crafted", "0.01"),
    "discover": ("discover",),
    "count": ("count",),
    "count to a file": ("count", "-o", "one.counts"),
    "export": ("export", "-o", "one.ndjson"),
}
POOLED = {
    "estimate": (*LISTED, *SEVERAL, *PROFILES),
    "by epoch": (*LISTED, *SEVERAL, *PROFILES),
    "by arm": (*LISTED, *SEVERAL, *PROFILES),
    "numbers": NUMBERS,
    "numbers by": NUMBERS,
    "cumulative": NUMBERS,
    "crafted": (*LISTED, *SEVERAL, *PROFILES),
    "reporters": (*LISTED, *SEVERAL, *PROFILES),
    "compare": (*LISTED, *SEVERAL, *PROFILES),
    "associate": SEVERAL,
    "marginals": PROFILES,
    "marginals by": PROFILES,
    "pairs": PROFILES,
    "tree": PROFILES,
    "sample": PROFILES,
    "count": KINDS,
}
"""The kinds of questions whose levels and versions a verb pools; it refuses all others by name."""
REFUSALS = (
    "ame one",
    "has no numbers",
    "is not about many attributes",
    "has no strings to discover",
    "one field",
    "a profile of attributes",
    "needs candidates",
)


def _question(name: str, version: int, epsilon: float) -> str:
    if name in SEVERAL:
        body = "".join(
            f'[[questions.fields]]\nname = "{field}"\ndomain = {domain}\nmechanism = "krr"\n'
            for field, domain in FIELDS.items()
        )
        how = ""
    elif name in PROFILES:
        body = "".join(
            f'[[questions.fields]]\nname = "{field}"\ndomain = "boolean"\n' for field in "xyz"
        )
        how = f'mechanism = "{name.partition("-")[2]}"\nparameters = {{ order = 2 }}\n'
    else:
        mechanism, domain = {**LISTED, **FOUND}[name]
        how, body = f'domain = {domain}\nmechanism = "{mechanism}"\n', ""
    levels = "".join(
        f'[[questions.levels]]\nname = "{level}"\nepsilon = {epsilon * times}\nshare = 0.5\n'
        for level, times in (("strict", 1.0), ("open", 2.0))
    )
    return (
        f'[[questions]]\nid = "{name}"\nversion = {version}\ndescription = "d"\n'
        f'expires = 2099-01-01\nrepeat = "epoch"\nsegments = ["arm"]\n{how}{levels}{body}'
    )


def _simulated(folder: Path, kinds: Sequence[str], versions: int) -> Path:
    """Publish versions of questions with two levels each, and simulate two epochs of each."""
    (folder / "names.txt").write_text("git\nvim\nssh\n")
    for version in range(1, versions + 1):
        text = HEAD + "".join(_question(name, version, 1.0 + version) for name in kinds)
        (folder / "survey.toml").write_text(text)
        call("publish", folder / "survey.toml", "--output", folder / "survey.json")
        crowd = ("--people", PEOPLE, "--epochs", 2, "--seed", version)
        place = ("--survey", folder / "survey.json", "--data", folder / "crowd")
        call("simulate", *kinds, *crowd, *place, "--candidates", folder / "names.txt")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _simulated(tmp_path_factory.mktemp("kinds"), WALKED, 2)


@pytest.fixture(scope="module")
def mechanisms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _simulated(tmp_path_factory.mktemp("mechanisms"), OTHERS, 1)


def _asked(folder: Path, verb: str, kind: str, *more: str) -> Any:
    name, *rest = VERBS[verb]
    words = [name, kind, *(folder / w if w.startswith("one.") else w for w in rest), *more]
    return run(*words, "--survey", folder / "survey.json", "--data", folder / "crowd", "--json")


@pytest.mark.parametrize("kind", WALKED)
def test_every_verb_pools_versions_and_levels_or_says_why_not(folder: Path, kind: str) -> None:
    for verb in VERBS:
        _walk(folder, verb, kind, 4, "--version", "all")


@pytest.mark.parametrize("kind", OTHERS)
def test_levels_of_every_mechanism_are_pooled(mechanisms: Path, kind: str) -> None:
    _walk(mechanisms, "crafted", kind, 2)


def _walk(folder: Path, verb: str, kind: str, parts: int, *more: str) -> None:
    result = _asked(folder, verb, kind, *more)
    told = f"{verb} {kind}: {result.output} {result.exception!r}"
    if kind not in POOLED.get(verb, ()):
        assert result.exit_code != 0, told
        assert any(one in f"{result.output} {result.exception}" for one in REFUSALS), told
        return
    assert result.exit_code == 0, told
    found = json.loads(result.stdout)
    if verb == "count":
        assert len(found["parts"]) == parts, told
        return
    by_field = found.get("fields")
    for table in by_field.values() if isinstance(by_field, dict) else [found]:
        jsonschema.validate(table, SCHEMA)
        assert any("are pooled" in note for note in table["notes"]), told
        assert table["n"] == PEOPLE * parts, told
