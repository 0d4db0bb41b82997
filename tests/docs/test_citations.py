"""Every citation can be followed: keys stand in docs/references.md, sections in the mathematics."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEY = r"[A-Z][A-Za-z]*\d{2}"
REFERENCES = set(re.findall(rf"^\| ({KEY}) \|", (ROOT / "docs/references.md").read_text(), re.M))
SECTIONS = set(re.findall(r"^## (\d+)\.", (ROOT / "docs/mathematics.md").read_text(), re.M))
PROSE = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("spec/*.md")]
CODE = [
    path for folder in ("src", "spec", "tests", "papers") for path in ROOT.glob(f"{folder}/**/*.py")
]


def cited(text: str) -> set[str]:
    """The keys of citations such as [EPK14], [FPE16, section 3.2] and [CKS18, FPE16]."""
    brackets = re.findall(rf"\[({KEY}(?:[,;:] [^\]]*)?)\]", text)
    return {key for inside in brackets for key in re.findall(rf"\b{KEY}\b", inside)}


def test_every_cited_key_has_a_reference() -> None:
    for path in [*PROSE, *CODE]:
        assert cited(path.read_text()) <= REFERENCES, path


def test_every_reference_is_cited() -> None:
    everywhere = "".join(p.read_text() for p in [*PROSE, *CODE] if p.name != "references.md")
    assert cited(everywhere) == REFERENCES


def test_every_cited_section_of_the_mathematics_exists() -> None:
    texts = [" ".join(path.read_text().split()) for path in [*PROSE, *CODE]]
    sections = {s for text in texts for s in re.findall(r"mathematics\.md, section (\d+)", text)}
    assert sections
    assert sections <= SECTIONS


def test_no_citation_points_outside_the_repository() -> None:
    for path in CODE:
        if path != Path(__file__):
            text = " ".join(path.read_text().split())
            assert not re.search(r"(?<!docs/)\bmathematics,? (section )?\d", text), path
