"""Frozen values whose class costs next to nothing to make.

`dataclasses.dataclass` writes and compiles six functions for each class, most of a millisecond. A
client has some thirty such classes, and its start was mostly that: code for values that are rarely
compared and never shown. Here one function of each kind serves all classes.
"""

from __future__ import annotations

from dataclasses import Field, FrozenInstanceError, dataclass
from typing import Any, NoReturn, TypeVar, dataclass_transform

from deniable.protocol import declared
from deniable.protocol.declared import REQUIRED, Declared

T = TypeVar("T")


@dataclass_transform(
    frozen_default=True,
    field_specifiers=(
        declared.whole,
        declared.power_of_two,
        declared.threshold,
        declared.choice,
        declared.many,
        declared.encoded,
    ),
)
def frozen(cls: type[T]) -> type[T]:
    """Make a class one of immutable values, as `dataclass(frozen=True)` does.

    Its annotations are its fields, in order, after those of its bases; class attributes are their
    defaults; `__post_init__` runs at the end of construction. Values are equal if they are of one
    class and their fields are equal, and hash accordingly. What the class writes itself stays, and
    `dataclasses.replace` and `dataclasses.fields` work.

    Edge cases: `dataclasses.field` is not known here, and a default is one object for all values,
        so it must be immutable.
    """
    own = [n for n, kind in cls.__annotations__.items() if "ClassVar" not in str(kind)]
    names = tuple(dict.fromkeys((*getattr(cls, "__match_args__", ()), *own)))
    known = {name: _default(cls, name) for name in names}
    defaults = {name: value for name, value in known.items() if value is not REQUIRED}
    made: dict[str, object] = {
        "__init__": _constructor(names, defaults),
        "__repr__": _repr,
        "__eq__": _eq,
        "__hash__": _hash,
        "__setattr__": _setattr,
        "__delattr__": _delattr,
    }
    if "__eq__" in cls.__dict__:
        del made["__hash__"]
    for name, member in made.items():
        if cls.__dict__.get(name) is None:
            setattr(cls, name, member)
    for name, member in {"__match_args__": names, "__dataclass_fields__": _Fields()}.items():
        setattr(cls, name, member)
    return cls


def _default(cls: type, name: str) -> Any:
    """Return a field's default; what only describes it (a declaration, a slot) is none."""
    for base in cls.__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            if isinstance(found, Declared):
                return found.default
            return REQUIRED if hasattr(type(found), "__get__") else found
    return REQUIRED


def _constructor(names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    most = len(names)
    least = max((place + 1 for place, name in enumerate(names) if name not in defaults), default=0)
    tail = tuple(defaults.get(name) for name in names)

    def __init__(self: Any, *values: Any, **named: Any) -> None:  # noqa: N807
        # Straight into the instance's dictionary: `__setattr__` refuses, as it should.
        fields = self.__dict__
        given = len(values)
        if least <= given <= most and not named:
            # By place: for so few, half of what `update` and `zip` take.
            if given < most:
                values += tail[given:]
            for place, name in enumerate(names):
                fields[name] = values[place]
        else:
            _fill(self, names, defaults, values, named)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    return __init__


def _fill(
    self: Any,
    names: tuple[str, ...],
    defaults: dict[str, Any],
    values: tuple[Any, ...],
    named: dict[str, Any],
) -> None:
    """Take some values by place, some by name, and the rest from the defaults."""
    most = len(names)
    if len(values) > most:
        raise TypeError(f"{type(self).__name__} takes {most} values. Got {len(values)}.")
    fields = self.__dict__
    fields.update(defaults)
    fields.update(zip(names, values, strict=False))
    if named:
        _check_names(type(self), names, len(values), named)
        fields.update(named)
    if len(fields) != most:
        missing = ", ".join(name for name in names if name not in fields)
        raise TypeError(f"{type(self).__name__} needs values for: {missing}.")


def _check_names(cls: type, names: tuple[str, ...], placed: int, named: dict[str, Any]) -> None:
    allowed = names[placed:]
    for name in named:
        if name not in allowed:
            told = "twice" if name in names else "and has no such field"
            raise TypeError(f"{cls.__name__} was given '{name}' {told}.")


def _values(self: Any) -> tuple[Any, ...]:
    fields = self.__dict__
    return tuple(fields[name] for name in self.__match_args__)


def _repr(self: Any) -> str:
    told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({told})"


def _eq(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _setattr(self: Any, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


class _Fields:
    """The fields as `dataclasses` describes them, computed when somebody asks."""

    def __get__(self, value: object, cls: type) -> dict[str, Field[Any]]:
        names = dict.fromkeys(cls.__dict__["__match_args__"], "Any")
        twin: type[Any] = type("Twin", (), {"__annotations__": names})
        dataclass(init=False, repr=False, eq=False)(twin)
        found: dict[str, Field[Any]] = twin.__dict__["__dataclass_fields__"]
        return found
