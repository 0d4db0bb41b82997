"""What may not be loaded where: authoring in a client, the checks for tests in a command."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

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
