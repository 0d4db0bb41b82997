"""Values as people type them, on a command line or into a cell of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from deniable.errors import InvalidParameter
from deniable.protocol.domain import Domain
from deniable.protocol.profile_domain import Profile


def typed_mapping(text: str, names: Sequence[str]) -> dict[str, object]:
    """Read a JSON object with a member per field."""
    try:
        parts = json.loads(text)
    except ValueError:
        parts = None
    if not isinstance(parts, dict):
        raise InvalidParameter(
            f"The value must be a JSON object with the fields {', '.join(names)}."
        )
    return parts


def typed_value(domain: Domain, text: str) -> object:
    """Return the value of a domain that a text stands for.

    Raises:
        InvalidParameter: if it stands for none; without the text.
    """
    if domain.kind == "boolean":
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in words:
            raise InvalidParameter(f"A boolean is one of {', '.join(words)}.")
        return words[text.lower()]
    if domain.kind == "numbers":
        try:
            return float(text)
        except ValueError:
            raise InvalidParameter("The value must be a number.") from None
    if domain.kind == "set":
        return _names(text)
    if isinstance(domain, Profile):
        return typed_mapping(text, domain.names)
    return text


def _names(text: str) -> list[object]:
    """Read the names of a set: a JSON list, or names with commas or semicolons between them."""
    if not text.lstrip().startswith("["):
        return [name.strip() for name in re.split("[;,]", text) if name.strip()]
    try:
        names = json.loads(text)
    except ValueError:
        raise InvalidParameter("The value must be a JSON list of names, or a,b,c.") from None
    return list(names)
