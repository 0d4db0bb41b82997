"""Files that are written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield the path of a file beside `path` that takes its place at the end.

    Guarantees: a reader of `path` sees the old file or the new one, never half of it; after an
    error the old one stands and nothing else is left.
    """
    temporary = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
