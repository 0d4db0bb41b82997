"""The one registry of mechanisms: what a survey may name, and everything that a mechanism is.

    register("krr", parameters=..., encoder=..., population=..., authoring=...)

Ours register as a stranger's do (protocol/built_in.py). A part may be the thing itself or text,
"module:name", which is imported when the part is first asked for: so a client loads the parameters
and the encoder of the mechanisms that its survey names, and nothing else.

Packages name a function that registers in the entry-point group `deniable.mechanisms`; it is called
when a survey names a mechanism that is not known yet. `load_plugin` runs a file that registers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from deniable.errors import DeniableError, InvalidParameter
from deniable.protocol.built_in import FOUND, PROFILES, SINGLE
from deniable.protocol.declared import Declared
from deniable.protocol.lazy import look_up
from deniable.protocol.parameters import Parameters

ENTRY_POINTS = "deniable.mechanisms"
PARTS = {
    "parameters": "the class of its published integers, a subclass of deniable.protocol.Parameters",
    "encoder": "the class that makes records on a device, with a method 'encode'",
    "population": "the class for whole populations, a subclass of deniable.mechanisms.Mechanism",
    "authoring": "deniable.authoring.Authoring, what people write and how integers are made of it",
}
"""The parts of a mechanism, each with what it must be."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_RESERVED = ("auto",)
_parts: dict[str, dict[str, Any]] = {}
_searched: list[bool] = []

PLUGINS: dict[Path, tuple[str, ...]] = {}
"""The files that were loaded, each with the names of its mechanisms."""

PROFILE_MECHANISMS: list[str] = []
"""The mechanisms of profiles: they report many attributes at once, and nothing else."""


def register(
    name: str,
    *,
    parameters: Any = None,
    encoder: Any = None,
    population: Any = None,
    authoring: Any = None,
    profile: bool = False,
) -> None:
    """Make a mechanism known under the name that surveys write.

    Args:
        name: lower-case letters, digits and '_'.
        parameters: the class of its published integers; as every part, or "module:name".
        encoder: the class that makes records on a device.
        population: the class for whole populations.
        authoring: what people write, and how integers are made of it.
        profile: whether a report is about many attributes at once.

    Raises:
        InvalidParameter: if the name is taken or cannot be one, or a part is missing or incomplete;
            the sentence names it. Parts given as text are checked when they are first asked for.
    """
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise InvalidParameter(
            f"A mechanism cannot have the name {name!r:.40}.",
            f"Use a name that matches {_NAME.pattern} and is not 'auto'.",
        )
    if name in _parts:
        raise InvalidParameter(
            f"There is a mechanism '{name}' already.", "Register yours under another name."
        )
    given = dict(zip(PARTS, (parameters, encoder, population, authoring), strict=True))
    for kind, part in given.items():
        if part is None:
            raise InvalidParameter(f"The mechanism '{name}' has no {kind}.", f"Add {PARTS[kind]}.")
        if not isinstance(part, str):
            _check(name, kind, part)
    _parts[name] = given
    if profile:
        PROFILE_MECHANISMS.append(name)


def part(name: str, kind: str) -> Any:
    """Return one part of a mechanism, imported if it was not yet.

    Raises:
        InvalidParameter: if there is no mechanism of that name, or the part is incomplete.
    """
    if name not in MECHANISMS:
        raise InvalidParameter(
            f"There is no mechanism '{name:.40}'. Use one of: {', '.join(MECHANISMS)}.",
            "Upgrade deniable, or load the file or package that has the mechanism.",
        )
    found = _parts[name][kind]
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        found = look_up(module, attribute)
        _check(name, kind, found)
        _parts[name][kind] = found
    return found


def load_plugin(path: str | PathLike[str]) -> tuple[str, ...]:
    """Run a file that registers mechanisms, once in a process, and return their names.

    Raises:
        InvalidParameter: if there is no such file, it cannot be run, or it registers nothing.
    """
    from importlib.util import module_from_spec, spec_from_file_location

    before, file = set(_parts), Path(path).resolve()
    if file in PLUGINS:
        return PLUGINS[file]
    name = f"deniable_plugin_{file.stem}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise InvalidParameter(f"There is no Python file {str(path)!r:.80}.", "Check its name.")
    # By this name its classes go to other processes, which load the file first.
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except DeniableError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise InvalidParameter(f"The file {str(path)!r:.80} cannot be run: {what}.") from error
    found = tuple(name for name in _parts if name not in before)
    if not found:
        raise InvalidParameter(
            f"The file {str(path)!r:.80} registers no mechanism.",
            "Call deniable.protocol.register in it.",
        )
    PLUGINS[file] = found
    return found


class Mechanisms(Mapping[str, type[Parameters]]):
    """The parameters' class of each mechanism, by its name in a survey, in a fixed order."""

    def __getitem__(self, name: str) -> type[Parameters]:
        if name not in self:
            raise KeyError(name)
        found: type[Parameters] = part(name, "parameters")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_parts)

    def __len__(self) -> int:
        return len(_parts)

    def __contains__(self, name: object) -> bool:
        if name not in _parts and not _searched:
            _search()
        return name in _parts


MECHANISMS = Mechanisms()


def _search() -> None:
    """Call the functions that installed packages name, once."""
    from importlib.metadata import entry_points

    _searched.append(True)
    for entry in entry_points(group=ENTRY_POINTS):
        entry.load()()


def _check(name: str, kind: str, part: Any) -> None:
    """Raise InvalidParameter, naming what is missing, unless a part is complete."""
    for missing in _missing(name, kind, part):
        raise InvalidParameter(
            f"The {kind} of the mechanism '{name}' {missing}.", f"It must be {PARTS[kind]}."
        )


def _missing(name: str, kind: str, part: Any) -> Iterator[str]:
    wanted = ("keys", "resolve") if kind == "authoring" else ()
    yield from (f"has no '{each}'" for each in wanted if not hasattr(part, each))
    if kind == "authoring":
        return
    if not isinstance(part, type) or (kind == "parameters" and not issubclass(part, Parameters)):
        yield "is not such a class"
        return
    yield from (f"lacks '{each}'" for each in sorted(getattr(part, "__abstractmethods__", ())))
    if kind == "encoder" and not hasattr(part, "encode"):
        yield "lacks 'encode'"
    if kind == "parameters":
        if getattr(part, "mechanism", None) != name:
            yield f"must say mechanism = '{name}'"
        members = getattr(part, "__match_args__", ())
        if not members:
            yield "must be @frozen, with a declared member at least"
        undeclared = [n for n in members if not isinstance(getattr(part, n, None), Declared)]
        yield from (f"does not declare the member '{each}'" for each in undeclared)


for _name, _stem in {**SINGLE, **PROFILES, **FOUND}.items():
    register(
        _name,
        parameters=f"deniable.protocol.{_name}:{_stem}Parameters",
        encoder=f"deniable.client.encoders.{_name}:{_stem}Encoder",
        population=f"deniable.mechanisms.{_name}:{_stem}",
        authoring=f"deniable.authoring.mechanisms.{_name}:AUTHORING",
        profile=_name in PROFILES,
    )
