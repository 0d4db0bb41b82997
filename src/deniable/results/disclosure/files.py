"""The files of a disclosure: a page, the same as Markdown, and the registry's entry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.protocol import Survey
from deniable.results.disclosure.deployment import deployment_yaml
from deniable.results.disclosure.facts import disclose
from deniable.results.disclosure.language import Language
from deniable.results.disclosure.page import page_html, page_markdown
from deniable.results.whole_files import whole_file

_KINDS: dict[str, Callable[[Survey, Language | None], bytes]] = {
    ".html": lambda survey, say: page_html(disclose(survey, say)),
    ".md": lambda survey, say: page_markdown(disclose(survey, say)),
    ".yaml": lambda survey, _: deployment_yaml(survey),  # the registry is in English
}
_NAMES = ("disclosure.html", "disclosure.md", "deployment.yaml")


def save_disclosure(survey: Survey, path: Path, say: Language | None = None) -> list[Path]:
    """Write the disclosure of a survey, each file whole or not at all; return the files.

    Args:
        survey: what is asked.
        path: a file whose name ends in .html, .md or .yaml, or a directory for all three.
        say: the sentences of the page; English by default.

    Raises:
        InvalidParameter: if the file's name ends otherwise.
        OSError: if a file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix and suffix not in _KINDS and not path.is_dir():
        raise InvalidParameter(
            f"A disclosure is written to a directory or to a file whose name ends in one of "
            f"{', '.join(_KINDS)}. Got {path.name!r:.80}."
        )
    files = [path] if suffix in _KINDS and not path.is_dir() else [path / n for n in _NAMES]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        data = _KINDS[file.suffix.lower()](survey, say)
        with whole_file(file) as temporary:
            temporary.write_bytes(data)
    return files
