"""A page over many closed epochs: the first look counts them, the second one remembers.

Also the level and the power of the test of "no change" over histories, with --histories.

    python benchmarks/trends.py --epochs 100 --people 100000
    python benchmarks/trends.py --histories 4000
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from deniable.ask import Options, over_time
from deniable.authoring import read_authored
from deniable.engines import Selection, accumulate
from deniable.groups import change_over_epochs
from deniable.mechanisms import KRR, Rappor, mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Question
from deniable.store import Batch, open_store

SURVEY = """
name = "trends"
owner = "us"

[[questions]]
id = "browser"
description = "Which browser?"
expires = 2099-12-31
domain = { type = "categories", values = ["a", "b", "c", "d", "e"] }
mechanism = "rappor"
parameters = { f = 0.5, p = 0.5, q = 0.75 }
"""
FIRST = 20_000


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time that work takes."""
    before = time.process_time()
    work()
    return time.process_time() - before


def page(folder: Path, epochs: int, people: int) -> dict[str, float]:
    """Return the seconds of one epoch, of all at first, and of all once more."""
    (folder / "survey.toml").write_text(SURVEY)
    asked: Question = read_authored(folder / "survey.toml").require().questions[0]
    mechanism, rng = mechanism_for(asked.fields[0].parameters), np.random.default_rng(1)
    with open_store(str(folder / "data")) as store:
        codes = rng.choice(5, people, p=[0.4, 0.3, 0.15, 0.1, 0.05])
        reports = join_records(asked, {"value": mechanism.simulate(codes, rng)})
        for epoch in range(epochs):
            batch = Batch(asked.id, asked.version, asked.digest, FIRST + epoch)
            store.append_records(batch, reports, asked.record_size)
        store.close_question(asked.id)
        accumulate(store, asked, Selection(FIRST, FIRST), apart=False)  # compiled, and warm
        one = seconds(lambda: accumulate(store, asked, Selection(FIRST, FIRST), apart=False))
        first = seconds(lambda: accumulate(store, asked))
        again = seconds(lambda: accumulate(store, asked))
        table = seconds(lambda: over_time(store, asked, ["epoch"], Options()))
    return {"one_epoch": one, "first": first, "again": again, "table_by_epoch": table}


def levels(histories: int) -> list[dict[str, object]]:
    """Return how often "no change" is rejected at 5%, without a change and with changes."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    from material.histories import Crowd, groups_of

    rng, found = np.random.default_rng(5), []
    usual, rare = np.array([0.6, 0.3, 0.1]), np.array([0.97, 0.02, 0.01])
    krr, rappor = KRR(3, epsilon=3.0), Rappor.basic(3, f=0.5, p=0.5, q=0.75)
    even, unequal, few = [1_000] * 12, [3_000, 300, 300, 3_000, 300, 300], [300, 30, 30] * 2
    cases = [
        ("the same devices", rappor, [20_000] * 6, 0.0, "unknown", usual),
        ("the same, said so", rappor, [20_000] * 6, 0.0, "same", usual),
        ("changing devices", krr, even, 0.3, "unknown", usual),
        ("unequal epochs", krr, unequal, 0.1, "unknown", usual),
        ("rare, few reports", KRR(3, epsilon=5.0), few, 1.0, "unknown", rare),
    ]
    for name, mechanism, sizes, churn, people, shares in cases:
        flat = np.tile(shares, (len(sizes), 1))
        groups = groups_of(mechanism, Crowd(mechanism, flat, sizes).draw(rng))
        error = float(np.sqrt(2 * groups.variance[:, 0].mean()))
        for errors in (0, 2, 4, 8):
            moved = flat.copy()
            step = min(errors * error, 0.9 * shares[0])
            moved[len(sizes) // 2 :] += [-step, step, 0.0]
            crowd, hits = Crowd(mechanism, moved, sizes, churn), 0
            for _ in range(histories):
                groups = groups_of(mechanism, crowd.draw(rng))
                change = change_over_epochs(groups, people=people)
                hits += change is not None and change.p_value < 0.05
            found.append({"case": name, "errors": errors, "rejected": hits / histories})
    return found


def main() -> None:
    """Print seconds and ratios, or the share of rejections."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--histories", type=int, default=0, help="Levels instead of times.")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.histories:
        rows = levels(given.histories)
        for row in rows if not given.json else ():
            print(f"{row['case']:18} {row['errors']} errors: rejected {row['rejected']:.4f}")
        if given.json:
            print(json.dumps(rows))
        return
    with tempfile.TemporaryDirectory() as folder:
        told = page(Path(folder), given.epochs, given.people)
    if given.json:
        print(json.dumps(told))
        return
    for name, value in told.items():
        print(f"{name:16} {value:8.3f} s  {value / told['one_epoch']:8.1f} x one epoch")


if __name__ == "__main__":
    main()
