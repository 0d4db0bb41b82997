"""Measuring and printing, shared by the benchmarks: rates and ratios from one run."""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Rate:
    """The performance of one contestant: `work` units in `seconds`."""

    name: str
    work: float
    seconds: float

    @property
    def per_second(self) -> float:
        """Units per second."""
        return self.work / self.seconds


def rate(name: str, work: float, run: Callable[[], object], seconds: float = 1.0) -> Rate:
    """Run until `seconds` have passed, at least once, and keep the fastest run.

    The fastest, because whatever else the machine does can only add time. Compile first.
    """
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        run()
        now = time.perf_counter()
        best = min(best, now - start)
        if now >= end:
            return Rate(name, work, best)


def read_bandwidth(size: int = 2**28) -> Rate:
    """Return how fast one core reads memory, in bytes: the physical limit of counting."""
    memory = np.ones(size // 8, dtype=np.uint64)
    return rate("reading memory, one core", size, lambda: np.bitwise_xor.reduce(memory))


def arguments(description: str | None, **numbers: tuple[int, str]) -> argparse.Namespace:
    """Return the command line: `--json`, and the given whole numbers with defaults and help."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    for name, (default, text) in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{text} ({default:,})")
    return parser.parse_args()


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python, of packages, and the processor's name."""
    found = {"python": platform.python_version(), "machine": _processor()}
    return found | {package: metadata.version(package) for package in packages}


def _processor() -> str:
    """Return the processor's name where the system tells it."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def show(
    title: str, unit: str, rates: Sequence[Rate], used: dict[str, str], *, as_json: bool
) -> None:
    """Print every rate and how many times faster the first is; the first is ours."""
    ours = rates[0].per_second
    rows = [
        {"name": r.name, "per_second": r.per_second, "ours_over_it": ours / r.per_second}
        for r in rates
    ]
    if as_json:
        print(json.dumps({"title": title, "unit": unit, "rows": rows, "versions": used}))
        return
    print(f"{title}, {unit} per second")
    width = max(len(r.name) for r in rates)
    for r in rates:
        print(f"  {r.name:{width}}  {r.per_second:14.4g}  ours is {ours / r.per_second:10.4g} x")
    print("  " + ", ".join(f"{name} {version}" for name, version in used.items()))
