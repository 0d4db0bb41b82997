"""Joint tables of two fields of strings that nobody listed: coverage, and the test's level.

Half of the people find the strings of both fields by growing prefixes; the other half say what goes
together, as `deniable associate --candidates discovered` does. Twenty strings of each field are
held by Zipf's law; the fields are independent, or three people in ten hold the same place in both.
Beside found strings, as many of a list: the most frequent five. Strings are other ones in every
run. Printed per number of people in the table: the coverage of cells of two found (listed) strings
and of all cells, the runs that had a table, and how often independence is rejected at 5%.

    python benchmarks/associate_found.py --runs 100
"""

from __future__ import annotations

import argparse
import json
import zlib

import numpy as np

from deniable.associate import Variable
from deniable.associate import associate as fit_two
from deniable.discover import discover
from deniable.errors import InvalidParameter
from deniable.mechanisms import Prefixes
from deniable.protocol import Strings

LETTERS, LENGTH, EPSILON = "abcdefghijklmnopqrstuvwxyz", 6, 4.0
HELD, MOST, SAME = 20, 5, 0.3
SHARES = 1 / np.arange(1, HELD + 1) / np.sum(1 / np.arange(1, HELD + 1))
Row = dict[str, float | str | bool]


def drawn(people: int, together: bool, rng: np.random.Generator) -> list[np.ndarray]:
    """Return what people hold in both fields."""
    one, two = (rng.choice(HELD, people, p=SHARES) for _ in range(2))
    return [one, np.where(rng.random(people) < SAME, one, two) if together else two]


def truth_of(together: bool, listed: list[list[int]]) -> np.ndarray:
    """Return the shares of the cells of some strings, the others last."""
    same = SAME if together else 0.0
    table = (1 - same) * np.outer(SHARES, SHARES) + same * np.diag(SHARES)
    for axis, places in enumerate(listed):
        rest = np.setdiff1d(np.arange(HELD), places)
        chosen = np.take(table, places, axis)
        table = np.concatenate([chosen, np.take(table, rest, axis).sum(axis, keepdims=True)], axis)
    return table


def one_run(
    people: int, found: bool, together: bool, rng: np.random.Generator
) -> tuple[np.ndarray, float] | None:
    """Return which cells are covered, and whether independence is rejected; None without a table.

    Args:
        people: those whose table it is; as many others find the strings.
        found: whether they do; else the most frequent strings are listed.
        together: whether the fields go together.
        rng: the source of randomness.
    """
    mechanism = Prefixes(epsilon=EPSILON, alphabet=LETTERS, length=LENGTH, people=2 * people)
    finders, others = drawn(people, together, rng), drawn(people, together, rng)
    variables, listed = [], []
    for name, early, late in zip("ab", finders, others, strict=True):
        letters = rng.choice(list(LETTERS), size=(HELD, LENGTH))
        names = ["".join(row) for row in letters]
        places = list(range(MOST))
        if found:
            counts = mechanism.accumulate(mechanism.simulate(early, rng, names))
            result = discover(mechanism, counts, Strings(LETTERS, LENGTH))
            values = [row.value for row in (*result.found, *result.likely)][:MOST]
            places = [names.index(value) for value in values if value in names]
        if not places:
            return None
        reports = mechanism.simulate(late, rng, names)
        variables.append(Variable(name, mechanism, reports, tuple(names[i] for i in places)))
        listed.append(places)
    truth = truth_of(together, listed)
    try:
        joint, test = fit_two(variables)
    except InvalidParameter:  # strings that reports cannot tell apart: it says so
        return None
    return (joint.low <= truth) & (truth <= joint.high), float(test.p_value <= 0.05)


def measured(people: int, found: bool, together: bool, runs: int, seed: int) -> Row:
    """Return the numbers of one setting."""
    name = repr((people, found, together, seed))
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    kept = [one_run(people, found, together, rng) for _ in range(runs)]
    every = [one for one in kept if one is not None]
    inner = np.concatenate([cells[:-1, :-1].ravel() for cells, _ in every])
    return {
        "people": people,
        "strings": "found" if found else "listed",
        "together": together,
        "tables": len(every),
        "cells of two strings": float(inner.mean()),
        "all cells": float(np.concatenate([cells.ravel() for cells, _ in every]).mean()),
        "rejected": float(np.mean([rejected for _, rejected in every])),
    }


def main() -> None:
    """Print a row per setting."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="of each setting (100)")
    parser.add_argument("--people", type=int, nargs="*", default=[1_500, 5_000, 20_000])
    parser.add_argument("--seed", type=int, default=0, help="of all settings (0)")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    given = parser.parse_args()
    rows = []
    for people in given.people:
        for found in (True, False):
            for together in (False, True):
                rows.append(measured(people, found, together, given.runs, given.seed))
                if not given.json:
                    print(_said(rows[-1]), flush=True)
    if given.json:
        print(json.dumps(rows))


def _said(row: Row) -> str:
    return "  ".join(
        f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}"
        for key, value in row.items()
    )


if __name__ == "__main__":
    main()
