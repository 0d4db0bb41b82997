"""What a process writes and syncs, in order, by strace.

strace sees the system calls themselves: whatever library makes them, and in the order in which the
kernel does. A shim that is preloaded would miss calls that do not go through the C library's
exported names, and would have to be compiled. Only -shm, which SQLite maps into memory, is unseen;
it is no part of the data, and SQLite builds it anew.

The process prints lines on standard output to say what it has promised; they stand in the trace
between the writes, so that it is known what was promised at every moment.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CALLS = (
    "open,openat,creat,pwrite64,pwritev,write,writev,fsync,fdatasync,sync,syncfs,sync_file_range,"
    "ftruncate,truncate,fallocate,unlink,unlinkat,rename,renameat,renameat2,link,linkat,mkdir,"
    "mkdirat,rmdir,mmap,sendfile,copy_file_range"
)
_LONGEST = 2**26
_NAMES = {
    "mkdir": "mkdir",
    "mkdirat": "mkdir",
    "unlink": "unlink",
    "unlinkat": "unlink",
    "rmdir": "unlink",
    "rename": "rename",
    "renameat": "rename",
    "renameat2": "rename",
    "link": "link",
    "linkat": "link",
}


@dataclass(frozen=True)
class Write:
    """Bytes written to a place of a file."""

    path: str
    offset: int
    data: bytes


@dataclass(frozen=True)
class Truncate:
    """A file cut, or stretched by zeros, to a size."""

    path: str
    size: int


@dataclass(frozen=True)
class Sync:
    """A file or a folder brought to the disk."""

    path: str


@dataclass(frozen=True)
class Name:
    """A change of names: what is one of create, mkdir, unlink, rename, link."""

    what: str
    path: str
    target: str = ""


@dataclass(frozen=True)
class Said:
    """A line that the process printed."""

    line: str


Event = Write | Truncate | Sync | Name | Said


def have_strace() -> bool:
    """Tell whether strace is there and may watch a process."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True).returncode == 0


def record(module: str, root: Path, *arguments: str) -> list[Event]:
    """Run `python -m module root arguments` under strace; return what it did below `root`.

    Raises:
        AssertionError: if it fails, or makes a call that is not understood.
    """
    trace = root.parent / f"{root.name}.strace"
    command = ["strace", "-f", "-y", "-xx", "-s", str(_LONGEST), "-e", f"trace={CALLS}"]
    command += ["-e", "signal=none", "-o", str(trace)]
    done = subprocess.run(
        [*command, sys.executable, "-m", module, str(root), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise AssertionError(f"{module} failed under strace.\n{done.stderr[-2_000:]}")
    with trace.open() as lines:
        events = list(_Reader(str(root)).events(lines))
    trace.unlink()
    return events


_CALL = re.compile(r"(\d+) +(\w+)\((.*)\) += (0x[0-9a-f]+|-?\d+|\?)(?:<(.*?)>)?(?:[ (].*)?$", re.S)
_UNFINISHED = re.compile(r"(\d+) +(\w+)\((.*?) *<unfinished \.\.\.>$", re.S)
_RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)$", re.S)
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
_ANY_PATH = re.compile(r"<(.*?)>")
_FD = re.compile(r"^(-?\w+)(?:<(.*?)>)?(?:, |$)")


class _Reader:
    """Reads the lines of a trace."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._places: dict[str, int] = {}
        self._begun: dict[str, str] = {}

    def events(self, lines: Iterator[str]) -> Iterator[Event]:
        """Yield what happened below the root, and what was printed."""
        for line in lines:
            text = line.rstrip("\n")
            if found := _UNFINISHED.match(text):
                self._begun[found[1]] = f"{found[1]} {found[2]}({found[3]}"
                continue
            if found := _RESUMED.match(text):
                text = self._begun.pop(found[1]) + found[3]
            found = _CALL.match(text)
            if found is None or found[4] == "?" or int(found[4], 0) < 0:
                continue  # a signal, the end of a process, or a call that failed
            yield from self._event(found[2], found[3], int(found[4], 0), found[5] or "")

    def _event(self, call: str, rest: str, result: int, opened: str) -> Iterator[Event]:
        if call in ("openat", "open", "creat"):
            yield from self._open(rest, opened)
        elif call in ("write", "pwrite64"):
            yield from self._write(call, rest, result)
        elif call in ("fsync", "fdatasync"):
            if self._is_ours(path := _path_of(rest)):
                yield Sync(path)
        elif call == "ftruncate":
            if self._is_ours(path := _path_of(rest)):
                yield Truncate(path, int(rest.rpartition(", ")[2]))
        elif call == "mmap":
            self._refuse_mapping(rest)
        elif what := _NAMES.get(call):
            yield from self._names(what, rest)
        else:
            ours = any(self._is_ours(_plain(path)) for path in _ANY_PATH.findall(rest))
            assert not ours, f"The trace has a call that is not understood: {call}({rest:.200})"

    def _open(self, rest: str, opened: str) -> Iterator[Event]:
        path = _plain(opened)
        if not self._is_ours(path):
            return
        self._places[path] = 0
        if "O_CREAT" in rest:
            yield Name("create", path)
        if "O_TRUNC" in rest:
            yield Truncate(path, 0)

    def _write(self, call: str, rest: str, result: int) -> Iterator[Event]:
        descriptor = rest.split("<", 1)[0].split(",", 1)[0]
        path = _path_of(rest)
        strings = _STRING.search(rest)
        if call == "write" and descriptor == "1" and strings is not None:
            for line in _bytes_of(strings).decode().splitlines():
                yield Said(line)
            return
        if not self._is_ours(path):
            return
        assert strings is not None, rest
        assert not strings[2], f"A write was cut in the trace: {path}"
        data = _bytes_of(strings)[:result]
        if call == "pwrite64":
            yield Write(path, int(rest.rpartition(", ")[2]), data)
        else:  # through a descriptor that was opened at its beginning and only written
            place = self._places.get(path, 0)
            self._places[path] = place + result
            yield Write(path, place, data)

    def _names(self, what: str, rest: str) -> Iterator[Event]:
        paths = [_bytes_of(found).decode() for found in _STRING.finditer(rest)]
        if any(self._is_ours(path) for path in paths):
            yield Name(what, *paths)

    def _refuse_mapping(self, rest: str) -> None:
        shared = "MAP_SHARED" in rest and "PROT_WRITE" in rest
        for path in map(_plain, _ANY_PATH.findall(rest)):
            unseen = shared and self._is_ours(path)
            assert not unseen, f"{path} is written through memory, which a trace cannot see."

    def _is_ours(self, path: str) -> bool:
        ours = path == self._root or path.startswith(self._root + "/")
        return ours and not path.endswith("-shm")


def _path_of(rest: str) -> str:
    found = _FD.match(rest)
    return "" if found is None else _plain(found[2] or "")


def _plain(path: str) -> str:
    """Return a path from the trace, in which -xx writes every letter as a number."""
    if "\\x" in path:
        path = bytes.fromhex(path.replace("\\x", "")).decode()
    return path.removesuffix(" (deleted)")


def _bytes_of(found: re.Match[str]) -> bytes:
    return bytes.fromhex(found[1].replace("\\x", ""))
