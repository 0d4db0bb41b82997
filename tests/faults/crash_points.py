"""Every image that a power cut may leave, opened by the real code and checked."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from faults.kills import Progress
from faults.outcome import Outcome
from faults.recording import Event
from faults.replaying import Image, cuts, images

Check = Callable[[Path, tuple[str, ...], Outcome], None]
"""Opens what was left in a folder, given what was said before, and counts what is amiss."""

_MEMORY = Path("/dev/shm")  # noqa: S108 - a place in memory, used through tempfile


def replay(
    events: Sequence[Event],
    root: str,
    check: Check,
    outcome: Outcome,
    *,
    seed: int,
    most: int,
    part: int = 0,
    parts: int = 1,
    progress: Progress = lambda _: None,
) -> Outcome:
    """Check what a power cut may leave at every moment of a recording.

    Args:
        events: the recording.
        root: the folder that it was made in.
        check: opens and checks an image.
        outcome: where points and faults are counted.
        seed: of what is drawn.
        most: images for each moment.
        part, parts: take every `parts`-th moment, beginning with number `part`.
        progress: called with the number of points since the last call.
    """
    began, seen = time.monotonic(), set[bytes]()
    for number, cut in enumerate(cuts(events, root)):
        if number % parts != part:
            continue
        rng, before = random.Random(f"{seed} {number}"), outcome.points
        for image in images(cut, root, rng, most):
            if (digest := image.digest()) not in seen:
                seen.add(digest)
                _check(image, root, number, check, outcome)
        progress(outcome.points - before)
    outcome.seconds += time.monotonic() - began
    return outcome


def _check(image: Image, root: str, number: int, check: Check, outcome: Outcome) -> None:
    here = str(_MEMORY) if _MEMORY.is_dir() else None
    place = Path(tempfile.mkdtemp(prefix="deniable-", dir=here))
    before = outcome.faults
    try:
        image.write(root, place)
        check(place, image.said, outcome)
    except Exception as error:  # whatever the real code raises here, a start would have raised
        outcome.expect(False, f"{type(error).__name__}: {error}")
    finally:
        shutil.rmtree(place, ignore_errors=True)
    outcome.points += 1
    if outcome.faults > before:
        outcome.note(f"  at cut {number}, with {image.how}, after {image.said[-1:]}")
