"""The number of reports in a store, by version of a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from deniable.protocol import Survey
from deniable.store.base import Tally


def reports_by_version(
    tallies: Iterable[Tally], survey: Survey, question_id: str
) -> dict[int, int]:
    """Return the number of reports of every version that a survey knows, rising by version.

    Edge cases: reports with another digest than the survey's do not count: nobody can read them.
    """
    versions = {q.digest: q.version for q in survey.versions(question_id)}
    counted = Counter[int]()
    for tally in tallies:
        if tally.batch.question == question_id and tally.batch.digest in versions:
            counted[versions[tally.batch.digest]] += tally.reports
    return {version: counted[version] for version in versions.values()}


def unreadable_reports(tallies: Iterable[Tally], survey: Survey) -> dict[tuple[str, int], int]:
    """Return the reports of questions and versions that a survey does not know, by both.

    A survey.json that was copied without its history, or that forgot a version, leaves some.
    """
    known = {(q.id, q.digest) for q in survey.known}
    counted = Counter[tuple[str, int]]()
    for tally in tallies:
        if (tally.batch.question, tally.batch.digest) not in known:
            counted[tally.batch.question, tally.batch.version] += tally.reports
    return dict(sorted(counted.items()))
