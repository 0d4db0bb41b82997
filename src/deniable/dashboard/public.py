"""A site of results for everybody: static pages that load nothing, of closed epochs only.

Every page is one file with its style inside and a policy that lets it load nothing; links are
relative, so that the folder works from a disk, under any address and without a server.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deniable.ask import Options
from deniable.ask.glance import glance
from deniable.dashboard.findings import Findings, Wanted
from deniable.dashboard.overview import Summary, overview
from deniable.dashboard.pages import asset, rendered
from deniable.dashboard.question_json import question_json
from deniable.dashboard.sections import Section, sections_of, together_section
from deniable.errors import InvalidParameter, StoreError
from deniable.protocol import Survey
from deniable.protocol.epochs import date_of, day_number
from deniable.protocol.retention import Keeping, keeping_of
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.results.disclosure.facts import disclose
from deniable.results.disclosure.page import page_html
from deniable.results.explain import promise_of
from deniable.results.glance import Glance
from deniable.results.table.columns import plain
from deniable.results.table.files import as_csv
from deniable.results.whole_files import whole_file
from deniable.results.words.glance import glance_label, glance_sentence
from deniable.store import Store
from deniable.store.closed_reports import ClosedReports

MANIFEST = "results.json"
"""Names the files of a site, so that the next one can take away what it does not have."""
PEOPLE = "people.html"
_FORMAT = 1


@dataclass(frozen=True)
class Shown:
    """A question of the site: its numbers, its answer at a glance, and its sections."""

    summary: Summary
    glance: Glance
    sections: tuple[Section, ...]
    together: Section | None

    @property
    def label(self) -> str:
        """The name of the one number."""
        return glance_label(self.glance)

    @property
    def sentence(self) -> str:
        """The plain sentence."""
        return glance_sentence(self.glance)


@dataclass(frozen=True)
class Site:
    """The files of a site, and the questions that were left out, each with the reason."""

    files: Mapping[str, bytes]
    shown: tuple[str, ...]
    left_out: Mapping[str, str]

    def write(self, folder: Path) -> None:
        """Write the files, each whole or not at all, and take away those of an earlier site.

        Raises:
            OSError: if a file cannot be written.
        """
        earlier = _earlier(folder)
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as temporary:
                temporary.write_bytes(data)
        for name in earlier - set(self.files):
            (folder / name).unlink(missing_ok=True)


def public_site(
    store: Store, survey: Survey, folder: Path, chosen: Sequence[str] | None = None
) -> Site:
    """Make the site of a survey's results.

    Args:
        store: where the reports are; only real ones of closed epochs are read.
        survey: the published survey.
        folder: where the candidate files of its fields are.
        chosen: the ids of the questions; by default all that have such reports.

    Raises:
        InvalidParameter: if a chosen question is unknown or has no such reports, or none has any.
        StoreError: if the store cannot be read, or an epoch was opened or closed meanwhile.
    """
    closed = ClosedReports(store)
    found = {one.question.title: one for one in overview(closed, survey).questions}
    left_out = _left_out(store, survey, found)
    _check(chosen, found, left_out)
    taken = [
        one for one in found.values() if one.n and (chosen is None or one.question.id in chosen)
    ]
    if not taken:
        raise InvalidParameter(
            "There is nothing to publish: no question has real reports of a closed epoch.",
            "Epochs close a day after they are over, while a collector runs.",
        )
    findings = Findings(closed, folder, survey.floor or DEFAULT_FLOOR)
    shown = [_shown(closed, findings, folder, survey, one) for one in taken]
    told = {"survey": survey, "shown": shown, "today": date_of(day_number()), **_style()}
    files: dict[str, bytes] = {
        "index.html": rendered("public_index.html", ".", **told),
        PEOPLE: page_html(disclose(survey)),
    }
    for one in shown:
        files |= _files(one, keeping_of(survey, one.summary.question), told)
    if ClosedReports(store).tallies() != closed.tallies():
        raise StoreError("An epoch was closed, or opened again, meanwhile: run it once more.")
    names = tuple(one.summary.question.title for one in shown)
    listed = {"deniable": _FORMAT, "survey": survey.name, "files": sorted((*files, MANIFEST))}
    files[MANIFEST] = json.dumps({**listed, "questions": names}, indent=1).encode()
    skipped = {} if chosen is not None else left_out
    return Site(files, names, skipped)


def _left_out(store: Store, survey: Survey, closed: Mapping[str, Summary]) -> dict[str, str]:
    """Return why questions have nothing to be published."""
    reasons = {}
    for one in overview(store, survey).questions:
        title = one.question.title
        if title in closed and closed[title].n:
            continue
        simulated = sum(one.simulated.values())
        reasons[title] = (
            "no reports"
            if not one.n
            else "simulated reports only"
            if simulated == one.n
            else "no epoch is closed yet"
        )
    return reasons


def _check(
    chosen: Sequence[str] | None, found: Mapping[str, Summary], left_out: Mapping[str, str]
) -> None:
    known = {one.question.id: title for title, one in found.items()}
    for name in chosen or ():
        if name not in known:
            raise InvalidParameter(
                f"The survey has no question {name!r:.80}. It has: {', '.join(known)}."
            )
        titles = [title for title, one in found.items() if one.question.id == name]
        if all(not found[title].n for title in titles):
            why = left_out.get(titles[0], "no reports")
            raise InvalidParameter(
                f"There is nothing to publish of question {name!r:.80}: {why}.",
                "Leave it out, or wait until an epoch is closed.",
            )


def _shown(
    store: Store, findings: Findings, folder: Path, survey: Survey, summary: Summary
) -> Shown:
    wanted = findings.wanted(summary, None)
    options = Options(threads=1, folder=folder, floor=survey.floor or DEFAULT_FLOOR)
    sections = tuple(
        one
        for answered in findings.of(wanted).values()
        for one in sections_of(findings, wanted, summary, answered)
    )
    first = glance(store, summary.question, options)
    return Shown(summary, first, sections, _together(findings, wanted))


def _together(findings: Findings, wanted: Wanted) -> Section | None:
    fields = tuple(field.name for field in wanted.question.fields[:3])
    if len(fields) < 2:
        return None
    found = findings.together(wanted, fields)
    return None if found.table is None else together_section(fields, found)


def _files(one: Shown, keeping: Keeping, told: Mapping[str, object]) -> dict[str, bytes]:
    """Return the files of a question: its page, its tables as CSV, and all of it as JSON."""
    question = one.summary.question
    name = f"questions/{_file_name(one.summary)}"
    sections = (*one.sections, *((one.together,) if one.together else ()))
    files = {
        f"{name}-{section.name}.csv": as_csv(section.table)
        for section in sections
        if section.table is not None
    }
    read = question_json(one.summary, keeping, None, one.summary.n, sections, None)
    del read["health"]  # the operator's business
    files[f"{name}.json"] = json.dumps(plain(read), allow_nan=False).encode()
    promise = promise_of(question, keeping=keeping)
    own = {"one": one, "question": question, "mark": "", "promise": promise}
    # Files lie beside the page.
    own["files"] = lambda section: f"{_file_name(one.summary)}-{section.name}.csv"
    own["data"] = f"{_file_name(one.summary)}.json"
    files[f"{name}.html"] = rendered("public_question.html", "..", **{**told, **own})
    return files


def _file_name(summary: Summary) -> str:
    # Ids and levels hold only letters, digits, '.', '_' and '-'.
    question = summary.question
    return f"{question.id}-{question.level}" if question.level else question.id


def _style() -> dict[str, object]:
    """Return the style of every page, the policy that allows it alone, and the icon."""
    css = asset("dashboard.css").decode()
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    icon = base64.b64encode(asset("icon.svg")).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'"
    return {
        "css": css,
        "policy": policy,
        "icon": f"data:image/svg+xml;base64,{icon}",
        "file_name": _file_name,
    }


def _earlier(folder: Path) -> set[str]:
    """Return the files of an earlier site in a folder; none if there is another thing.

    Raises:
        InvalidParameter: if the folder holds something else.
    """
    if not folder.exists() or not any(folder.iterdir()):
        return set()
    try:
        told = json.loads((folder / MANIFEST).read_text("utf-8"))
        if told["deniable"] != _FORMAT:
            raise ValueError
        names = {str(name) for name in told["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidParameter(
            f"The folder {folder} is not empty, and holds no site of ours.",
            "Name an empty folder, or one that publish-results wrote.",
        ) from None
    inside = {name for name in names if ".." not in name and not name.startswith(("/", "\\"))}
    return {name for name in inside if name.count("/") <= 1}
