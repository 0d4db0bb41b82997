"""Servers that ask for more than the app's survey does, and servers that mark devices.

Each attempt shows surveys of its own to a real client over HTTP. It fails if the device tells the
server no more than it tells one that shows the app's own survey: reports, epsilon summed over all
versions of a question, days, segments.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from deniable.audit.attack.malicious_server import Life, Told, live
from deniable.audit.findings import Finding
from deniable.authoring import resolve
from deniable.protocol import Boolean, Field, Question, Survey
from deniable.protocol.segments import Segment

ABOUT = "a malicious server"
START = datetime(2026, 3, 2, 12, tzinfo=UTC)
LOOKS = 16
_UNTIL = date(2026, 12, 31)
_NEVER = date(2099, 12, 31)


def _question(name: str, repeat: str, send: str = "recorded") -> Question:
    krr = resolve("krr", {"epsilon": 1.0}, Boolean(), send == "always")
    field = Field("value", Boolean(), krr)
    return Question(name, 1, "?", "team", _UNTIL, 7, repeat, send, (field,))


OWN = Survey(
    "audit",
    "team",
    (
        _question("fresh", "epoch"),
        _question("same", "permanent"),
        _question("once", "once"),
        _question("always", "epoch", "always"),
    ),
    people=10**6,
)
"""The app's own survey: every way to repeat and to send."""

Change = Callable[[Question], Question]


def _shown(change: Change) -> Survey:
    return replace(OWN, questions=tuple(change(question) for question in OWN.questions))


def _louder(question: Question, epsilon: float = 15.9) -> Question:
    """Return a new version with more epsilon."""
    krr = resolve("krr", {"epsilon": epsilon}, Boolean(), question.absent)
    return replace(question, version=2, fields=(Field("value", Boolean(), krr),))


def _versions(first: int, last: int) -> list[Survey]:
    """Return the app's questions under other versions, a survey for each."""
    return [
        replace(OWN, questions=tuple(replace(q, version=version) for q in OWN.questions))
        for version in range(first, last + 1)
    ]


@dataclass(frozen=True)
class Attempt:
    """The surveys that a server shows, in turn, and the life of the device meanwhile."""

    name: str
    shown: tuple[Survey, ...]
    life: Life


def _levels() -> Survey:
    levels = (
        replace(_louder(question, epsilon), level=name)
        for question in OWN.questions
        for name, epsilon in (("first", 8.0), ("second", 0.5))
    )
    return replace(OWN, questions=tuple(levels))


def attempts() -> Iterator[Attempt]:
    """Yield every attempt to learn more."""
    label = (Segment("platform", ("linux", "mac")),)
    now = Life(OWN, START)
    late = replace(now, start=datetime(2028, 6, 1, 12, tzinfo=UTC))
    few = replace(now, own=_shown(lambda q: replace(q, asked=1)))
    changes: tuple[tuple[str, Change, Life, int], ...] = (
        ("more epsilon by a new version", _louder, now, 1),
        ("an expiry in 2099", lambda q: replace(q, expires=_NEVER), late, 1),
        (
            "an expiry in 2099 by a new version",
            lambda q: replace(q, expires=_NEVER, version=2),
            late,
            1,
        ),
        ("a shorter epoch", lambda q: replace(q, epoch=1, version=2), replace(now, days=1), 7),
        (
            "once to epoch, permanent to epoch",
            lambda q: replace(q, repeat="epoch", version=2),
            replace(now, days=7),
            3,
        ),
        ("always to recorded", lambda q: _louder(replace(q, send="recorded"), 1.0), now, 1),
        ("segments", lambda q: replace(q, segments=label), now, 1),
        ("segments by a new version", lambda q: replace(q, segments=label, version=2), now, 1),
        ("a larger share of devices asked", lambda q: q, few, 1),
    )
    for name, change, life, times in changes:
        yield Attempt(name, (_shown(change),) * times, life)
    looks = f"{LOOKS} looks through {LOOKS} versions at the old epsilon"
    yield Attempt(looks, tuple(_versions(2, LOOKS + 1)), now)
    yield Attempt("levels", (_levels(),), now)
    yield Attempt("a higher ceiling", (replace(OWN, ceiling=10**9),), replace(now, ceiling=2.0))


def server_findings() -> list[Finding]:
    """Run every attempt against a real client, without the app's word and with it.

    Cost: some seconds; folders of some dozens of clients, all temporary.
    """
    with TemporaryDirectory(prefix="deniable-audit-") as place:
        folder = Path(place)
        found, fair = list[Finding](), dict[tuple[Life, int], Told]()
        for number, attempt in enumerate(attempts()):
            own, key = attempt.life.own, (attempt.life, len(attempt.shown))
            if key not in fair:
                fair[key] = live(folder / f"fair {number}", attempt.life, (own,) * key[1])
            found.append(_asked_for_more(attempt, folder / str(number), fair[key]))
        found.append(_known_by_bytes(folder / "bytes"))
        for mark, shown in (("version", _versions(101, 103)), ("question", _own_questions())):
            check = f"a {mark} of its own for each device"
            found.append(_known_by_digest(folder / mark, check, shown))
        found.append(_known_by_form(folder / "form"))
    return found


def _asked_for_more(attempt: Attempt, folder: Path, fair: Told) -> Finding:
    """Compare what a device tells a server with what it tells a fair one."""
    life = attempt.life
    pinned = tuple(hashlib.sha256(shown.published()).hexdigest() for shown in attempt.shown)
    words: tuple[tuple[str, bool | tuple[str, ...]], ...] = (
        ("without the app's word", False),
        ("with it", True),
        ("with pinned surveys", pinned),
    )
    parts, holds = [], True
    for name, trust in words:
        told = live(folder / name, replace(life, trust=trust), attempt.shown)
        holds = holds and not _more(told, fair)
        parts.append(f"{name} {told.reports.total()}")
    said = f"reports: {fair.reports.total()} under the app's own survey, {', '.join(parts)}"
    return Finding(ABOUT, attempt.name, holds, said)


def _more(told: Told, fair: Told) -> bool:
    """Tell whether a server learned more about any question than one that asks what the app does.

    Labels travel in clear, and are counted apart.
    """
    return any(
        told.reports[name] > fair.reports[name]
        or told.micros[name] > fair.micros[name]
        or told.labelled[name] > fair.labelled[name]
        or told.last[name] > fair.last.get(name, 0)
        for name in told.reports
    )


def _lives(folder: Path, shown: list[Survey], trust: bool | tuple[str, ...]) -> list[Told]:
    """Let one device live for each survey, which it is shown twice with a restart in between."""
    life = Life(OWN, START, days=7, trust=trust)
    return [live(folder / str(i), life, (each, each)) for i, each in enumerate(shown)]


def _known_by_bytes(folder: Path) -> Finding:
    """Give each device bytes of its own, and look whether anything comes back."""
    shown = [replace(OWN, owner=f"device {n}") for n in range(3)]
    told = _lives(folder, shown, False) + _lives(folder / "trusted", shown, True)
    alike = len({frozenset(one.heads) for one in told}) == 1
    return Finding(
        ABOUT,
        "survey bytes of its own for each device",
        alike and len({one.digests for one in told}) == 1,
        "the requests of 3 devices, before and after a restart, have the same heads and digests"
        if alike
        else "requests differ between devices",
    )


def _known_by_digest(folder: Path, check: str, shown: list[Survey]) -> Finding:
    """Give each device a contract of its own, and look whether reports carry its digest."""
    pinned = (hashlib.sha256(OWN.published()).hexdigest(),)
    told = _lives(folder, shown, False) + _lives(folder / "pinned", shown, pinned)
    own = {question.digest for question in OWN.questions}
    holds = all(one.digests <= own for one in told)
    return Finding(
        ABOUT,
        check,
        holds,
        "no report of 3 devices carries it, without the app's word or with pinned surveys"
        if holds
        else "reports carry a digest that marks the device",
    )


def _known_by_form(folder: Path) -> Finding:
    """Refuse one upload of a device, and look whether its other requests are as any device's."""
    heads = []
    for refusals in (0, 1):
        told = live(folder / str(refusals), Life(OWN, START, refusals=refusals), (OWN,))
        heads.append(Counter(told.heads))
    other = heads[1] - heads[0]
    holds = other.total() == 1  # the refused upload again, and nothing else
    return Finding(
        ABOUT,
        "a refused form for one device",
        holds,
        f"after one 415, {other.total()} of {heads[1].total()} requests has another form: the "
        "same reports in JSON"
        if holds
        else "after one 415, other requests of the device have another form too",
    )


def _own_questions() -> list[Survey]:
    """Return surveys with one more question each, which needs no value: it is always sent."""
    marks = (_question(f"mark{n}", "epoch", "always") for n in range(3))
    return [replace(OWN, questions=(*OWN.questions, mark)) for mark in marks]


NOTES = (
    "The malicious server is real, and so is its client; its survey is the audit's own, with every "
    "way to repeat and to send. SECURITY.md has the table of what such a server can still do.",
)
