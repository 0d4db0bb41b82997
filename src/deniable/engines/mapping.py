"""Engines that map one function over files: threads and processes of one machine.

    files -> fold.read, in any order, by whoever is free -> fold.merge -> partial results

A fold says what is done with a file and how results go together; an engine says where. Merging is
associative and commutative, so that no result depends on the engine (`spark.py` is another one).
"""

from __future__ import annotations

import multiprocessing
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from deniable import _validate

T = TypeVar("T")
Item = TypeVar("Item")
MOST_WORKERS = 256


class Fold(ABC, Generic[T]):
    """One verb over the files of an archive; it must survive pickling.

    Attributes:
        weight: about the bytes of a packed result, by which an engine chooses how to merge.
    """

    weight: int = 0

    @abstractmethod
    def read(self, path: str) -> T:
        """Return the result of one file, by its path or address."""

    @abstractmethod
    def merge(self, one: T, other: T) -> T:
        """Return the result of the files of both."""

    @abstractmethod
    def pack(self, result: T) -> bytes:
        """Return a result as bytes, which travel between machines."""

    @abstractmethod
    def unpack(self, data: bytes) -> T:
        """Return the result of packed bytes."""


class Engine(ABC):
    """A place where folds run."""

    name: str

    @abstractmethod
    def partials(self, fold: Fold[T], paths: Sequence[str]) -> Iterator[T]:
        """Yield results that cover every file once, in any order, merged or not."""

    def folded(
        self, fold: Fold[T], paths: Sequence[str], told: Callable[[T], None] | None = None
    ) -> T | None:
        """Return the result of all files; None of none.

        Args:
            fold: what is done with them.
            paths: the files.
            told: called with every partial result.
        """
        total: T | None = None
        for part in self.partials(fold, paths):
            if told is not None:
                told(part)
            total = part if total is None else fold.merge(total, part)
        return total


@dataclass(frozen=True)
class Threads(Engine):
    """Threads of this process: the loops that matter release the interpreter's lock.

    Args:
        workers: their number; one per processor by default.
    """

    workers: int | None = None
    name = "local"

    def partials(self, fold: Fold[T], paths: Sequence[str]) -> Iterator[T]:
        """Yield the results of single files."""
        with in_threads(workers_of(self.workers)) as pool:
            yield from mapped(pool, fold.read, paths, workers_of(self.workers))


@dataclass(frozen=True)
class Processes(Engine):
    """Processes of this machine, each with an interpreter of its own.

    Args:
        workers: their number; one per processor by default.
    """

    workers: int | None = None
    name = "processes"

    def partials(self, fold: Fold[T], paths: Sequence[str]) -> Iterator[T]:
        """Yield the results of single files."""
        workers = min(workers_of(self.workers), max(1, len(paths)))
        # A fork would copy locks that other threads hold.
        fresh = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=fresh) as pool:
            yield from mapped(pool, fold.read, paths, workers)


def in_threads(workers: int) -> Executor:
    """Return a pool of threads that count."""
    return ThreadPoolExecutor(workers, thread_name_prefix="deniable-accumulate")


def mapped(
    pool: Executor, function: Callable[[Item], T], items: Iterable[Item], workers: int
) -> Iterator[T]:
    """Yield function(item) for every item, in any order, with few items waiting at a time."""
    waiting = iter(items)
    running: set[Future[T]] = set()
    try:
        running |= {pool.submit(function, item) for item in islice(waiting, 2 * workers)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
            running |= {pool.submit(function, item) for item in islice(waiting, len(done))}
    finally:
        for future in running:
            future.cancel()


def workers_of(wanted: int | None) -> int:
    """Return the number of workers: as wanted, or one per processor this process may use.

    Raises:
        InvalidParameter: unless it is from 1 to 256.
    """
    if wanted is not None:
        return _validate.integer("threads", "accumulate", wanted, 1, MOST_WORKERS)
    may_use = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return min(MOST_WORKERS, len(may_use) or os.cpu_count() or 1)
