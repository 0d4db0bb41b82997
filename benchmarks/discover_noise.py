"""How often the final test of a discovery reports anything where there is nothing to find.

    python benchmarks/discover_noise.py [--runs 1000] [--people 20000]

Every run has a crowd in which everybody holds a string of their own, so that none is above any
limit, and tests 1,000 strings that nobody holds on its verification group. Under Holm at 5% at most
one run in twenty should report something; printed is the share of runs that do.
"""

from __future__ import annotations

import numpy as np

from _measure import arguments
from deniable.discover.group_estimates import Table
from deniable.discover.verify import verify
from deniable.mechanisms import Prefixes

TESTED = 1_000
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTH = 8


def strings(rng: np.random.Generator, count: int) -> list[str]:
    """Return a number of different random strings."""
    found: dict[str, None] = {}
    while len(found) < count:
        for row in rng.choice(list(LETTERS), size=(count, LENGTH)):
            found["".join(row)] = None
    return list(found)[:count]


def reports_something(mechanism: Prefixes, people: int, rng: np.random.Generator) -> bool:
    """Tell whether one run marks a string that nobody holds."""
    named = strings(rng, people + TESTED)
    held, tested = named[:people], named[people:]
    counts = mechanism.accumulate(mechanism.simulate(np.arange(people), rng, held))
    table = Table.of(mechanism, counts, mechanism.parameters.verification)
    return any(row.holm for row in verify(tested, table, people))


def main() -> None:
    """Print the share of runs that report something."""
    options = arguments(
        __doc__, runs=(1_000, "runs"), people=(20_000, "people of a crowd, each with one string")
    )
    mechanism = Prefixes(
        epsilon=4.0, alphabet=LETTERS, length=LENGTH, lengths=[LENGTH], cohorts=16, points=1_000
    )
    rng = np.random.default_rng(1)
    runs = [reports_something(mechanism, options.people, rng) for _ in range(options.runs)]
    share = float(np.mean(runs))
    error = float(np.sqrt(share * (1 - share) / len(runs)))
    print(f"{share:.3f} +- {error:.3f} of {len(runs):,} runs report something")


if __name__ == "__main__":
    main()
