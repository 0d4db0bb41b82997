from __future__ import annotations

import os
from collections import Counter
from itertools import permutations

from deniable.store.shuffle import scattered, shuffled
from deniable.testing.statistics import accept, goodness_of_fit, reject
from material.stores import seeded


def test_every_order_of_keys_gives_its_own_permutation() -> None:
    """Exact: over all orders of three distinct keys each permutation comes up once."""
    seen: Counter[bytes] = Counter()
    for keys in permutations((7, 70, 170)):
        draws = b"".join(key.to_bytes(8, "little") for key in keys)
        seen[shuffled(b"aabbcc", 2, lambda _, draws=draws: draws)] += 1
    assert set(seen.values()) == {1}
    assert len(seen) == 6


def test_all_orders_are_equally_likely() -> None:
    draw, uniform = seeded(1), [1 / 24] * 24
    seen = Counter(shuffled(b"abcd", 1, draw) for _ in range(24_000))
    counts = sorted(seen.values())
    accept(goodness_of_fit(counts, uniform))
    # Control: one order 1.5 times as likely, a noncentrality of 250. P(chi2 < 90) < 1e-9.
    reject(goodness_of_fit([*counts[:-1], counts[-1] + 500], uniform), miss=1e-9)


def test_shuffling_keeps_records_whole() -> None:
    records = b"".join(i.to_bytes(2, "big") * 3 for i in range(500))
    mixed = shuffled(records, 6, os.urandom)
    whole = [mixed[i : i + 6] for i in range(0, len(mixed), 6)]
    assert sorted(whole) == [records[i : i + 6] for i in range(0, len(records), 6)]


def test_nothing_shuffles_to_nothing() -> None:
    assert shuffled(b"", 4, os.urandom) == b""
    assert list(scattered(b"", 4, 8, os.urandom)) == []


def test_scattering_loses_nothing_and_uses_the_lowest_bits() -> None:
    draws = (65_535).to_bytes(2, "little") + (4).to_bytes(2, "little") + (7).to_bytes(2, "little")
    assert dict(scattered(b"aabbcc", 2, 4, lambda _: draws)) == {3: b"aacc", 0: b"bb"}
