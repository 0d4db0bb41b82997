"""The sentences of a disclosure, in English or as somebody translated them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from string import Formatter

from deniable.errors import InvalidParameter

ENGLISH = Path(__file__).with_name("english.toml")


class Language:
    """Says a sentence by its key, with names put in.

    Args:
        sentences: all of them, by key, such as "odds.certain".

    Example:
        >>> english()("odds.parts", share=3, parts=4)
        '3 in 4'
    """

    def __init__(self, sentences: Mapping[str, str]) -> None:
        self._sentences = dict(sentences)

    def __call__(self, key: str, **names: object) -> str:
        """Return the sentence of a key, with names put in."""
        return self._sentences[key].format(**names)

    @property
    def code(self) -> str:
        """The code of the language, such as "en"."""
        return self._sentences["language"]


@cache
def english() -> Language:
    """Return the sentences as this package has them."""
    return Language(_read(ENGLISH))


def read_language(path: Path) -> Language:
    """Read a translation, and say everything that is wrong with it at once.

    Raises:
        InvalidParameter: if a sentence is missing, is not known, or names other things than the
            English one; or if the file is not TOML.
        OSError: if it cannot be read.
    """
    wanted, found = _read(ENGLISH), _read(path)
    wrong = [f"{key} is missing" for key in wanted if key not in found]
    for key, sentence in found.items():
        if key not in wanted:
            near = get_close_matches(key, wanted, 1)
            wrong.append(f"{key} is not known" + (f" (did you mean {near[0]}?)" if near else ""))
        elif (names := _names(sentence, key, path)) != _names(wanted[key], key, ENGLISH):
            told = ", ".join(sorted(_names(wanted[key], key, ENGLISH))) or "none"
            got = ", ".join(sorted(names)) or "none"
            wrong.append(f"{key} must have the names {told} in braces, and has {got}")
    if wrong:
        raise InvalidParameter(
            f"{path.name} does not translate every sentence: {'; '.join(wrong)}.",
            "deniable explain SURVEY --sentences prints the English ones.",
        )
    return Language(found)


def _read(path: Path) -> dict[str, str]:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidParameter(f"{path.name} is not TOML in UTF-8: {error}") from None
    flat: dict[str, str] = {}
    for key, value in data.items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        for name, sentence in inner:
            whole = f"{key}.{name}".rstrip(".")
            if not isinstance(sentence, str) or not sentence.strip():
                raise InvalidParameter(f"{path.name}: {whole} must be a sentence in quotes.")
            flat[whole] = sentence
    return flat


def _names(sentence: str, key: str, path: Path) -> set[str]:
    """Return the names in braces."""
    try:
        return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}
    except ValueError as error:
        raise InvalidParameter(f"{path.name}: {key}: {error}.") from None
