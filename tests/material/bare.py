"""A Python that has the packages of some extras, and no other: as after `pip install`."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, distribution, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def packages_of(*extras: str) -> dict[str, Distribution]:
    """Return the distributions that the extras bring, with all that these need."""
    found: dict[str, Distribution] = {}
    wanted = [("deniable", extra) for extra in extras]
    seen = set()
    while wanted:
        name, extra = wanted.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        if name != "deniable":
            found[name] = distribution(name)
        for needed in map(Requirement, requires(name) or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                wanted += [(needed.name.lower(), each) for each in (*needed.extras, "")]
    return found


def bare_python(folder: Path, *extras: str) -> tuple[str, ...]:
    """Return the words that run `deniable` where nothing but these extras is installed."""
    site = folder / "site"
    site.mkdir()
    for package in packages_of(*extras).values():
        for top in {Path(str(file)).parts[0] for file in package.files or ()} - {"..", "bin"}:
            source = Path(str(package.locate_file(top)))
            if top != "__pycache__" and not (site / top).exists():
                (site / top).symlink_to(source)
    code = (
        f"import sys; sys.path[:0] = [{str(ROOT / 'src')!r}, {str(site)!r}]; "
        "from deniable.__main__ import main; main()"
    )
    return (sys.executable, "-I", "-S", "-c", code)
