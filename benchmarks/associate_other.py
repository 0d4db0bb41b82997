"""The bias of known cells under each profile of "other", with 20% of the people unlisted.

Bloom filters (k=128, h=2, m=16, epsilon 3 each), five strings listed per field and some more that
nobody listed, the same ones in all runs. Printed per profile: the bias of the 25 cells of listed
strings in units of their standard deviation over the runs, as the root of the mean square and the
largest, beside what noise alone would show (1 over the root of the runs), and the mass that "other"
of the first field was found to have (truth: 0.2).
"""

from __future__ import annotations

import json

import numpy as np

from _measure import arguments
from deniable.associate import Variable
from deniable.associate.joint import independent_table, marginal_fits
from deniable.associate.other import PROFILES
from deniable.associate.patterns import patterns_of
from deniable.decode import fit_rows
from deniable.mechanisms import Rappor

MECHANISM = Rappor(bits=128, hashes=2, cohorts=16, epsilon=3.0)
LISTED = 0.8 * np.array([0.3, 0.25, 0.2, 0.15, 0.1])
TOGETHER = 0.3


def tables(n: int, unlisted: int, seed: int) -> dict[str, np.ndarray]:
    """Return one population's 6 x 6 table under each profile."""
    rng = np.random.default_rng(seed)
    names = [f"string {number}" for number in range(5 + unlisted)]
    share = np.append(LISTED, np.full(unlisted, 0.2 / unlisted))
    x, y = rng.choice(share.size, (2, n), p=share)
    y = np.where(rng.random(n) < TOGETHER, x, y)
    fields = [
        Variable(name, MECHANISM, MECHANISM.simulate(codes, rng, names), tuple(names[:5]))
        for name, codes in (("a", x), ("b", y))
    ]
    found = {}
    for profile in PROFILES:
        patterns = patterns_of(fields, profile=profile)
        start = independent_table(marginal_fits(patterns))
        found[profile] = fit_rows(patterns, start=start).weights.reshape(6, 6)
    return found


def main() -> None:
    """Print a row per profile and number of unlisted strings."""
    options = arguments(__doc__, people=(100_000, "reports, n"), runs=(16, "populations"))
    margin = np.append(LISTED, 0.2)
    truth = (1 - TOGETHER) * np.outer(margin, margin) + TOGETHER * np.diag(margin)
    rows = []
    for unlisted in (1, 5, 20, 300):
        runs = [tables(options.people, unlisted, seed) for seed in range(options.runs)]
        for profile in PROFILES:
            every = np.array([run[profile] for run in runs])
            scaled = ((every.mean(axis=0) - truth) / every.std(axis=0, ddof=1))[:5, :5]
            row = {
                "unlisted": unlisted,
                "profile": profile,
                "rms": float(np.sqrt(np.mean(scaled**2))),
                "largest": float(np.abs(scaled).max()),
                "noise": options.runs**-0.5,
                "other": float(every.mean(axis=0)[5].sum()),
            }
            rows.append(row)
            if not options.json:
                print("  ".join(f"{key} {value:.3g}" if isinstance(value, float)
                                else f"{key} {value}" for key, value in row.items()))  # fmt: skip
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
