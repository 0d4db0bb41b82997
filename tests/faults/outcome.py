"""What a driver counts, and how its counts are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

SHOWN = (
    "kills",
    "points",
    "acknowledged",
    "retries",
    "duplicates",
    "lost",
    "doubled",
    "wrong",
    "damaged",
)
_MOST_NOTES = 20


@dataclass
class Outcome:
    """What became of everything that one driver did.

    Attributes:
        name: the driver's name.
        kills: processes ended by SIGKILL in the middle of their work.
        points: images of a disk after a power cut, each one checked.
        acknowledged: reports that somebody was told are kept.
        retries: requests or starts that had to be made again.
        duplicates: reports that were told to be there already.
        lost: acknowledged and not there.
        doubled: there twice, or an epoch that was answered twice.
        wrong: numbers that should agree and do not, in plain words in `notes`.
        damaged: files that fail SQLite's integrity check.
        seconds: how long it took.
    """

    name: str
    kills: int = 0
    points: int = 0
    acknowledged: int = 0
    retries: int = 0
    duplicates: int = 0
    lost: int = 0
    doubled: int = 0
    wrong: int = 0
    damaged: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    missing: set[int] = field(default_factory=set, repr=False)
    """The numbers that were counted as lost, so that a later look does not count them again."""
    disagreement: int = field(default=0, repr=False)

    @property
    def faults(self) -> int:
        """Everything that must be zero, added up."""
        return self.lost + self.doubled + self.wrong + self.damaged

    def note(self, text: str) -> None:
        """Keep a sentence about a fault, unless there are many already."""
        if len(self.notes) < _MOST_NOTES:
            self.notes.append(text)

    def lose(self, count: int, text: str) -> None:
        """Count lost reports, if there are any."""
        self._add("lost", count, text)

    def double(self, count: int, text: str) -> None:
        """Count doubled reports, if there are any."""
        self._add("doubled", count, text)

    def expect(self, held: bool, text: str) -> None:
        """Count something wrong unless it held."""
        self._add("wrong", not held, text)

    def damage(self, problem: str | None) -> None:
        """Count a file that fails its check."""
        self._add("damaged", problem is not None, str(problem))

    def _add(self, kind: str, count: int, text: str) -> None:
        if count:
            setattr(self, kind, getattr(self, kind) + int(count))
            self.note(f"{kind} {int(count):,}: {text}")

    def add(self, other: Outcome) -> None:
        """Add another outcome's counts to this one's."""
        for name in (*SHOWN, "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for text in other.notes:
            self.note(text)

    def as_json(self) -> dict[str, object]:
        """Return all counts, and the sum that must be zero."""
        counts = {name: getattr(self, name) for name in ("name", *SHOWN, "seconds", "notes")}
        return {**counts, "faults": self.faults}


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a table with one line per driver, a line with the sums, and all notes."""
    total = Outcome("all")
    for outcome in outcomes:
        total.add(outcome)
    head = f"{'driver':18}" + "".join(f"{name:>14}" for name in SHOWN) + f"{'seconds':>9}"
    lines = [head]
    for outcome in (*outcomes, total):
        numbers = "".join(f"{getattr(outcome, name):>14,}" for name in SHOWN)
        lines.append(f"{outcome.name:18}{numbers}{outcome.seconds:>9.0f}")
    for outcome in outcomes:
        lines += [f"{outcome.name}: {text}" for text in outcome.notes]
    return "\n".join(lines)
