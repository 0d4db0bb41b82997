"""The demo's survey: single answers, two that go together, many at once, and unlisted strings."""

from __future__ import annotations

from pathlib import Path

from deniable.authoring import read_authored
from deniable.cli.output import write_file
from deniable.protocol import Survey

_SURVEY = Path(__file__).with_suffix(".toml")

_PAGES = """
news search mail weather video maps wiki music
photos shop sports games recipes travel books bank
forum jobs library museum radio garden school market
"""
HOMEPAGES = tuple(f"https://{name}.example" for name in _PAGES.split())
WORDS = tuple(_PAGES.split())
"""The words that people search for. The survey lists none: discovery finds the frequent ones."""


def publish_demo(folder: Path) -> Survey:
    """Write survey.toml, its candidates and survey.json into `folder`; return the survey."""
    write_file(folder / "survey.toml", _SURVEY.read_bytes())
    write_file(folder / "homepages.txt", "".join(f"{page}\n" for page in HOMEPAGES).encode())
    survey = read_authored(folder / "survey.toml").require()
    write_file(folder / "survey.json", survey.published())
    return survey
