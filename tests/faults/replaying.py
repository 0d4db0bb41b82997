"""What a power cut may leave on the disk, from a recording of writes and syncs.

Model. A file's data since its last sync may be there or not, write by write, and each write whole,
cut after some sectors, or in every other sector. A name that was made, moved or removed since the
last sync of its folder is there or not, change by change; syncing a file does not sync its name.
That is what POSIX promises and less than most file systems do. Bytes outside of a write are not
harmed by it, which is what SQLite relies on too (powersafe overwrite).

A cut is tried just before every sync, and at the end: whatever reaches the disk between two syncs
is one of the subsets of what was written between them.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from faults.recording import Event, Name, Said, Sync, Truncate, Write

SECTORS = (512, 4096)


@dataclass(frozen=True)
class Pending:
    """A change that is not synced: of the data of a file, or of a name."""

    file: int
    change: Write | Truncate | Name


@dataclass(frozen=True)
class Cut:
    """A moment: what is on the disk for certain, what may be, and what was promised before."""

    names: dict[str, int]
    data: dict[int, bytes]
    folders: frozenset[int]
    pending: tuple[Pending, ...]
    said: tuple[str, ...]


@dataclass(frozen=True)
class Image:
    """What a power cut left: the folders, and the files with their bytes."""

    folders: frozenset[str]
    files: dict[str, bytes]
    said: tuple[str, ...]
    how: str

    def digest(self) -> bytes:
        """Return a hash of the image and of how much was promised."""
        text = hashlib.sha256(f"{len(self.said)} {sorted(self.folders)}".encode())
        for path, data in sorted(self.files.items()):
            text.update(path.encode() + hashlib.sha256(data).digest())
        return text.digest()

    def write(self, root: str, place: Path) -> None:
        """Write the image below another folder."""
        for path in sorted(self.folders):
            (place / path.removeprefix(root).lstrip("/")).mkdir(parents=True, exist_ok=True)
        for path, data in self.files.items():
            (place / path.removeprefix(root).lstrip("/")).write_bytes(data)


@dataclass
class _Disk:
    """The names and files as the process sees them, and what of them is durable."""

    root: str
    names: dict[str, int] = field(default_factory=dict)
    durable: dict[str, int] = field(default_factory=dict)
    data: dict[int, bytes] = field(default_factory=dict)
    folders: set[int] = field(default_factory=set)
    pending: list[Pending] = field(default_factory=list)

    def apply(self, event: Event) -> None:
        if isinstance(event, Write | Truncate):
            self.pending.append(Pending(self._file(event.path), event))
        elif isinstance(event, Name):
            self._name(event)
        elif isinstance(event, Sync):
            self._sync(event.path)

    def _file(self, path: str) -> int:
        return self.names[path]

    def _name(self, event: Name) -> None:
        if event.what in ("create", "mkdir"):
            if event.path in self.names or event.path == self.root:
                return
            number = len(self.data)
            self.data[number] = b""
            self.names[event.path] = number
            if event.what == "mkdir":
                self.folders.add(number)
        elif event.what == "unlink":
            number = self.names.pop(event.path)
        else:
            number = self.names[event.path]
            if event.what == "rename":
                del self.names[event.path]
            self.names[event.target] = number
        self.pending.append(Pending(number, event))

    def _sync(self, path: str) -> None:
        if path == self.root or self.names.get(path) in self.folders:
            mine = [p for p in self.pending if _is_name_in(p, path)]
            rename(self.durable, mine)
        else:
            number = self.names.get(path)
            mine = [p for p in self.pending if p.file == number and not _is_name(p)]
            for one in mine:
                self.data[one.file] = changed(self.data[one.file], one.change)
        self.pending = [p for p in self.pending if p not in mine]


def cuts(events: Sequence[Event], root: str) -> Iterator[Cut]:
    """Yield the moment before every sync that has something to sync, and the last one."""
    disk, said = _Disk(root), []
    for event in events:
        if isinstance(event, Said):
            said.append(event.line)
            continue
        if isinstance(event, Sync) and disk.pending:
            yield _cut(disk, said)
        disk.apply(event)
    yield _cut(disk, said)


def _cut(disk: _Disk, said: list[str]) -> Cut:
    return Cut(
        dict(disk.durable),
        dict(disk.data),
        frozenset(disk.folders),
        tuple(disk.pending),
        tuple(said),
    )


def images(cut: Cut, root: str, rng: random.Random, most: int) -> Iterator[Image]:
    """Yield what a power cut may leave at a moment: at most so many images, these first.

    Nothing that is pending; all of it; its beginnings; each change alone; all but one; each
    write torn, among all that came before it or alone; random subsets.
    """
    everything = list(cut.pending)
    yield _image(cut, root, [], "nothing pending")
    if not everything:
        return
    yield _image(cut, root, everything, "all pending")
    choices = list(_choices(everything, rng, most))
    rng.shuffle(choices)
    for kept, how in choices[: most - 2]:
        yield _image(cut, root, kept, how)


def _choices(
    everything: list[Pending], rng: random.Random, most: int
) -> Iterator[tuple[list[Pending], str]]:
    for place, one in enumerate(everything):
        yield everything[:place], f"the first {place} of {len(everything)}"
        yield [one], f"only change {place}"
        yield everything[:place] + everything[place + 1 :], f"all but change {place}"
        for torn in _torn(one, rng):
            yield [*everything[:place], *torn], f"change {place} torn, after all before it"
            yield torn, f"change {place} torn, alone"
            yield (
                [*everything[:place], *torn, *everything[place + 1 :]],
                f"change {place} torn, among all",
            )
    for _ in range(max(8, most // 4)):
        share = rng.random()
        yield [one for one in everything if rng.random() < share], "a random subset"


def _torn(one: Pending, rng: random.Random) -> Iterator[list[Pending]]:
    """Yield parts of a write that sectors may have: a beginning, or every other one."""
    write = one.change
    if not isinstance(write, Write):
        return
    for sector in SECTORS:
        edges = list(range(-write.offset % sector, len(write.data), sector))
        edges = sorted({0, *edges, len(write.data)})
        if len(edges) < 3:
            continue
        cut = rng.choice(edges[1:-1])
        yield [_part(one, 0, cut)]
        pieces = list(pairwise(edges))
        for first in range(2):
            yield [_part(one, start, end) for start, end in pieces[first::2]]


def _part(one: Pending, start: int, end: int) -> Pending:
    write = one.change
    assert isinstance(write, Write)
    return Pending(one.file, Write(write.path, write.offset + start, write.data[start:end]))


def _image(cut: Cut, root: str, kept: Sequence[Pending], how: str) -> Image:
    names, data = dict(cut.names), {}
    rename(names, [one for one in kept if _is_name(one)])
    for one in kept:
        if not isinstance(one.change, Name):
            data[one.file] = changed(data.get(one.file, cut.data[one.file]), one.change)
    folders = {root}
    files = {}
    for path, number in sorted(names.items()):
        if path.rpartition("/")[0] not in folders:
            continue  # its folder's own name is lost, and it with it
        if number in cut.folders:
            folders.add(path)
        else:
            files[path] = data.get(number, cut.data[number])
    return Image(frozenset(folders), files, cut.said, how)


def rename(names: dict[str, int], changes: Sequence[Pending]) -> None:
    """Carry out changes of names, in order; one whose ground is missing has no effect."""
    for one in changes:
        change = one.change
        assert isinstance(change, Name)
        if change.what in ("create", "mkdir"):
            names[change.path] = one.file
        elif change.what == "link":
            names[change.target] = one.file
        elif names.get(change.path) == one.file:
            del names[change.path]
            if change.what == "rename":
                names[change.target] = one.file


def changed(data: bytes, change: Write | Truncate | Name) -> bytes:
    """Return a file's bytes after a write or a cut; holes are zeros."""
    if isinstance(change, Truncate):
        return data[: change.size].ljust(change.size, b"\0")
    assert isinstance(change, Write)
    end = change.offset + len(change.data)
    return data[: change.offset].ljust(change.offset, b"\0") + change.data + data[end:]


def _is_name(one: Pending) -> bool:
    return isinstance(one.change, Name)


def _is_name_in(one: Pending, folder: str) -> bool:
    change = one.change
    if not isinstance(change, Name):
        return False
    return folder in (change.path.rpartition("/")[0], change.target.rpartition("/")[0])
