"""Imports that may not be: authoring in a client, analysis in a light verb, test tools in any."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from deniable.cli.demo_survey import publish_demo
from material.imports import PACKAGE, modules, reached_from

COMMANDS = sorted(name for name in modules() if name.startswith("deniable.cli"))


def loaded_by(program: str) -> set[str]:
    """Return the modules of a fresh process after it has run a program."""
    program += "\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_the_client_loads_no_authoring() -> None:
    loaded = loaded_by("from deniable import Client")
    assert "deniable.client.client" in loaded
    assert not {name for name in loaded if name.startswith("deniable.authoring")}


def test_a_client_of_the_demo_is_light(tmp_path: Path) -> None:
    publish_demo(tmp_path)
    opened = f"Client({str(tmp_path / 'survey.json')!r}, {str(tmp_path / 'state')!r}).close()"
    loaded = loaded_by(f"from deniable import Client\n{opened}")
    assert 40 < sum(name.partition(".")[0] == "deniable" for name in loaded) <= 60


ENCODES = """
from deniable.client.encode import encode_drawn
from deniable.client.randomness import SystemDraws
from deniable.protocol import Boolean, Field, KRRParameters
draws, domain = SystemDraws(), Boolean()
field = Field("value", domain, KRRParameters(2, 2**64, 3 * 2**62))
encode_drawn(field, domain.answer(True), draws, draws, draws)
"""


def test_no_client_loads_a_channel() -> None:
    loaded = loaded_by(ENCODES)
    assert "deniable.client.encoders.krr" in loaded
    assert "deniable.protocol.channel" not in loaded
    assert "deniable.protocol.channel" in loaded_by(ENCODES + "field.parameters.channel")


def test_authoring_would_be_seen_among_what_is_loaded() -> None:
    assert "deniable.authoring.auto" in loaded_by("from deniable.authoring import read_authored")


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_imports_what_is_shipped_for_tests(name: str) -> None:
    assert not {found for found in reached_from(name) if found.startswith("deniable.testing")}


HEAVY = {"numpy", "scipy", "starlette", "deniable.mechanisms", "deniable.results", "deniable.store"}


@pytest.mark.parametrize("verb", ["check", "encode", "init", "js", "paper", "publish"])
def test_a_light_verb_imports_no_analysis_and_no_service(verb: str) -> None:
    assert not loaded_by(f"import deniable.cli.{verb}") & HEAVY


def test_a_verb_that_estimates_imports_no_service() -> None:
    assert loaded_by("import deniable.cli.estimate") & HEAVY == HEAVY - {"starlette"}


def test_nothing_that_a_command_runs_imports_scipy_stats() -> None:
    """It takes half a second to import; `deniable._distributions` has what is needed of it."""
    users = {
        file.relative_to(PACKAGE).parts[0]
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if (isinstance(node, ast.ImportFrom) and node.module == "scipy.stats")
        or (
            isinstance(node, ast.ImportFrom | ast.Import)
            and _named(node) & {"stats", "scipy.stats"}
        )
    }
    assert users == {"testing"}


def _named(node: ast.ImportFrom | ast.Import) -> set[str]:
    return {alias.name for alias in node.names}


def test_an_import_through_others_would_be_seen() -> None:
    assert "deniable.audit.hypotheses" in reached_from("deniable.testing.contract")


def calls(path: str) -> set[str]:
    """Return the names of the methods that the files below a folder call."""
    return {
        node.func.attr
        for file in (PACKAGE / path).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


def test_no_client_turns_what_people_wrote_into_integers() -> None:
    assert "resolve" not in calls("client")
    assert "resolve" in calls("authoring")
