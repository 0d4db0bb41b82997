"""At which share half of the strings are found by n-grams: what a plan says, and simulated reports.

    python benchmarks/plan_ngrams.py [--only K]

Crowds of 1 / s random strings of share s each are simulated, reported and decoded, for four shares
s around the one where half are found; the share of one half is that of a line through the probits.
The whole table takes about half an hour.

Printed per setting: the share that a plan says, the parts that were found at the four shares, the
measured share with its standard error, and measured over said.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from deniable.discover.ngrams.discovery import discover_ngrams
from deniable.mechanisms import NGrams
from deniable.plan.unlisted_strings import smallest_found
from deniable.protocol import Strings

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
NEAR, FAR = (0.88, 0.96, 1.04, 1.13), (0.8, 0.93, 1.07, 1.25)
RARE = 1_000
"""Strings that those hold who hold none of the others."""


@dataclass(frozen=True)
class Asked:
    """A setting, the share around which is measured, and how many crowds of each share."""

    letters: int
    length: int
    n: int
    epsilon: float
    people: int
    around: float
    runs: int
    ladder: tuple[float, ...] = NEAR


SETTINGS = {
    "A": Asked(26, 4, 2, 4.0, 100_000, 0.0192, 16),
    "B": Asked(26, 8, 2, 4.0, 100_000, 0.0348, 16),
    "C": Asked(36, 6, 3, 3.0, 100_000, 0.0362, 16),
    "H": Asked(8, 8, 2, 4.0, 100_000, 0.0327, 16),
    "K": Asked(26, 8, 2, 2.0, 100_000, 0.107, 30),
    "D": Asked(10, 6, 2, 2.0, 1_000_000, 0.0267, 3),
    "E": Asked(26, 12, 3, 4.0, 1_000_000, 0.0204, 2),
    "F": Asked(16, 4, 2, 1.0, 1_000_000, 0.039, 6, FAR),
    "G": Asked(26, 20, 2, 4.0, 1_000_000, 0.0393, 2),
    "I": Asked(26, 9, 3, 2.0, 1_000_000, 0.0285, 3),
    "J": Asked(36, 20, 2, 2.07, 1_000_000, 0.122, 4),
}


def names(rng: np.random.Generator, domain: Strings, count: int) -> list[str]:
    """Return different strings of full length."""
    made: dict[str, None] = {}
    while len(made) < count:
        made["".join(rng.choice(list(domain.letters), size=domain.length))] = None
    return list(made)


def part_found(
    mechanism: NGrams, domain: Strings, share: float, people: int, rng: np.random.Generator
) -> float:
    """Return the part of the strings of a share that one crowd finds."""
    count = int(1 / share + 1e-9)
    strings = names(rng, domain, count + RARE)
    law = np.repeat([share, (1 - count * share) / RARE], [count, RARE])
    codes = rng.choice(len(strings), size=people, p=law / law.sum())
    result = discover_ngrams(mechanism, mechanism.simulate(codes, rng, strings), domain)
    return len({row.value for row in result.found} & set(strings[:count])) / count


def crossing(ladder: tuple[float, ...], parts: list[float]) -> tuple[float, float]:
    """Return where a line through the probits is 0, as a factor, and its slope."""
    slope, at = np.polyfit(np.log(ladder), stats.norm.ppf(np.clip(parts, 0.02, 0.98)), 1)
    return math.exp(-at / slope), float(slope)


def row_of(name: str) -> dict[str, object]:
    """Return a row of the table."""
    asked = SETTINGS[name]
    domain = Strings("".join(sorted(LETTERS[: asked.letters])), asked.length)
    mechanism = NGrams(
        alphabet=domain.alphabet, length=asked.length, epsilon=asked.epsilon, n=asked.n
    )
    said = smallest_found(mechanism.parameters, domain, asked.people)
    parts, strings = [], 0
    for factor in asked.ladder:
        rng, share = np.random.default_rng([ord(name), int(1000 * factor)]), asked.around * factor
        crowds = [
            part_found(mechanism, domain, share, asked.people, rng) for _ in range(asked.runs)
        ]
        parts.append(float(np.mean(crowds)))
        strings += asked.runs * int(1 / share)
    factor, slope = crossing(asked.ladder, parts)
    half = asked.around * factor
    # A probit near one half has the standard error sqrt(pi / 2 / strings).
    error = math.sqrt(math.pi / 2 / strings) / slope
    shown = asked.letters, asked.length, asked.n, asked.epsilon, asked.people
    return {
        "setting": dict(zip(("letters", "length", "n", "epsilon", "people"), shown, strict=True)),
        "said": round(said, 5),
        "found": [round(part, 3) for part in parts],
        "measured": round(half, 5),
        "ratio": round(half / said, 3),
        "error": round(error, 3),
    }


def main() -> None:
    """Print a row per setting."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=SETTINGS, action="append", help="this one; repeatable")
    for name in parser.parse_args().only or SETTINGS:
        print(json.dumps({"name": name, **row_of(name)}), flush=True)


if __name__ == "__main__":
    main()
