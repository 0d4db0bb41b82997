"""A survey as an entry of the OpenDP registry of deployments, a YAML file.

The keys are those of the entries in github.com/opendp/deployments-registry-data (folder
`deployments`). What only the curator knows is left to fill in, and said at the top of the file.
"""

from __future__ import annotations

from deniable.protocol import Field, Profile, Question, Survey
from deniable.protocol.epsilon import as_float
from deniable.results.disclosure.in_clear import clear_sentences
from deniable.results.disclosure.randomised import how
from deniable.results.disclosure.yaml_writing import Yaml, to_yaml

_HEAD = (
    "# An entry for the OpenDP registry of differential privacy deployments.\n"
    "# To fill in: publication_date, data_product_region, data_product_sector.\n"
)

_ACTORS = (
    "Device of a person: holds the true answer, randomises it, keeps a ledger of what it "
    "disclosed. It is trusted.",
    "Network: sees the sizes and times of encrypted uploads.",
    "Collector: receives randomised reports only; stores no address, time or order. It is not "
    "trusted with answers.",
    "Analyst: sees estimates with their errors. Not trusted with answers.",
)
_NUMERIC = (
    "Coins are 64-bit integers from the operating system compared with integer thresholds; no "
    "floating-point number decides one.",
    "Thresholds are rounded so that the epsilon that runs does not exceed the one that was asked "
    "for; epsilons are computed from the integers by exact fractions and rounded up to millionths.",
    "Uniform integers are drawn by rejection.",
    "The worst ratio of each encoder is proven by enumeration of its draws in the test suite.",
    "The time that a device takes to randomise is not constant, and not visible to the collector, "
    "which receives reports later.",
)


def deployment_yaml(survey: Survey) -> bytes:
    """Return the entry of a survey."""
    return (_HEAD + to_yaml(deployment(survey))).encode("utf-8")


def deployment(survey: Survey) -> dict[str, Yaml]:
    """Return the entry of a survey as data, in the registry's keys."""
    asked = ", ".join(dict.fromkeys(question.id for question in survey.questions))
    return {
        "status": "Draft",
        "registry_authors": [survey.owner],
        "deployment": {
            "name": survey.name,
            "data_curator": survey.owner,
            "intended_use": f"Statistics of the answers to: {asked}.",
            "data_product_type": "Summary statistics",
            "description": _described(survey),
            "dp_flavor": _flavor(survey),
            "privacy_loss": _loss(survey),
            "model": _model(survey),
            "accounting": {
                "post_processing": (
                    "Unbiased estimation, and projection or maximum likelihood, of randomised "
                    "reports; nothing of it looks at answers again."
                ),
                "composition": _lines(_composition(survey)),
            },
            "implementation": {
                "pre_processing_eda_hyperparameter_tuning": (
                    "Parameters come from closed forms and the wanted epsilon, not from data."
                ),
                "mechanisms": [_mechanism(q, f) for q in survey.questions for f in q.fields],
                "numeric_issues": _lines(_NUMERIC),
                "justification": _lines(
                    [f"{question.id}: {question.description}" for question in survey.questions]
                ),
            },
            "additional_information": (
                "Written by deniable explain --public from the integers that clients run."
            ),
        },
    }


def _described(survey: Survey) -> str:
    words = "Shares of answers with standard errors, intervals and tests."
    if any(isinstance(f.domain, Profile) for q in survey.questions for f in q.fields):
        words += " Tables of a few attributes of profiles, raw with errors and smoothed."
    return words


def _flavor(survey: Survey) -> dict[str, Yaml]:
    return {
        "name": "Pure DP",
        "input_metric": "Whether one answer of one person differs (local model)",
        "bound_on_input_distance": 1,
        "output_measure": "Max divergence",
        "bound_on_output_distance": max(as_float(q.epsilon_once) for q in survey.questions),
        "data_domain": _lines(
            [f"{q.id}: {', '.join(_kind(f) for f in q.fields)}" for q in survey.questions]
        ),
        "unprotected_quantities": _lines(_unprotected(survey)),
    }


def _unprotected(survey: Survey) -> list[str]:
    lines = ["The questions, their parameters and the number of reports are public."]
    seen = [q.id for q in survey.questions if not q.absent]
    if seen:
        lines.append(f"That a device reported at all is visible for: {', '.join(seen)}.")
    linked = [q.id for q in survey.questions if q.repeat == "permanent"]
    if linked:
        lines.append(f"Reports of an unchanged value are identical for: {', '.join(linked)}.")
    for question in survey.questions:
        lines += [f"{question.title}: {sentence}" for sentence in clear_sentences(question)]
    return lines


def _loss(survey: Survey) -> dict[str, Yaml]:
    asked = survey.costliest().questions  # a person answers one level of each
    bounds = [question.epsilon_forever for question in asked]
    known = [bound for bound in bounds if bound is not None]
    bounded = len(known) == len(bounds)
    # New values cost again unless a person answers once: only then a bound is of a whole person.
    once = all(question.repeat == "once" for question in asked)
    total = sum(known) if bounded else sum(q.epsilon_once for q in asked)
    return {
        "privacy_unit": "User-level" if once else "Event-level",
        "privacy_unit_description": (
            "All reports of one person, over all questions: each is answered once, ever."
            if once
            else "All reports of one value to each question; every new value costs its question's "
            "epsilon again."
            if bounded
            else "One report to each question; every further report adds its epsilon."
        ),
        "privacy_parameters": {"epsilon": as_float(total), "delta": 0},
        "privacy_parameters_description": (
            "epsilon is the sum over all questions; each question's own numbers stand below."
        ),
        "questions": [_question(question) for question in survey.questions],
    }


def _question(question: Question) -> dict[str, Yaml]:
    forever = question.epsilon_forever
    return {
        "id": question.id,
        "version": question.version,
        "epsilon_of_one_report": as_float(question.epsilon_once),
        "epsilon_for_ever": None if forever is None else as_float(forever),
        "repeat": question.repeat,
        "epoch_days": question.epoch,
        "send": question.send,
        "expires": question.expires.isoformat(),
        "digest": question.digest.hex(),
    }


def _model(survey: Survey) -> dict[str, Yaml]:
    repeated = any(question.repeat != "once" for question in survey.questions)
    return {
        "model_name": "Local",
        "model_name_description": "Every answer is randomised on the device before it leaves.",
        "actors": _lines(_ACTORS),
        "release_type": "many releases" if repeated else "one-shot",
        "data_source_type": "dynamic" if repeated else "static",
        "access_type": "non-interactive",
    }


def _composition(survey: Survey) -> list[str]:
    lines = ["Basic composition: epsilons add over fields, questions, versions and new values."]
    for question in survey.questions:
        if question.repeat == "once":
            lines.append(f"{question.id}: one report per device and version, ever.")
        elif question.epsilon_forever is None:
            lines.append(f"{question.id}: every report adds; a ceiling on the device stops it.")
        else:
            lines.append(
                f"{question.id}: all reports of one value cost the epsilon for ever, once."
            )
    return lines


def _mechanism(question: Question, field: Field) -> dict[str, Yaml]:
    return {
        "question": question.id,
        "field": field.name,
        "mechanism": field.parameters.mechanism,
        "parameters": _integers(field),
        "in_words": " ".join(how(field)),
        "epsilon": as_float(field.parameters.epsilon_once),
    }


def _kind(field: Field) -> str:
    """Return the kind of a field's domain; for a profile, its attributes and their answers."""
    if not isinstance(field.domain, Profile):
        return field.domain.kind
    answers = " x ".join(map(str, field.domain.answers))
    return f"profile of {len(field.domain.answers)} attributes ({answers} answers)"


def _integers(field: Field) -> dict[str, Yaml]:
    """Return parameters as survey.json holds them: integers, 64-bit thresholds as strings."""
    published = field.parameters.published()
    found: dict[str, Yaml] = {n: v for n, v in published.items() if isinstance(v, int | str)}
    for name, value in published.items():
        if isinstance(value, list) and all(isinstance(one, int | str) for one in value):
            found[name] = " ".join(map(str, value))
    return found


def _lines(texts: list[str] | tuple[str, ...]) -> str:
    """Return several sentences as the registry writes them: a dash and a line each."""
    return "\n".join(f"- {' '.join(text.split())}" for text in texts)
