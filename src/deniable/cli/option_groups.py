"""Options that several verbs share are declared once: the fields of a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def ungrouped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verb's function with every field of its groups as an option in the group's place.

    A group is a parameter, after `*`, whose type is a dataclass: its fields are annotated as
    options are, and their defaults are the options'.
    """
    signature = inspect.signature(function, eval_str=True)
    groups: dict[str, Any] = {
        name: one.annotation
        for name, one in signature.parameters.items()
        if is_dataclass(one.annotation)
    }

    @wraps(function)
    def command(**given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
        return function(**given)

    flat = [
        option
        for name, one in signature.parameters.items()
        for option in (_options(groups[name]) if name in groups else [one])
    ]
    vars(command)["__signature__"] = signature.replace(parameters=flat)
    command.__annotations__ = {one.name: one.annotation for one in flat}
    return command


def _options(group: Any) -> Iterator[inspect.Parameter]:
    """Yield the options of a group, in the order of its fields."""
    kinds = get_type_hints(group, include_extras=True)
    for one in fields(group):
        yield inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=one.default,
            annotation=kinds[one.name],
        )
