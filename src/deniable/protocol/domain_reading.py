"""Reading a domain of survey.json, refusing anything that `published` would not write."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise

from deniable.errors import InvalidParameter
from deniable.protocol.domain import (
    ESCAPE,
    MAX_ALPHABET,
    MAX_CATEGORIES,
    MAX_LENGTH,
    MAX_NAMES,
    MAX_STRING_BYTES,
    OUTSIDE,
    Boolean,
    Categories,
    Domain,
    Numbers,
    Sets,
    Strings,
    StringSets,
    is_alphabet,
)
from deniable.protocol.profile_domain import (
    CLOSED_KINDS,
    MAX_ATTRIBUTES,
    MIN_ATTRIBUTES,
    UNKNOWN,
    Attribute,
    Perhaps,
    Profile,
)
from deniable.protocol.question import FIELD_NAME

_DECIMAL = re.compile(r"(?=.{1,32}\Z)-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?")
"""An edge: a JSON number of at most 32 characters, its exponent marked by a small e."""


def domain_from_published(data: object) -> Domain:
    """Read a domain of survey.json.

    Raises:
        InvalidParameter: if it is not as a domain's `published` writes it.
    """
    if not isinstance(data, Mapping):
        raise InvalidParameter("A domain must be an object.")
    kind, keys = data.get("type"), set(data)
    if kind == "boolean" and keys == {"type"}:
        return Boolean()
    if kind == "strings" and keys == {"type"}:
        return Strings()
    if kind == "strings" and keys == {"type", "alphabet", "length", "outside"}:
        return _strings(data["alphabet"], data["length"], data["outside"])
    if kind == "categories" and keys == {"type", "values"}:
        return Categories(_category_names(data["values"]))
    if kind == "numbers" and keys == {"type", "edges"}:
        return Numbers(_edges(data["edges"]))
    if kind == "set" and keys == {"type", "values", "most"}:
        names = _category_names(data["values"], MAX_NAMES)
        return Sets(names, _most(data["most"], len(names)))
    if kind == "set" and "values" not in keys and "most" in keys:
        shape = {name: data[name] for name in keys - {"most"}}
        strings = domain_from_published({**shape, "type": "strings"})
        if isinstance(strings, Strings):
            most = _most(data["most"], MAX_NAMES)
            return StringSets(strings.alphabet, strings.length, strings.outside, most)
    if kind == "profile" and keys == {"type", "attributes"}:
        return Profile(_attributes(data["attributes"]))
    raise InvalidParameter(
        "A domain must be boolean, strings (or these with alphabet, length and outside), "
        "categories with values, numbers with edges, set with values and most (or with most and "
        "what strings have), or profile with attributes."
    )


def is_category_name(name: str) -> bool:
    """Tell whether a category may have this name: NFC, and 1 to 4,096 bytes of UTF-8."""
    if not 1 <= len(name) <= MAX_STRING_BYTES or not unicodedata.is_normalized("NFC", name):
        return False
    try:
        return len(name.encode("utf-8")) <= MAX_STRING_BYTES
    except UnicodeEncodeError:
        return False


def _category_names(values: object, most: int = MAX_CATEGORIES) -> tuple[str, ...]:
    if not isinstance(values, list) or not 2 <= len(values) <= most:
        raise InvalidParameter(f"Categories must be a list of 2 to {most:,} names.")
    if not all(isinstance(v, str) and is_category_name(v) for v in values):
        raise InvalidParameter(
            f"Category names must be strings in NFC, of 1 to {MAX_STRING_BYTES:,} UTF-8 bytes."
        )
    if len(set(values)) != len(values):
        raise InvalidParameter("Category names must differ.")
    return tuple(values)


def _strings(alphabet: object, length: object, outside: object) -> Strings:
    if not isinstance(alphabet, str) or not is_alphabet(alphabet):
        raise InvalidParameter(
            f"A domain's alphabet must hold 2 to {MAX_ALPHABET:,} rising characters, each in NFC."
        )
    if type(length) is not int or not 1 <= length <= MAX_LENGTH:
        raise InvalidParameter(f"A domain's 'length' must be an integer from 1 to {MAX_LENGTH}.")
    if not isinstance(outside, str) or outside not in OUTSIDE:
        raise InvalidParameter(f"A domain's 'outside' must be one of {', '.join(OUTSIDE)}.")
    if outside == "escape" and ESCAPE in alphabet:
        raise InvalidParameter("A domain's alphabet must not hold U+FFFD, the escape.")
    return Strings(alphabet, length, outside)


def _most(most: object, names: int) -> int:
    if type(most) is not int or not 1 <= most <= names:
        raise InvalidParameter(f"A domain's 'most' must be an integer from 1 to {names}.")
    return most


def _edges(edges: object) -> tuple[str, ...]:
    if not isinstance(edges, list) or not 1 <= len(edges) < MAX_CATEGORIES:
        raise InvalidParameter(f"Edges must be a list of 1 to {MAX_CATEGORIES - 1:,} numbers.")
    # A grammar, because float() also reads "1_0", " 1" and the digits of other scripts.
    if not all(isinstance(edge, str) and _DECIMAL.fullmatch(edge) for edge in edges):
        raise InvalidParameter("Edges must be decimal strings of at most 32 characters.")
    bounds = [float(edge) for edge in edges]
    rising = all(low < high for low, high in pairwise(bounds))
    if not rising or not all(map(math.isfinite, bounds)):
        raise InvalidParameter("Edges must be finite numbers that rise strictly.")
    return tuple(edges)


def _attributes(listed: object) -> tuple[Attribute, ...]:
    if not isinstance(listed, list) or not MIN_ATTRIBUTES <= len(listed) <= MAX_ATTRIBUTES:
        raise InvalidParameter(
            f"A domain's 'attributes' must be a list of {MIN_ATTRIBUTES} to {MAX_ATTRIBUTES}."
        )
    read = tuple(_attribute(entry) for entry in listed)
    if len({attribute.name for attribute in read}) < len(read):
        raise InvalidParameter("A domain's attributes must have different names.")
    return read


def _attribute(entry: object) -> Attribute:
    if not isinstance(entry, Mapping) or set(entry) - {"unknown"} != {"name", "domain"}:
        raise InvalidParameter(
            "A domain's attribute must be an object with a name, a domain and perhaps 'unknown'."
        )
    name, domain = entry["name"], entry["domain"]
    if not (isinstance(name, str) and FIELD_NAME.fullmatch(name)):
        raise InvalidParameter(f"A domain's attribute name must match {FIELD_NAME.pattern}.")
    if isinstance(domain, Mapping) and domain.get("type") not in {k.kind for k in CLOSED_KINDS}:
        raise InvalidParameter(
            "A domain of an attribute must be boolean, categories or numbers: closed, one answer."
        )
    known = domain_from_published(domain)
    if "unknown" not in entry:
        return Attribute(name, known)
    if entry["unknown"] != 1:
        raise InvalidParameter("A domain's attribute has 1 as 'unknown', or leaves it out.")
    if UNKNOWN in known.labels:
        raise InvalidParameter(f"A domain with 'unknown' must not have the category {UNKNOWN}.")
    return Attribute(name, Perhaps(known))
