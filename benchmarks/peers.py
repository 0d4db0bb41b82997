"""pure-ldp and multi-freq-ldpy on the same tasks, in an environment of their own.

    python benchmarks/peers.py [--environment .venv-peers] [--json]

The first run makes the environment and installs both from the package index, with the versions
that they still run with. Each task is measured there by `_peers_worker.py`, then here, one after
the other on the same machine.

Peers work report by report, or pair by pair: all of them grow as ours do, with n k, n h or K M.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np

from _measure import Rate, rate, show, versions
from deniable.kernels.bit_counts import count_bits
from deniable.kernels.hash_candidates import fingerprints
from deniable.kernels.local_hash import pooled_support, private_support
from deniable.kernels.simulate_bits import simulate_basic, simulate_bloom

REQUIREMENTS = (
    "pure-ldp==1.2.0",
    "multi-freq-ldpy==0.2.5",
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


def peers(environment: Path) -> dict[str, object]:
    """Return what the worker measured in the peers' environment."""
    command = [python_of(environment), HERE / "_peers_worker.py"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, object] = json.loads(done.stdout)
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


def main() -> None:
    """Print a table per task."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object per task")
    parser.add_argument("--environment", type=Path, default=HERE.parent / ".venv-peers")
    options = parser.parse_args()
    measured = peers(options.environment)
    theirs, used = measured["rates"], measured["versions"]
    if not isinstance(theirs, dict) or not isinstance(used, dict):
        raise SystemExit("The worker printed something else than it should.")
    for task, own in ours().items():
        rates = [own, *(Rate(*row) for row in theirs[task])]
        title, unit = TASKS[task]
        show(title, unit, rates, versions("numpy", "numba") | used, as_json=options.json)


if __name__ == "__main__":
    main()
