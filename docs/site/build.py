"""Builds the site: python docs/site/build.py [FOLDER].

The sources are the repository's own pages, in the repository's own layout, so that a link which
works in a checkout works on the site. Pages of the reference are generated from what they are
about: docstrings, commands, JSON Schemas, the description of the collector's interface. A warning
of the generator is an error. Nothing that is built asks another host for anything.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUTPUT = ROOT / "build/site"
PAGES = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "spec", "docs")


def assemble(folder: Path) -> None:
    """Write the sources of the site into a folder."""
    from gallery import gallery_page
    from notebooks import notebook_page
    from reference import reference_pages

    for name in PAGES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=_ignored)
        else:
            shutil.copy(ROOT / name, folder)
    for path in (HERE / "pages").glob("*.md"):
        shutil.copy(path, folder)
    shutil.copytree(HERE / "static", folder / "_static")
    shutil.copy(HERE / "conf.py", folder)
    generated = folder / "reference"
    generated.mkdir()
    for name, text in reference_pages(ROOT).items():
        (generated / f"{name}.md").write_text(text, "utf-8")
    (folder / "docs/gallery.md").write_text(gallery_page(ROOT / "docs/papers.md"), "utf-8")
    for path in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
        target = folder / "docs/notebooks" / f"{path.stem}.md"
        target.write_text(notebook_page(path), "utf-8")
    _list_the_rest(folder)
    for path in folder.rglob("*.md"):
        path.write_text(linked(path.read_text("utf-8"), path, folder), "utf-8")


def _list_the_rest(folder: Path) -> None:
    """Put guides that no part names at the end of the how-to part, so that none is lost."""
    named = "\n".join(path.read_text("utf-8") for path in folder.glob("*.md"))
    pages = sorted(f"docs/{path.stem}" for path in (folder / "docs").glob("*.md"))
    rest = [page for page in pages if not re.search(rf"^{page}$", named, re.MULTILINE)]
    if rest:
        listed = "\n".join(rest)
        with (folder / "how-to.md").open("a", encoding="utf-8") as page:
            page.write(f"\n```{{toctree}}\n:maxdepth: 1\n:caption: More\n\n{listed}\n```\n")


def linked(text: str, path: Path, folder: Path) -> str:
    """Point links to files that are no pages at copies of them, which readers can save."""

    def point(found: re.Match[str]) -> str:
        if "://" in found[2] or not found[2]:
            return found[0]
        target = (path.parent / found[2]).resolve()
        if target == folder / "README.md":
            return f"{found[1]}{'../' * len(path.parent.relative_to(folder).parts)}index.md)"
        if (
            target.is_dir()
        ):  # a folder has no page; what it holds is said in its README or beside it
            near = next(up for up in (target, *target.parents) if (up / "README.md").is_file())
            return f"{found[1]}{os.path.relpath(near / 'README.md', path.parent)})"
        if target.exists():
            return found[0]
        origin = ROOT / target.relative_to(folder)
        if not origin.is_file():
            raise SystemExit(f"{path.relative_to(folder)} links to {found[2]}, which is no file.")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(origin, target.with_name(f"{target.name}.txt"))
        return f"{found[1]}{found[2]}.txt)"

    parts = re.split(r"(^```.*?^```)", text, flags=re.MULTILINE | re.DOTALL)
    links = r"(\]\()([^)#\s]*)((?:#[^)\s]*)?\))"
    return "".join(p if p.startswith("```") else re.sub(links, point, p) for p in parts)


def _ignored(folder: str, names: list[str]) -> set[str]:
    """Leave out the generator itself, and what is neither a page, a picture nor an example."""
    keep = {".md", ".png", ".svg", ".csv", ".json", ".py", ".toml", ".ipynb", ""}
    left = {name for name in names if Path(name).suffix not in keep or name == "__pycache__"}
    return left | ({"site"} if Path(folder) == ROOT / "docs" else set())


def build(output: Path) -> None:
    """Build the site into a folder, which is replaced.

    Raises:
        SystemExit: if the generator has a complaint.
    """
    from sphinx.cmd.build import main as sphinx

    if output.exists() and not (output / "searchindex.js").is_file() and any(output.iterdir()):
        raise SystemExit(f"{output} holds something that is no site. Name another folder.")
    with tempfile.TemporaryDirectory() as name:
        sources, made = Path(name).resolve() / "sources", Path(name) / "site"
        sources.mkdir()
        assemble(sources)
        told = ["-q", "-W", "--keep-going", "-b", "html", "-d", f"{name}/trees"]
        if sphinx([*told, str(sources), str(made)]):
            raise SystemExit("The site was not built: see above.")
        for left in (".buildinfo", "objects.inv"):
            (made / left).unlink(missing_ok=True)
        shutil.rmtree(output, ignore_errors=True)
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, output)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    chosen = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else OUTPUT
    build(chosen)
    print(chosen / "index.html")
