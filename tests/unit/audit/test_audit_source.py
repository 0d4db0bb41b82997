"""The look at the encoders' source: clean as it is, and blind to nothing that it should see."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import deniable
from deniable.audit.exact.encoder_source import floats_in_encoders

PACKAGE = Path(deniable.__file__).parent


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("client", "protocol"):
        shutil.copytree(
            PACKAGE / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path


def change(root: Path, file: str, old: str, new: str) -> None:
    path = root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_shipped_encoders_are_clean(copy: Path) -> None:
    assert floats_in_encoders() == ()
    assert floats_in_encoders(copy) == ()


@pytest.mark.parametrize(
    ("file", "old", "new", "what"),
    [
        ("client/encoders/krr.py", "draws.coin(keep)", "draws.coin(keep) or 0.5 > 1", "float 0.5"),
        ("client/encoders/olh.py", "import annotations", "import annotations\nimport random", "ra"),
        ("client/encode.py", "domain.most)", "int(domain.most / 1))", "a division"),
        ("client/randomness.py", "return byte < place", "return float(byte) < place", "of float"),
        ("client/randomness.py", "os.urandom\n", "os.getrandom\n", "os.getrandom"),
        ("protocol/hashing.py", ">> 32", "// 2.0**32", "float 2.0"),
        ("protocol/hadamard.py", ".bit_count() & 1", ".bit_count() % 2.0", "float 2.0"),
    ],
)
def test_every_kind_of_float_is_seen(copy: Path, file: str, old: str, new: str, what: str) -> None:
    if old == "os.urandom\n":
        path = copy / file
        path.write_text(path.read_text() + "\nOTHER = os.getrandom\n")
    else:
        change(copy, file, old, new)
    found = floats_in_encoders(copy)
    assert any(place.startswith(file) and what in place for place in found), found


def test_what_no_encoder_reaches_may_use_floats(copy: Path) -> None:
    """A closed form that planners read decides no coin on a device."""
    assert "float(" in (copy / "protocol/rappor.py").read_text()
    assert not any("rappor.py" in place for place in floats_in_encoders(copy))
