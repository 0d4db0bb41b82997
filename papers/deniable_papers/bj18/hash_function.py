"""[BJ18] section 6.3: how evenly hash functions fill the Bloom filter."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from deniable.mechanisms.base import Codes
from deniable.protocol.domain import string_key
from deniable.protocol.hashing import bloom_bits, fingerprint
from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.bj18 import experiment as bj18
from deniable_papers.bj18.murmur3 import murmur3
from deniable_papers.common.charts import altair, colours, data_of, styled
from deniable_papers.common.populations import words

SIZES = (16, 32, 48, 64, 96, 128)
SHOWN = 48
Hashing = Callable[[str, int, int], list[int]]
"""From a word, a cohort and the number of bits to the word's bits, one per hash function."""


def _hex(word: str, cohort: int, digits: int) -> list[int]:
    digest = hashlib.md5(f"{word}{cohort}".encode(), usedforsecurity=False).hexdigest()
    return [int(digest[i * digits : (i + 1) * digits], 16) for i in range(bj18.HASHES)]


def one_digit(word: str, cohort: int, bits: int) -> list[int]:
    """Return hexadecimal digits of an MD5, one per hash function, mod k."""
    return [number % bits for number in _hex(word, cohort, 1)]


def two_digits(word: str, cohort: int, bits: int) -> list[int]:
    """Return pairs of hexadecimal digits of an MD5 (its bytes), mod k."""
    return [number % bits for number in _hex(word, cohort, 2)]


def murmur(word: str, cohort: int, bits: int) -> list[int]:
    """Return MurmurHash3 with a seed per hash function, mod k."""
    key = f"{word}{cohort}".encode()
    return [murmur3(key, seed) % bits for seed in range(bj18.HASHES)]


def own(word: str, cohort: int, bits: int) -> list[int]:
    """Return the bits of this project's family."""
    return bloom_bits(fingerprint(string_key(word)), cohort, bj18.HASHES, bits)


FAMILIES: dict[str, Hashing] = {
    "MD5, one hex digit": one_digit,
    "MD5, two hex digits": two_digits,
    "murmur3": murmur,
    "ours": own,
}


def occupancy(family: Hashing, names: list[str], bits: int) -> Codes:
    """Return how often each bit is set by the words in all cohorts."""
    places = [
        bit
        for word in names
        for cohort in range(bj18.COHORTS)
        for bit in family(word, cohort, bits)
    ]
    return np.bincount(places, minlength=bits)


def uniformity(counts: Codes) -> dict[str, float]:
    """Return Pearson's chi-square over its degrees of freedom, its p-value, and the empty bits."""
    expected = counts.sum() / counts.size
    chi_square = float(np.square(counts - expected).sum() / expected)
    return {
        "chi2_per_degree": chi_square / (counts.size - 1),
        "p_value": float(stats.chi2.sf(chi_square, counts.size - 1)),
        "empty_bits": float(np.count_nonzero(counts == 0)),
    }


def run(options: Options) -> Outcome:
    """Fill Bloom filters of several sizes with words."""
    names, _ = words(options.data, min(options.people, 4_999))
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in FAMILIES}
    rows: list[dict[str, Any]] = []
    for name, bits in options.steps([(name, bits) for name in FAMILIES for bits in SIZES]):
        counts = occupancy(FAMILIES[name], names, bits)
        found[name][f"k={bits}"] = uniformity(counts)
        if bits == SHOWN:
            share = (counts * bits / counts.sum()).tolist()
            rows += [{"hash": name, "bit": bit, "load": load} for bit, load in enumerate(share)]
    return Outcome(PAPER_NUMBERS, found, {"occupancy": rows}, _chart(rows), NOTES)


def _chart(rows: Rows) -> Any:
    alt = altair()
    panels = (
        alt.Chart(data_of(rows), width=520, height=80)
        .mark_bar()
        .encode(
            x=alt.X(
                "bit:O", title="bit", axis=alt.Axis(values=list(range(0, SHOWN, 8)), labelAngle=0)
            ),
            y=alt.Y("load:Q", title=None),
            color=alt.Color("hash:N", scale=colours(list(FAMILIES)), legend=None),
            row=alt.Row(
                "hash:N",
                sort=list(FAMILIES),
                title=None,
                header=alt.Header(labelAngle=0, labelAlign="left"),
            ),
        )
    )
    return styled(
        panels.resolve_scale(y="independent"),
        f"How evenly hash functions fill {SHOWN} bits",
        "times the even share",
    )


PAPER_NUMBERS = {"MD5 (hexadecimal)": "not uniform", "murmur3": "better"}
NOTES = (
    "The paper does not say how it sliced the MD5. One hexadecimal digit reaches 16 bits only; two "
    "(a byte) are uneven wherever k does not divide 256, such as its best k of 48 and 96, and "
    "even elsewhere: it was the slicing and not the MD5.",
    "People are words here, at most 4,999; runs and seed play no part, as nothing is random.",
)
FIGURE = Figure(
    id="bj18-hash",
    paper="[BJ18] section 6.3",
    title="How evenly hash functions fill the bits",
    shows="Slices of an MD5 miss bits that murmur3 and our family fill evenly.",
    run=run,
    runs=1,
    full_runs=1,
    people=4_999,
    full_people=4_999,
)
