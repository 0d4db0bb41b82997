"""How many strings prefix growth finds: by characters, and by codes of a trained model.

    python benchmarks/discover_found.py LIST [--runs 10] [--people 1000000] [--top 0.001]

LIST has a string per line, the most popular first. The first 100 of at most 20 characters are held
by simulated people with frequencies proportional to 0.963^i; with `--top S` the first has the share
S, the next ones S (1 - S)^i, down to a twentieth of S: with 0.001 there is hardly anything to
find, and what is found had better not be false. The model is trained on the other lines.

Printed per epsilon: strings found by Holm, false ones, further ones by Storey, false ones among
these, the frequency that the result calls learnable, the one that really divides found strings
from missed ones, and the seconds of a discovery, each a mean over the runs.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np

from deniable.discover import discover, simulated_counts, train
from deniable.mechanisms import Prefixes
from deniable.protocol import Strings

EPSILONS = (4.39, 2.07, 1.0)
HELD, LENGTH, RATIO = 100, 20, 0.963


def one_run(
    mechanism: Prefixes, domain: Strings, held: list[str], ratio: float, people: int, seed: int
) -> list[float]:
    """Return the numbers of one run."""
    shares = ratio ** np.arange(len(held))
    rng = np.random.default_rng(seed)
    counts, truth = simulated_counts(mechanism, held, shares / shares.sum(), people, rng)
    start = time.perf_counter()
    result = discover(mechanism, counts, domain)
    passed = time.perf_counter() - start
    found, likely = ({row.value for row in rows} for rows in (result.found, result.likely))
    good, more = (len(texts & truth.keys()) for texts in (found, likely))
    limits = [result.learnable, limit(truth, found)]
    return [good, len(found) - good, more, len(likely) - more, *limits, passed]


def limit(truth: dict[str, float], found: set[str]) -> float:
    """Return the share that divides found from missed strings with the fewest on a wrong side."""
    order = sorted(truth, key=lambda text: truth[text])
    right = np.array([text in found for text in order])
    wrong = np.concatenate([[0], np.cumsum(right)]) + np.sum(~right)
    wrong = wrong - np.concatenate([[0], np.cumsum(~right)])
    return truth[order[min(int(np.argmin(wrong)), len(order) - 1)]]


def main() -> None:
    """Print a row per epsilon and way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("list", type=Path, help="strings, the most popular first")
    parser.add_argument("--runs", type=int, default=10, help="runs to average (10)")
    parser.add_argument(
        "--people", type=int, default=1_000_000, help="simulated people (1,000,000)"
    )
    parser.add_argument("--top", type=float, help="the share of the most frequent string")
    parser.add_argument("--epsilon", type=float, action="append", help="only this one; repeatable")
    parser.add_argument("--json", action="store_true", help="print one JSON object per row")
    options = parser.parse_args()
    lines = options.list.read_text(encoding="utf-8").split()
    ratio = RATIO if options.top is None else 1 - options.top
    count = HELD if options.top is None else math.ceil(math.log(0.05) / math.log(ratio))
    held = [line for line in lines if len(line) <= LENGTH][:count]
    domain = Strings("".join(sorted(set("".join(lines)))), LENGTH)
    model = train((line for line in lines if line not in set(held)), domain).to_bytes()
    for epsilon in options.epsilon or EPSILONS:
        for way, used in (("characters", None), ("codes", model)):
            mechanism = Prefixes(
                epsilon=epsilon,
                alphabet=domain.alphabet,
                length=LENGTH,
                people=options.people,
                model=used,
            )
            runs = [
                one_run(mechanism, domain, held, ratio, options.people, seed)
                for seed in range(options.runs)
            ]
            names = ("found", "false", "likely", "likely_false", "learnable", "limit", "seconds")
            row = {"epsilon": epsilon, "way": way}
            row |= dict(zip(names, np.mean(runs, axis=0).round(4).tolist(), strict=True))
            print(json.dumps(row) if options.json else row, flush=True)


if __name__ == "__main__":
    main()
