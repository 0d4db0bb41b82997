"""Tasks of the sampling audit, here or in several processes."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deniable.audit.sample.batches import Sampled, Task, perform
from deniable.client.randomness import SystemDraws
from deniable.protocol.registry import PLUGINS, load_plugin

Done = tuple[Task, list[tuple[int, Sampled]]]
AHEAD = 4
"""The number of tasks in flight per process: none is idle, and little waits in memory."""


@dataclass(frozen=True)
class Workers:
    """The processes that perform tasks.

    Attributes:
        pool: of processes; None for this one alone.
        count: the number of processes at work at the same time.
        draws: of this process.
    """

    pool: ProcessPoolExecutor | None
    count: int
    draws: SystemDraws

    def each(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Perform tasks, and yield each with its result, in any order."""
        if self.pool is None:
            for task in tasks:
                yield task, perform(task, self.draws)
            return
        waiting, running = list(reversed(tasks)), dict[Future[list[tuple[int, Sampled]]], Task]()
        while waiting or running:
            while waiting and len(running) < AHEAD * self.count:
                task = waiting.pop()
                pickle.dumps(task)  # what cannot be sent must fail here: a pool would wait for ever
                running[self.pool.submit(perform, task)] = task
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield running.pop(future), future.result()


@contextmanager
def workers(processes: int, draws: SystemDraws) -> Iterator[Workers]:
    """Yield workers, and stop them at the end.

    Edge cases: processes are started afresh, not forked: no secret or coin of this one is in them,
    and each draws from the operating system by itself.
    """
    if processes == 1:
        yield Workers(None, 1, draws)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        processes, mp_context=context, initializer=_begin, initargs=(tuple(PLUGINS),)
    ) as pool:
        try:
            yield Workers(pool, processes, draws)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin(plugins: Sequence[Path]) -> None:
    """Load the files that the first process has loaded: their mechanisms are in the tasks."""
    for file in plugins:
        load_plugin(file)
