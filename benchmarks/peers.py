"""pure-ldp, multi-freq-ldpy and OpenDP on the same tasks, in an environment of their own.

    python benchmarks/peers.py [--environment .venv-peers] [--json] [--picture FILE] [--parts]

The first run makes the environment and installs them from the package index, with the versions
that they still run with. Each task is measured there by `_peers_worker.py`, then here, one after
the other on the same machine: whole collections (every person's answer encoded on its own, all
reports counted and estimated) as one table, with the squared error over the floor, that of subset
selection [YB18], also of the nearest distribution: a package that cuts at 0 is compared as such. A
row that is not ahead says why. With `--parts` also single kernels.

Peers work report by report, or pair by pair: all of them grow as ours do, with n k, n h or K M.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import venv
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from _measure import Rate, rate, show, versions
from deniable.authoring import resolve
from deniable.client.encode import encode
from deniable.client.randomness import SystemDraws
from deniable.decode.simplex import project
from deniable.kernels.bit_counts import count_bits
from deniable.kernels.hash_candidates import fingerprints
from deniable.kernels.local_hash import pooled_support, private_support
from deniable.kernels.simulate_bits import simulate_basic, simulate_bloom
from deniable.mechanisms import Subset, mechanism_for
from deniable.mechanisms.base import Code
from deniable.protocol import Categories, Field, Question

REQUIREMENTS = (
    "pure-ldp==1.2.0",
    "multi-freq-ldpy==0.2.5",
    "opendp==0.16.0",
    "scikit-learn",
    "statsmodels",
    "scipy",
    "numpy<2.3",
    "xxhash<4",
)
HERE = Path(__file__).resolve().parent
BITS, HASHES, COHORTS, SYMBOLS = 128, 2, 32, 4
SHAPE = (COHORTS, HASHES, BITS)
THRESHOLDS = (2**62, 3 * 2**62)
ANSWERS, EPSILON, PEOPLE, ROUNDS = 64, 1.0, 5_000, 3
MECHANISMS = {
    "k-RR": "krr",
    "OLH": "olh",
    "OUE": "oue",
    "SUE": "rappor",
    "subset": "subset",
    "Hadamard": "hadamard",
    "PGR": "pgr",
}


def python_of(environment: Path) -> Path:
    """Return the environment's interpreter; make the environment if it is not complete."""
    folder = "Scripts" if sys.platform == "win32" else "bin"
    python, complete = environment / folder / "python", environment / "complete"
    wanted = "\n".join(REQUIREMENTS)
    if not complete.exists() or complete.read_text(encoding="utf-8") != wanted:
        print(f"Making {environment} ...", file=sys.stderr)
        venv.create(environment, clear=True, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *REQUIREMENTS], check=True)
        complete.write_text(wanted, encoding="utf-8")
    return python


def peers(environment: Path, parts: bool) -> dict[str, Any]:
    """Return what the worker measured in the peers' environment."""
    command = [python_of(environment), HERE / "_peers_worker.py", *(["--parts"] if parts else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def ours() -> dict[str, Rate]:
    """Measure the same tasks here."""
    rng = np.random.default_rng(1)
    words = fingerprints(b"s%d" % i for i in range(1_000))
    codes = rng.integers(0, 1_000, 1_000_000)
    bloom = simulate_bloom(words, codes, SHAPE, THRESHOLDS, rng)
    basic = simulate_basic(codes % BITS, BITS, THRESHOLDS, rng)
    seeds = rng.integers(0, 2**32, 1_000).astype(np.uint32)
    reported = rng.integers(0, SYMBOLS, 1_000).astype(np.uint16)
    histogram = rng.integers(0, 100, (1_000, SYMBOLS))
    count_bits(bloom[:1], COHORTS, BITS)
    private_support(seeds[:1], reported[:1], SYMBOLS, words[:1])
    pooled_support(histogram[:1], words[:1])
    name, n, pairs = "ours", len(codes), len(seeds) * len(words)
    return {
        "rappor simulate": rate(
            name, n, lambda: simulate_bloom(words, codes, SHAPE, THRESHOLDS, rng)
        ),
        "rappor count": rate(name, n, lambda: count_bits(bloom, COHORTS, BITS)),
        "unary simulate": rate(
            name, n, lambda: simulate_basic(codes % BITS, BITS, THRESHOLDS, rng)
        ),
        "unary count": rate(name, n, lambda: count_bits(basic, 1, BITS)),
        "local hashing": rate(
            name, pairs, lambda: private_support(seeds, reported, SYMBOLS, words)
        ),
        "local hashing, pool": rate(name, pairs, lambda: pooled_support(histogram, words)),
    }


TASKS = {
    "rappor simulate": ("RAPPOR, simulating 128 bits, 2 hashes, 32 cohorts", "reports"),
    "rappor count": ("RAPPOR, counting 128 bits in 32 cohorts", "reports"),
    "unary simulate": ("Unary encoding, simulating 128 bits", "reports"),
    "unary count": ("Unary encoding, counting 128 bits", "reports"),
    "local hashing": ("OLH, a seed per report, 1,000 candidates", "(report, candidate) pairs"),
    "local hashing, pool": ("OLH, a pool of seeds, 1,000 candidates", "(seed, candidate) pairs"),
}


def wholes() -> list[dict[str, Any]]:
    """Run whole collections by the client's own encoder and the mechanism's own counts."""
    domain = Categories(tuple(f"a{number}" for number in range(ANSWERS)))
    secret = bytes(32)
    rows = []
    for label, name in MECHANISMS.items():
        parameters = resolve(name, {"epsilon": EPSILON}, domain, False)
        field = Field("value", domain, parameters)
        asked = Question("q", 1, "?", "us", date(2099, 1, 1), 1, "once", "recorded", (field,))
        rng, fresh, mechanism = np.random.default_rng(3), SystemDraws(), mechanism_for(parameters)
        share = 1 / np.arange(1, ANSWERS + 1)
        codes = [Code(number) for number in range(ANSWERS)] if mechanism.hashed else None
        mechanism.estimate(mechanism.accumulate(b""), codes)  # compiles
        errors, nearest, encoding, reading = [], [], float("inf"), float("inf")
        for _ in range(ROUNDS):
            held = rng.choice(ANSWERS, PEOPLE, p=share / share.sum())
            truth = np.bincount(held, minlength=ANSWERS) / PEOPLE
            values = [domain.values[code] for code in held]
            start = time.perf_counter()
            reports = [encode(asked, value, secret, fresh) for value in values]
            middle = time.perf_counter()
            found = mechanism.estimate(mechanism.accumulate(b"".join(reports)), codes).frequency
            encoding = min(encoding, middle - start)
            reading = min(reading, time.perf_counter() - middle)
            errors.append(float(((found - truth) ** 2).sum()))
            nearest.append(float(((project(found) - truth) ** 2).sum()))
        rows.append(
            {
                "package": "deniable",
                "mechanism": label,
                "encode": PEOPLE / encoding,
                "read": PEOPLE / reading,
                "error": float(np.mean(errors)),
                "projected": float(np.mean(nearest)),
            }
        )
    return rows


def floor() -> float:
    """Return the least squared error that any mechanism has on average, of all answers together."""
    return float(np.sum(Subset(ANSWERS, epsilon=EPSILON).variance(PEOPLE, np.zeros(ANSWERS))))


def ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all packages side by side, by mechanism, with the error over the floor."""
    least = floor()
    fastest = {
        name: max((row["encode"] for row in rows if row["mechanism"] == name), default=0.0)
        for name in MECHANISMS
    }
    found = [
        {
            **row,
            "over_floor": row["error"] / least,
            "projected": row["projected"] / least,
            "why": _why(row, fastest[row["mechanism"]]),
        }
        for row in rows
    ]
    return sorted(found, key=lambda row: (row["mechanism"], row["package"]))


def _why(row: dict[str, Any], fastest: float) -> str:
    """Return why a row is not ahead, or cannot be compared; empty if nothing is to be said."""
    if row["package"] == "deniable" and row["encode"] < fastest:
        return (
            "encodes by integers of the system's generator, in pure Python, and checks the answer"
        )
    if row["package"] == "multi-freq-ldpy":
        return "cuts at 0 and rescales: biased, and no variance; compiled with Numba"
    if row["package"] == "opendp" and row["mechanism"] == "k-RR":
        return "counts nothing: counted and debiased by hand"
    return ""


def show_wholes(rows: list[dict[str, Any]], used: dict[str, str], *, as_json: bool) -> None:
    """Print one table."""
    if as_json:
        print(json.dumps({"rows": rows, "versions": used}))
        return
    print(f"{PEOPLE:,} people, {ANSWERS} answers, epsilon {EPSILON:g}; squared error / floor")
    head = f"{'encoded/s':>12}{'read/s':>14}{'error':>7}{'projected':>10}"
    print(f"  {'mechanism':10}{'package':17}{head}")
    for row in rows:
        speed = f"{row['encode']:12,.0f}{row['read']:14,.0f}"
        error = f"{row['over_floor']:7.2f}{row['projected']:10.2f}"
        print(f"  {row['mechanism']:10}{row['package']:17}{speed}{error}  {row['why']}")
    print("  " + ", ".join(f"{name} {version}" for name, version in used.items()))


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the table: a dot per package and mechanism, speeds on logarithmic axes."""
    import altair as alt

    titles = {
        "encode": "encoded per second",
        "read": "counted and estimated per second",
        "projected": "squared error of the nearest distribution / floor",
    }
    charts = [
        alt.Chart(alt.Data(values=rows), title=title)
        .mark_point(filled=True, size=90)
        .encode(
            x=alt.X(
                f"{name}:Q",
                title=None,
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(
                    format="~g" if name == "projected" else "~s",
                    labelOverlap="greedy",
                    labelSeparation=6,
                ),
            ),
            y=alt.Y("mechanism:N", title=None),
            color=alt.Color("package:N", title=None),
            shape=alt.Shape("package:N", title=None),
        )
        .properties(width=270, height=170)
        for name, title in titles.items()
    ]
    alt.hconcat(*charts).save(str(path))


def main() -> None:
    """Print one table, and with --parts a table per kernel."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON, an object per line")
    parser.add_argument("--environment", type=Path, default=HERE.parent / ".venv-peers")
    parser.add_argument("--picture", type=Path, help="also draw the table: a .svg or .png file")
    parser.add_argument("--parts", action="store_true", help="also single kernels")
    options = parser.parse_args()
    measured = peers(options.environment, options.parts)
    theirs, used = measured["rates"], measured["versions"] | versions("numpy", "numba")
    rows = ordered([*wholes(), *measured["wholes"]])
    show_wholes(rows, used, as_json=options.json)
    if options.picture is not None:
        draw(rows, options.picture)
    for task, own in ours().items() if options.parts else ():
        rates = [own, *(Rate(*row) for row in theirs[task])]
        title, unit = TASKS[task]
        show(title, unit, rates, used, as_json=options.json)


if __name__ == "__main__":
    main()
