"""Candidate files: what is read, what is left out, what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deniable.ask.candidates import (
    MAX_BAD_LINES,
    Candidates,
    candidates_for,
    read_candidates,
    require_candidates,
)
from deniable.errors import InvalidParameter
from material.results import question

STRINGS = """
domain = { type = "strings", candidates = "sub/list.txt" }
mechanism = "rappor"
parameters = { epsilon = 1.0 }
"""


def write(folder: Path, data: bytes) -> Path:
    path = folder / "list.txt"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "strings"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\nb", ["a", "b"]),
        (b"\xef\xbb\xbfa\n\n  \n\t\nb\n\n", ["a", "b"]),
        (b" a \nb\tc\n", [" a ", "b\tc"]),
        ("e\u0301\n".encode(), ["é"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"x" * 4096, ["x" * 4096]),
    ],
)
def test_lines_are_strings(tmp_path: Path, data: bytes, strings: list[str]) -> None:
    found = read_candidates(write(tmp_path, data))
    assert list(found) == strings
    assert [note for note in found.notes if "blank or a tab" not in note] == []


def test_repeated_strings_are_left_out_with_a_note(tmp_path: Path) -> None:
    found = read_candidates(write(tmp_path, "é\nb\ne\u0301\nb\n".encode()))
    assert list(found) == ["é", "b"]
    assert found.notes == ("2 candidates were listed before (after NFC) and left out.",)
    assert Candidates(["a", "a"]).notes[0].startswith("1 candidate was")


def test_bad_lines_are_all_named(tmp_path: Path) -> None:
    path = write(tmp_path, b"good\n\xff\xfe\n" + b"x" * 4097 + b"\nfine\n" + b"y" * 100_000 + b"\n")
    with pytest.raises(InvalidParameter) as caught:
        read_candidates(path)
    message = str(caught.value)
    assert "line 2 is not UTF-8" in message
    assert "line 3 is longer than 4,096 bytes" in message
    assert "line 5 is longer" in message
    assert "line 4" not in message


def test_a_file_of_another_kind_is_not_quoted_at_length(tmp_path: Path) -> None:
    path = write(tmp_path, b"\xff\n" * 10_000)
    with pytest.raises(InvalidParameter) as caught:
        read_candidates(path)
    assert str(caught.value).count("line") == MAX_BAD_LINES + 2  # "per line", "these lines"


@pytest.mark.parametrize("data", [b"", b"\n\n   \n"])
def test_an_empty_file_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InvalidParameter, match="at least one string"):
        read_candidates(write(tmp_path, data))


def test_a_missing_file_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"'none\.txt' cannot be read.*--candidates FILE"):
        read_candidates(tmp_path / "none.txt")


@pytest.mark.parametrize("wrong", ["a\ud800", "x" * 5000, 7])
def test_a_list_with_something_that_is_no_answer_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidParameter, match="Candidate number 2"):
        Candidates(["a", wrong])


def test_a_field_finds_its_file_beside_the_survey(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "list.txt").write_text("a\nb\n")
    asked = question(tmp_path, STRINGS)
    assert list(candidates_for(asked, tmp_path)["value"]) == ["a", "b"]
    assert candidates_for(asked, None) == {}
    other = write(tmp_path, b"c\n")
    assert list(candidates_for(asked, tmp_path, other)["value"]) == ["c"]


def test_closed_domains_have_no_candidates(tmp_path: Path) -> None:
    body = 'domain = "boolean"\nmechanism = "krr"\nparameters = { epsilon = 1.0 }\n'
    asked = question(tmp_path, body)
    assert candidates_for(asked, tmp_path, write(tmp_path, b"c\n")) == {}
    assert require_candidates(asked, asked.fields[0], ["a"]) is None


def test_strings_without_candidates_are_refused_with_the_way_out(tmp_path: Path) -> None:
    body = 'domain = "strings"\nmechanism = "rappor"\nparameters = { epsilon = 1.0 }\n'
    asked = question(tmp_path, body)
    with pytest.raises(InvalidParameter, match="one per line"):
        require_candidates(asked, asked.fields[0], None)


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "sub/../../secret.txt", "link"])
def test_a_survey_cannot_read_outside_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("secret\n")
    folder = tmp_path / "survey"
    (folder / "sub").mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    (folder / "sub" / "list.txt").write_text("a\n")
    asked = question(folder, STRINGS)
    changed = replace(asked, fields=(replace(asked.fields[0], candidates=name),))
    with pytest.raises(InvalidParameter, match="below the survey's folder"):
        candidates_for(changed, folder)
