"""The registry: ours and a stranger's, by one door, and sentences that name what is missing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from deniable.errors import InvalidParameter
from deniable.protocol import MECHANISMS, KRRParameters, load_plugin, register, registry
from deniable.protocol.declared import threshold
from deniable.protocol.frozen import frozen

PLUGIN = """
from typing import ClassVar

from deniable.protocol import KRRParameters, register
from deniable.protocol.frozen import frozen
from deniable.protocol.registry import part


@frozen
class Mine(KRRParameters):
    mechanism: ClassVar[str] = "mine"


def main() -> None:
    others = {kind: part("krr", kind) for kind in ("encoder", "population", "authoring")}
    register("mine", parameters=Mine, **others)


main()
"""


@frozen
class Mine(KRRParameters):
    """k-RR under another name."""

    mechanism: ClassVar[str] = "mine"


def parts(**changes: Any) -> dict[str, Any]:
    usual = {kind: registry.part("krr", kind) for kind in registry.PARTS}
    return {**usual, "parameters": Mine, **changes}


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    before = {name: dict(parts) for name, parts in registry._parts.items()}
    yield
    registry.PLUGINS.clear()
    registry._parts.clear()
    registry._parts.update(before)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("kind", registry.PARTS)
def test_every_part_of_ours_is_there_and_complete(name: str, kind: str) -> None:
    assert registry.part(name, kind) is registry.part(name, kind)


def test_a_stranger_s_mechanism_is_known_by_its_name() -> None:
    assert "mine" not in MECHANISMS
    register("mine", **parts())
    assert MECHANISMS["mine"] is Mine
    assert list(MECHANISMS)[-1] == "mine"


@pytest.mark.parametrize("name", ["krr", "auto", "Mine", "", "a" * 33])
def test_a_name_that_is_taken_or_none_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match=r"already|cannot have the name"):
        register(name, **parts())


@pytest.mark.parametrize("kind", registry.PARTS)
def test_a_missing_part_is_named(kind: str) -> None:
    with pytest.raises(InvalidParameter, match=f"has no {kind}"):
        register("mine", **parts(**{kind: None}))
    assert "mine" not in MECHANISMS


@frozen
class NoEpsilon(KRRParameters):
    """Lacks a property."""

    mechanism: ClassVar[str] = "mine"

    @property
    @abstractmethod
    def epsilon_once(self) -> int:
        """The epsilon of one report."""


@frozen
class Undeclared(KRRParameters):
    """Has a member without a declaration."""

    other: int = 5
    mechanism: ClassVar[str] = "mine"
    more: int = threshold()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"parameters": KRRParameters}, "must say mechanism = 'mine'"),
        ({"parameters": int}, "is not such a class"),
        ({"parameters": NoEpsilon}, "lacks 'epsilon_once'"),
        ({"parameters": Undeclared}, "does not declare the member 'other'"),
        ({"encoder": int}, "lacks 'encode'"),
        ({"encoder": 5}, "is not such a class"),
        ({"authoring": 5}, "has no 'keys'"),
    ],
)
def test_an_incomplete_part_is_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        register("mine", **parts(**changes))
    assert "mine" not in MECHANISMS


def test_a_part_given_as_text_is_checked_when_it_is_asked_for() -> None:
    register("mine", **parts(parameters="deniable.protocol.krr:KRRParameters"))
    with pytest.raises(InvalidParameter, match="must say mechanism"):
        registry.part("mine", "parameters")


def test_a_file_registers(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PLUGIN)
    assert load_plugin(file) == ("mine",)
    assert issubclass(MECHANISMS["mine"], KRRParameters)
    assert load_plugin(file) == ("mine",)  # it is run once
    other = tmp_path / "other.py"
    other.write_text(PLUGIN)
    with pytest.raises(InvalidParameter, match="'mine' already"):
        load_plugin(other)


def test_a_file_that_registers_nothing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.py"
    file.write_text("")
    with pytest.raises(InvalidParameter, match="registers no mechanism"):
        load_plugin(file)
    file.write_text("import nothing_of_this_name")
    with pytest.raises(InvalidParameter, match=r"cannot be run: ModuleNotFoundError: .*this_name"):
        load_plugin(file)
    with pytest.raises(InvalidParameter, match="no Python file"):
        load_plugin(tmp_path / "gone.py")


def test_a_package_s_entry_point_is_called_when_a_name_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of a package that was installed, in a folder of Python's path."""
    module = PLUGIN.replace("\nmain()\n", "")
    (tmp_path / "package_of_yours.py").write_text(module)
    about = tmp_path / "package_of_yours-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: package-of-yours\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        f"[{registry.ENTRY_POINTS}]\nmine = package_of_yours:main\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_searched", [])
    assert "krr" in MECHANISMS
    assert not registry._searched
    assert MECHANISMS["mine"].__module__ == "package_of_yours"
    assert registry._searched == [True]
