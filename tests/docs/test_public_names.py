"""Every package states its public names, and says that all others are internal."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import deniable

ROOT = Path(deniable.__file__).parent
PACKAGES = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_states_its_public_names(name: str) -> None:
    package = import_module(f"deniable.{name}")
    assert isinstance(package.__all__, list)
    assert len(set(package.__all__)) == len(package.__all__)
    for public in package.__all__:
        assert not public.startswith("_")
        if not hasattr(package, public):
            import_module(f"deniable.{name}.{public}")
    assert "internal" in (package.__doc__ or "")


def test_folders_inside_of_packages_state_what_they_export() -> None:
    """One that imports names for others lists them; one that does not is internal."""
    for path in ROOT.glob("*/*/__init__.py"):
        text = path.read_text()
        assert "\nfrom deniable" not in text or "__all__" in text, path
        folder = import_module(".".join(path.parent.relative_to(ROOT.parent).parts))
        for public in getattr(folder, "__all__", ()):
            assert hasattr(folder, public), f"{path}: {public}"
