"""deniable docs: the site, from this machine, without a network."""

from __future__ import annotations

import subprocess
import sys
import webbrowser
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.output import JsonFlag, emit_json, err, out
from deniable.errors import InvalidParameter, MissingExtra

PACKAGE = Path(__file__).parents[1]
CHECKOUT = PACKAGE.parents[1]


def docs(
    page: Annotated[
        str | None, typer.Argument(help="A page, such as client or tutorials; default: the first.")
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")
    ] = True,
    json: JsonFlag = False,
) -> None:
    """Open the documentation: tutorials, how-to, reference, explanation, with a search.

    It lies beside the package and is read from the disk, without a network. In a checkout it is
    built when it is first asked for, which needs the packages of the extra 'docs'.
    """
    site = _site()
    path = site / "index.html" if page is None else _find(site, page)
    if json:
        emit_json({"path": str(path)})
    else:
        out.print(path, markup=False, soft_wrap=True)
    if browser and not webbrowser.open(path.as_uri()):
        err.print("No browser could be opened. Open the file above in one.", markup=False)


def _site() -> Path:
    """Return the folder of the site: of the package, or of a checkout, where it is built."""
    shipped, built = PACKAGE / "site", CHECKOUT / "build/site"
    for folder in (shipped, built):
        if (folder / "index.html").is_file() and (folder == shipped or not _is_older(folder)):
            return folder
    builder = CHECKOUT / "docs/site/build.py"
    if not builder.is_file():
        raise InvalidParameter(
            "This installation has no site: it was built without scripts/release.",
            "Install a released wheel, or run deniable docs in a checkout.",
        )
    if any(find_spec(name) is None for name in ("sphinx", "furo", "myst_parser")):
        raise MissingExtra("docs", "Building the site")
    err.print("Building the site (once, half a minute) ...", markup=False)
    subprocess.run([sys.executable, builder, built], check=True, stdout=subprocess.DEVNULL)
    return built


def _is_older(site: Path) -> bool:
    """Tell whether a page of the checkout was written after the site was built."""
    pages = [path for place in ("docs", "spec") for path in (CHECKOUT / place).rglob("*.*")]
    built = (site / "index.html").stat().st_mtime
    return any(path.stat().st_mtime > built for path in (*pages, *CHECKOUT.glob("*.md")))


def _find(site: Path, page: str) -> Path:
    """Return the page of a name, such as "client" for docs/client.html."""
    pages = {path.stem: path for path in sorted(site.rglob("*.html"), reverse=True)}
    if page in pages:
        return pages[page]
    near = get_close_matches(page, pages, 3)
    raise InvalidParameter(
        f"The site has no page {page!r:.80}.",
        f"Did you mean {', '.join(near)}?" if near else "Leave the name out for the first page.",
    )
