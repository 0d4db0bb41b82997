"""TypeScript types of a survey: `record` takes its questions and their values alone."""

from __future__ import annotations

import json

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

_TEXT = """// The questions of the survey {name}, typed. `deniable names` wrote this file.
// const client = (await Client.open({{ ... }})) as unknown as SurveyClient;

export interface Questions {{
{members}
}}

export interface SurveyClient {{
  record<Q extends keyof Questions>(question: Q, value: Questions[Q]): unknown;
}}
"""


def typescript_types(survey: Survey) -> str:
    """Return the text of a .d.ts file."""
    asked = {question.id: question for question in survey.asked}
    members = "\n".join(f"  {json.dumps(name)}: {_value(q)};" for name, q in asked.items())
    return _TEXT.format(name=json.dumps(survey.name), members=members)


def _value(question: Question) -> str:
    first = question.fields[0].domain
    if question.plain and not isinstance(first, Profile):
        return _type(first)
    if isinstance(first, Profile):
        parts = [(n, _type(d), isinstance(d, Perhaps)) for n, d in first.attributes]
    else:
        parts = [(f.name, _type(f.domain), question.absent) for f in question.fields]
    told = "; ".join(f"{json.dumps(n)}{'?' * perhaps}: {kind}" for n, kind, perhaps in parts)
    return f"{{ {told} }}"


def _type(domain: Domain) -> str:
    if isinstance(domain, Perhaps):
        return _type(domain.known)
    if isinstance(domain, Boolean):
        return "boolean"
    if isinstance(domain, Numbers):
        return "number"
    if isinstance(domain, Categories):
        return _union(domain.values)
    if isinstance(domain, Sets):
        return f"({_union(domain.values)})[]"
    if isinstance(domain, StringSets):
        return "string[]"
    if isinstance(domain, Strings):
        return "string"
    raise InvalidParameter(f"There is no type for a domain of kind {domain.kind!r}.")


def _union(values: tuple[str, ...]) -> str:
    return " | ".join(map(json.dumps, values))
