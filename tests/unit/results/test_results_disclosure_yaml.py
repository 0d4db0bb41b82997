from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.results.disclosure.yaml_writing import to_yaml
from material.yaml_reading import read

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=20),
    st.sampled_from(
        ["", "yes", "No", "null", "1.0", "12", "- a", "a: b", "a #b", "|", "- a\n- b", "a\n\nb"]
    ),
)
KEYS = st.sampled_from(["name", "epsilon", "a1", "deep_key"])
LEAVES = st.one_of(
    TEXTS, st.integers(), st.none(), st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(st.one_of(LEAVES, st.dictionaries(KEYS, inner, max_size=3)), max_size=3),
        st.dictionaries(KEYS, inner, max_size=3),
    ),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_what_is_written_is_read_again(data: dict[str, object]) -> None:
    assert read(to_yaml(data)) == data


def test_the_file_is_readable() -> None:
    data = {
        "name": "my app",
        "quoted": "yes",
        "text": "- one: 1\n- two",
        "list": ["a", {"id": "b", "numbers": {"p": 1e-08, "q": 2}}, {}],
        "nothing": None,
        "strange": 'a "quote" \\ \x07 \u202e \U000e0001 é',
    }
    assert to_yaml(data) == (
        "name: my app\n"
        'quoted: "yes"\n'
        "text: |-\n"
        "  - one: 1\n"
        "  - two\n"
        "list:\n"
        "  - a\n"
        "  - id: b\n"
        "    numbers:\n"
        "      p: 1.0e-08\n"
        "      q: 2\n"
        "  - {}\n"
        "nothing: null\n"
        'strange: "a \\"quote\\" \\\\ \\x07 \\u202e \\U000e0001 é"\n'
    )


@pytest.mark.parametrize("bad", [{"A": 1}, {"a b": 1}, {"on": 1}, {"a": float("nan")}, {"a": True}])
def test_what_has_no_form_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter, match="YAML"):
        to_yaml(bad)


@pytest.mark.parametrize(
    "broken", ["a: yes\n", "a: b: c\n", 'a: "\\q"\n', "a: 1\na: 2\n", "a:\n b: 1\n", "a: - b\nc\n"]
)
def test_the_reader_is_strict(broken: str) -> None:
    with pytest.raises(AssertionError):
        read(broken)
