"""Every image that a power cut may leave, opened by the real code and checked."""

from __future__ import annotations

import multiprocessing
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from faults.kills import Progress
from faults.outcome import Outcome
from faults.recording import Event
from faults.replaying import Image, cuts, images

Check = Callable[[Path, tuple[str, ...], Outcome], None]
"""Opens what was left in a folder, given what was said before, and counts what is amiss."""

FEWEST, MOST = 4, 24
"""Images for each moment in one pass; another pass draws others."""

_PASSES = 20
_PARTS = 32
_MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it get random names


def replay(
    events: Sequence[Event],
    root: str,
    check: Check,
    wanted: int,
    seed: int,
    part: int = 0,
    parts: int = 1,
) -> Outcome:
    """Check what a power cut may leave at every moment of a recording.

    Every moment is looked at in the first pass, so that there may be more points than wanted.

    Args:
        events: the recording.
        root: the folder that it was made in.
        check: opens and checks an image.
        wanted: different images; fewer if there are no more.
        seed: of what is drawn.
        part, parts: take every `parts`-th moment, beginning with number `part`.
    """
    outcome, began, seen = Outcome("power cuts"), time.monotonic(), set[bytes]()
    moments = [(n, cut) for n, cut in enumerate(cuts(events, root)) if n % parts == part]
    most = min(MOST, max(FEWEST, 2 * wanted // len(moments)))
    for turn in range(_PASSES):
        before = outcome.points
        for number, cut in moments:
            rng = random.Random(f"{seed} {turn} {number}")
            for image in images(cut, root, rng, most):
                if (digest := image.digest()) not in seen:
                    seen.add(digest)
                    _check(image, root, number, check, outcome)
            if turn and outcome.points >= wanted:
                break
        if outcome.points >= wanted or outcome.points == before:
            break
    outcome.seconds = time.monotonic() - began
    return outcome


def replay_on_all_processors(
    events: Sequence[Event],
    root: str,
    check: Check,
    wanted: int,
    seed: int,
    processes: int,
    progress: Progress = lambda _: None,
) -> Outcome:
    """Do as `replay`, in several processes."""
    total, began = Outcome("power cuts"), time.monotonic()
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        tasks = [
            pool.submit(replay, events, root, check, -(-wanted // _PARTS), seed, part, _PARTS)
            for part in range(_PARTS)
        ]
        for task in as_completed(tasks):
            outcome = task.result()
            total.add(outcome)
            progress(outcome.points)
    total.seconds = time.monotonic() - began
    return total


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
