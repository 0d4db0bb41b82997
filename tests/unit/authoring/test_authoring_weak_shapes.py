"""`check` warns of shapes that are allowed and hardly ever meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.authoring import read_authored

HEAD = 'name = "n"\nowner = "o"\n[[questions]]\nid = "q"\ndescription = "?"\nexpires = 2099-01-01\n'


def warnings(folder: Path, body: str) -> str:
    (folder / "names.txt").write_text("a\nb\n")
    path = folder / "survey.toml"
    path.write_text(HEAD + body)
    authored = read_authored(path)
    assert not authored.problems, authored.problems
    return " ".join(str(warning) for warning in authored.warnings)


def bloom(k: int, h: int, m: int, more: str = "") -> str:
    shape = f"k = {k}, h = {h}, m = {m}, f = 0.5, p = 0.5, q = 0.75"
    domain = f'{{ type = "strings"{more} }}'
    return f'domain = {domain}\nmechanism = "rappor"\nparameters = {{ {shape} }}\n'


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (bloom(2, 4, 16), "nearly every string sets every bit"),
        (bloom(32, 2, 1), "m = 1"),
        (bloom(512, 2, 16, ', candidates = "names.txt"'), "for a list of 2 strings"),
        (bloom(4_096, 2, 16), "as good as a name"),
        (
            'domain = { type = "numbers", low = 0, high = 500, bins = 500 }\n'
            'mechanism = "krr"\nparameters = { epsilon = 1.0 }\n',
            "krr cannot carry",
        ),
    ],
)
def test_each_shape_is_named(tmp_path: Path, body: str, said: str) -> None:
    assert said in warnings(tmp_path, body)


def test_ordinary_shapes_are_not(tmp_path: Path) -> None:
    said = warnings(tmp_path, bloom(128, 2, 16))
    for word in ("every bit", "m = 1:", "for a list", "as good as"):
        assert word not in said
    small = 'domain = "boolean"\nmechanism = "krr"\nparameters = { epsilon = 1.0 }\n'
    assert "cannot carry" not in warnings(tmp_path, small)
