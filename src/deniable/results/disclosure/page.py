"""The page for the people who are asked: HTML that loads nothing, and Markdown."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from string import Template

from deniable.results.disclosure.facts import Disclosure, Section
from deniable.results.labels import printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_LEADING = re.compile(r"^(\s*)([-+=]|\d+[.)])")

# The policy makes sure that the page asks nobody for anything: reading it must not be a report.
_PAGE = Path(__file__).with_name("page.html")


def page_html(disclosure: Disclosure) -> bytes:
    """Return the page as HTML with everything inline.

    Guarantees: it loads nothing, and strings of the survey stay strings whatever they hold.
    """
    parts = [f"<h1>{_html(disclosure.title)}</h1>"]
    parts += [f"<p>{_html(text)}</p>" for text in disclosure.introduction]
    for asked in disclosure.questions:
        place = _html("-".join(filter(None, (asked.id, str(asked.version), asked.level))))
        parts.append(f'<section id="{place}">\n<h2>{_html(asked.title)}</h2>')
        for section in asked.sections:
            parts += _section_html(section, "h3")
        parts.append("</section>")
    for section in disclosure.closing:
        parts += _section_html(section, "h2")
    page = Template(_PAGE.read_text("utf-8")).substitute(
        title=_html(disclosure.title),
        body="\n".join(parts),
        language=_html(disclosure.language),
    )
    return page.encode("utf-8")


def page_markdown(disclosure: Disclosure) -> bytes:
    """Return the page as Markdown; marks in strings of the survey are escaped."""
    lines = [f"# {_markdown(disclosure.title)}", ""]
    for text in disclosure.introduction:
        lines += [_markdown(text), ""]
    for asked in disclosure.questions:
        lines += [f"## {_markdown(asked.title)}", ""]
        for section in asked.sections:
            lines += _section_markdown(section, "###")
    for section in disclosure.closing:
        lines += _section_markdown(section, "##")
    return ("\n".join(lines).rstrip() + "\n").encode("utf-8")


def _section_html(section: Section, heading: str) -> list[str]:
    points = [f"<li>{_html(point)}</li>" for point in section.points]
    return [f"<{heading}>{_html(section.heading)}</{heading}>", "<ul>", *points, "</ul>"]


def _section_markdown(section: Section, heading: str) -> list[str]:
    points = [f"- {_markdown(point)}" for point in section.points]
    return [f"{heading} {_markdown(section.heading)}", "", *points, ""]


def _html(text: str) -> str:
    return escape(printable(text), quote=True)


def _markdown(text: str) -> str:
    marked = _SPECIAL.sub(r"\\\1", printable(text))
    return _LEADING.sub(r"\1\\\2", marked)
