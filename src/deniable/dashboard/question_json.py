"""The result of a question's page for a program, as `spec/openapi.json` describes it."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.dashboard.findings import Attributes
from deniable.dashboard.overview import Health, Overview, Summary
from deniable.dashboard.remedies import remedy
from deniable.dashboard.sections import Section
from deniable.protocol.retention import Keeping
from deniable.results.table import Table


def question_json(
    summary: Summary,
    keeping: Keeping,
    epoch: int | None,
    n: int,
    sections: Sequence[Section],
    attributes: Attributes | None,
) -> dict[str, object]:
    """Return all that a question's page shows: numbers, sentences and tables, none of its looks."""
    question = summary.question
    told: list[dict[str, object]] = [section_json(one) for one in sections]
    if attributes is not None:
        parts = (attributes.pairs.table, attributes.tree, *attributes.tables)
        named = [one for one in parts if one is not None]
        told += [
            section_json(Section(f"attributes-{i}", "Attributes together", one))
            for i, one in enumerate(named)
        ]
    return {
        "question": question.id,
        "version": question.version,
        "level": "" if summary.all_levels else question.level,
        "description": question.description,
        "owner": question.owner,
        "state": summary.state,
        "epoch": epoch,
        "reports": n,
        "simulated": sum(summary.simulated.values())
        if epoch is None
        else summary.simulated.get(epoch, 0),
        "epochs": {str(number): count for number, count in summary.reports.items()},
        "versions": {str(version): count for version, count in summary.versions.items()},
        "epsilon_once": question.epsilon_once / 1_000_000,
        "epsilon_forever": None
        if question.epsilon_forever is None
        else question.epsilon_forever / 1_000_000,
        **keeping.as_json(),
        "health": health_json(summary.health),
        "sections": told,
    }


def section_json(section: Section) -> dict[str, object]:
    """Return a section as JSON: its table as spec/schemas/table.json describes it."""
    table: Table | None = section.table
    return {
        "name": section.name,
        "title": section.title,
        "answer": None if section.glance is None else section.glance.as_json(),
        "sentences": list(section.sentences),
        "problem": section.problem,
        "table": None if table is None else table.as_json(),
    }


def health_json(health: Health) -> dict[str, object]:
    """Return the fate of reports as JSON."""
    return {
        "accepted": health.accepted,
        "simulated": health.simulated,
        "duplicates": health.duplicates,
        "refused": dict(health.refused),
    }


def overview_json(overview: Overview) -> dict[str, object]:
    """Return the health page as JSON."""
    return {
        **health_json(overview.health),
        "remedies": {reason: remedy(reason) for reason in overview.health.refused},
        "unknown": health_json(overview.unknown),
        "questions": [
            {
                "id": one.question.id,
                "version": one.question.version,
                "level": one.question.level,
                "silent": one.silent,
                "epochs": {str(number): count for number, count in one.reports.items()},
                "versions": {str(number): count for number, count in one.versions.items()},
                **health_json(one.health),
            }
            for one in overview.questions
        ],
    }
