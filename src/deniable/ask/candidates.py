"""The strings to test for, where a domain cannot be listed.

A candidate file holds one string per line, UTF-8. Blank lines are left out; everything else on
a line belongs to the string, spaces included. Strings are compared in NFC, as clients send them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO, overload

from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.mechanisms.candidates import check_is_list
from deniable.protocol import Domain, Field, Profile, Question, Strings
from deniable.protocol.domain import MAX_STRING_BYTES, string_key

MAX_CANDIDATES = 1_000_000
MAX_BAD_LINES = 10
"""The number of bad lines that an error names; a file of another kind has thousands."""
_LINE_LIMIT = 4 * MAX_STRING_BYTES
"""The longest line that is read, in bytes: NFC does not shorten a string to a quarter."""
_BOM = b"\xef\xbb\xbf"


FOUND = (
    " deniable discover finds the strings of this field, and deniable associate takes them: "
    "--candidates discovered."
)


class Candidates(Sequence[str]):
    """Distinct strings in NFC, in the order given, and a note of what was left out.

    Raises:
        InvalidParameter: if a string cannot be an answer, if there are too many, or if one string
            stands where a list of them is wanted.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        check_is_list(strings)
        self._fitting: tuple[str, ...] = ()
        kept: dict[str, None] = {}
        self.repeated = 0
        for number, text in enumerate(strings, 1):
            _check(text, f"Candidate number {number:,}")
            normal = unicodedata.normalize("NFC", text)
            self.repeated += normal in kept
            kept[normal] = None
            if len(kept) > MAX_CANDIDATES:
                raise InvalidParameter(f"There must be at most {MAX_CANDIDATES:,} candidates.")
        self._strings = tuple(kept)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what became of candidates, for readers of the result."""
        repeated = (
            (f"{_many(self.repeated)} listed before (after NFC) and left out.",)
            if self.repeated
            else ()
        )
        return (*repeated, *_blanks(self._strings), *self._fitting)

    def fitted(self, domain: Domain) -> Candidates:
        """Return the candidates as devices would send them, with notes of what that changed.

        Devices cut strings off after the domain's length, and replace or refuse characters outside
        of its alphabet. Candidates that become equal are one.

        Raises:
            InvalidParameter: if no candidate is left.
        """
        if not isinstance(domain, Strings) or not domain.alphabet:
            return self
        fitted: dict[str, None] = {}
        cut = replaced = merged = 0
        impossible: list[str] = []
        for text in self._strings:
            try:
                found = domain.fitted(text)
            except InvalidAnswer:
                impossible.append(text)
                continue
            cut += len(found) < len(text)
            replaced += found != text[: len(found)]
            merged += found in fitted
            fitted[found] = None
        if tuple(fitted) == self._strings:
            return self
        if not fitted:
            raise InvalidParameter(
                "Every candidate has a character outside of the domain's alphabet, which devices "
                "refuse: none can be an answer. Give strings of the alphabet."
            )
        told = (
            (cut, f"cut off after {domain.length} characters, as on the device"),
            (replaced, "changed: characters outside of the alphabet are replaced on the device"),
            (merged, "equal to others after that and left out"),
            (
                len(impossible),
                "left out: devices refuse strings with characters outside the alphabet",
            ),
        )
        found_all = Candidates(fitted)
        found_all.repeated = self.repeated
        found_all._fitting = (
            *(f"{_many(n)} {how}." for n, how in told if n),
            *_blanks(impossible, "Of those left out, "),
        )
        return found_all

    def __len__(self) -> int:
        return len(self._strings)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._strings[index]


def _blanks(strings: Iterable[str], those: str = "") -> tuple[str, ...]:
    """Return a sentence about blanks and tabs at the ends of strings; none without any."""
    odd = [text for text in strings if text != text.strip()]
    if not odd:
        return ()
    many = f"{len(odd):,} candidates begin or end"
    begin = "1 candidate begins or ends" if len(odd) == 1 else many
    named = ", ".join(repr(text)[:40] for text in odd[:3])
    return (
        f"{those}{begin} with a blank or a tab, which belongs to the string: {named}. Remove it "
        "from the list unless devices send it.",
    )


def _many(count: int) -> str:
    return "1 candidate was" if count == 1 else f"{count:,} candidates were"


def _check(text: object, name: str) -> None:
    if not isinstance(text, str):
        raise InvalidParameter(f"{name} must be a string. Got {type(text).__name__}.")
    try:
        string_key(text)
    except InvalidAnswer as error:
        raise InvalidParameter(f"{name} cannot be an answer. {error}") from None


def read_candidates(path: Path) -> Candidates:
    """Read a candidate file, line by line.

    Raises:
        InvalidParameter: if it cannot be read or holds nothing, or naming its bad lines.
    """
    try:
        with path.open("rb") as file:
            candidates = Candidates(_lines(file, path.name))
    except OSError as error:
        raise InvalidParameter(
            f"The candidate file {path.name!r} cannot be read: {error.strerror or error}. "
            "Put it where the survey says, or name another with --candidates FILE."
        ) from None
    if not candidates:
        raise InvalidParameter(
            f"The candidate file {path.name!r} must hold at least one string. Put one on each line."
        )
    return candidates


def _lines(file: BinaryIO, name: str) -> Iterator[str]:
    """Yield the good lines; at the end, or after too many bad ones, name the bad ones."""
    bad: list[str] = []
    for number, line in enumerate(_bounded(file), 1):
        data = line.removeprefix(_BOM) if number == 1 else line
        text, defect = _decode(data.removesuffix(b"\n").removesuffix(b"\r"))
        if defect:
            bad.append(f"line {number:,} is {defect}")
        elif text.strip():
            yield text
        if len(bad) >= MAX_BAD_LINES:
            break
    if bad:
        raise InvalidParameter(
            f"The candidate file {name!r} must hold one string per line, in UTF-8, of at most "
            f"{MAX_STRING_BYTES:,} bytes: {'; '.join(bad)}. Mend or remove these lines."
        )


def _decode(line: bytes) -> tuple[str, str]:
    """Return the text of a line, or what is wrong with it."""
    too_long = f"longer than {MAX_STRING_BYTES:,} bytes"
    if len(line) >= _LINE_LIMIT - 2:
        return "", too_long
    try:
        text = line.decode("utf-8")
        string_key(text)
    except UnicodeDecodeError:
        return "", "not UTF-8"
    except InvalidAnswer:
        return "", too_long
    return text, ""


def _bounded(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines, the rest of an over-long one left out: memory stays bounded."""
    while line := file.readline(_LINE_LIMIT):
        yield line
        while line and not line.endswith(b"\n"):
            line = file.readline(_LINE_LIMIT)


def candidates_for(
    question: Question, folder: Path | None, path: Path | None = None
) -> dict[str, Candidates]:
    """Return the candidates of each field of strings, by field name.

    Args:
        question: whose fields may name a candidate file.
        folder: where those files are looked for, the survey's folder.
        path: a file that takes the place of all of them.

    Edge cases: fields of closed domains, and fields without a file, are left out.

    Raises:
        InvalidParameter: if a file cannot be read, or lies outside the folder.
    """
    found = {field.name: field_candidates(field, folder, path) for field in question.fields}
    return {name: candidates for name, candidates in found.items() if candidates is not None}


def is_open(field: Field) -> bool:
    """Tell whether a field takes strings, which only candidates can list."""
    return field.domain.size is None and not isinstance(field.domain, Profile)


def field_candidates(
    field: Field, folder: Path | None, path: Path | None = None
) -> Candidates | None:
    """Return the candidates of one field, as `candidates_for` does; None without a file."""
    if not is_open(field):
        return None
    if path is not None:
        return read_candidates(path)
    if field.candidates and folder is not None:
        return read_candidates(candidate_path(folder, field))
    return None


def require_candidates(
    question: Question, field: Field, given: Sequence[str] | None
) -> Candidates | None:
    """Return the candidates to ask about; None where the domain itself lists the answers.

    Raises:
        InvalidParameter: if a field of strings is given none.
    """
    if not is_open(field):
        return None
    if given is None:
        raise InvalidParameter(
            f"Field {field.name!r} of question {question.id!r} takes strings, which cannot be "
            "listed: it needs candidates to test for. Name a file of them, one per line, with "
            "--candidates FILE, or as 'candidates' in the field's domain."
            + (FOUND if field.parameters.finds else "")
        )
    return fitted_candidates(given, field)


def fitted_candidates(given: Sequence[str], field: Field) -> Candidates:
    """Return strings as the devices of a field would send them, with notes of what changed."""
    listed = given if isinstance(given, Candidates) else Candidates(given)
    return listed.fitted(field.domain)


def candidate_path(folder: Path, field: Field) -> Path:
    """Return where a field's candidate file is.

    Raises:
        InvalidParameter: if it is outside the folder: a survey must not read other files.
    """
    name = PurePosixPath(field.candidates)
    path = (folder / name).resolve()
    if name.is_absolute() or not path.is_relative_to(folder.resolve()):
        raise InvalidParameter(
            f"The candidate file of field {field.name!r} must lie below the survey's folder. "
            f"Got {field.candidates!r:.80}. Publish the survey with a file beside it."
        )
    return path
