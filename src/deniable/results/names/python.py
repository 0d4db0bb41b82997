"""A typed Python module of a survey: a method for each question, which takes its values alone."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping

from deniable.errors import InvalidParameter
from deniable.protocol import (
    Boolean,
    Categories,
    Domain,
    Numbers,
    Profile,
    Question,
    Sets,
    Strings,
    StringSets,
    Survey,
)
from deniable.protocol.profile_domain import Perhaps

_HEAD = '''"""The questions of the survey {name}, typed. `deniable names` wrote this file."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from deniable import Client
{types}

class Questions:
    """The questions, a method each; a misspelt one does not compile.

    Example: questions = Questions(client); questions.{example}
    """

    def __init__(self, client: Client) -> None:
        self._client = client
'''
_METHOD = '''
    def {method}(self, value: {type}, *, wait: bool = False) -> bool | None:
        """{about}"""
        return self._client.record({id!r}, value, wait=wait)
'''


def python_module(survey: Survey) -> str:
    """Return the module's text.

    Raises:
        InvalidParameter: if two questions would have methods of one name.
    """
    questions = {question.id: question for question in survey.asked}
    methods = identifiers(questions)
    types, bodies = [], []
    for name, question in questions.items():
        kind = _type(question, methods[name])
        types += kind.declared
        about = re.sub(r"\s+", " ", question.description).replace("\\", "/").replace('"', "'")
        bodies.append(
            _METHOD.format(method=methods[name], type=kind.used, about=f"{about:.80}", id=name)
        )
    declared = "".join(f"\n{one}\n" for one in types)
    example = f"{next(iter(methods.values()), 'question')}(value)"
    title = survey.name.replace("\\", "/").replace('"', "'")
    return _HEAD.format(name=title, types=declared, example=example) + "".join(bodies)


def identifiers(names: Mapping[str, object]) -> dict[str, str]:
    """Return a name in code for each id.

    Raises:
        InvalidParameter: if two of them would be the same.
    """
    found = {name: identifier(name) for name in names}
    if len(set(found.values())) < len(found):
        twice = next(n for n in found.values() if list(found.values()).count(n) > 1)
        raise InvalidParameter(
            f"Two questions would both be called {twice!r} in code.", "Rename one of them."
        )
    return found


def identifier(name: str) -> str:
    """Return a question's id as a name in code: "dark-mode" is dark_mode."""
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_" if keyword.iskeyword(plain) else plain


class _Type:
    """A type as a method names it, and the declarations that it needs."""

    def __init__(self, used: str, *declared: str) -> None:
        self.used, self.declared = used, list(declared)


def _type(question: Question, method: str) -> _Type:
    first = question.fields[0].domain
    if question.plain and not isinstance(first, Profile):
        return _Type(_annotation(first))
    name = "".join(part.capitalize() for part in method.split("_")) + "Values"
    parts = "".join(f"        {part!r}: {kind},\n" for part, kind in _parts(question))
    # By a call: a field may be named like a word of the language.
    return _Type(name, f"{name} = TypedDict(\n    {name!r},\n    {{\n{parts}    }},\n)")


def _parts(question: Question) -> Iterator[tuple[str, str]]:
    """Yield the members of a value with several: fields, or the attributes of a profile."""
    for field in question.fields:
        if isinstance(field.domain, Profile):
            for name, domain in field.domain.attributes:
                perhaps = isinstance(domain, Perhaps)
                known = domain.known if isinstance(domain, Perhaps) else domain
                yield name, f"NotRequired[{_annotation(known)}]" if perhaps else _annotation(known)
        else:
            kind = _annotation(field.domain)
            yield field.name, f"NotRequired[{kind}]" if question.absent else kind


def _annotation(domain: Domain) -> str:
    """Return the type of a domain's values.

    Raises:
        InvalidParameter: if the kind of domain is not known here.
    """
    if isinstance(domain, Boolean):
        return "bool"
    if isinstance(domain, Numbers):
        return "float"
    if isinstance(domain, Categories):
        return _literal(domain.values)
    if isinstance(domain, Sets):
        return _collection(_literal(domain.values))
    if isinstance(domain, StringSets):
        return _collection("str")
    if isinstance(domain, Strings):
        return "str"
    raise InvalidParameter(f"There is no type for a domain of kind {domain.kind!r}.")


def _literal(values: tuple[str, ...]) -> str:
    return f"Literal[{', '.join(map(repr, values))}]"


def _collection(member: str) -> str:
    return f"list[{member}] | tuple[{member}, ...] | set[{member}] | frozenset[{member}]"
