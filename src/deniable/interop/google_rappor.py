"""RAPPOR as released by Google (github.com/google/rappor): its hash, its noise, its numbers.

Differences from our own RAPPOR: Bloom bits are bytes of an MD5, so that k is at most 256 and h at
most 16; the permanent response is derived from bytes of an HMAC, one per bit, so that f runs in
steps of 1/128. Files are read and written by `google_files`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Counts
from deniable.mechanisms.closed_form import Pure

_MAX_HASH_BITS = 256
_MAX_HASHES = 16
_MAX_BITS = 65_536
_MAX_COHORTS = 65_536

Positions = NDArray[np.uint16]


def bloom_bits(word: bytes, cohort: int, hashes: int, bits: int) -> list[int]:
    """Return the Bloom bits of a word in a cohort, one per hash function; they may repeat.

    Model: with D the MD5 of the cohort (4 bytes, big-endian) followed by the word, bit j is D[j]
    mod k. Equal to the Python and the C++ client (the latter for cohorts below 256).

    Raises:
        InvalidParameter: if k is above 256, h above 16, or the cohort not a u32.
    """
    cohort = _validate.integer("cohort", "bloom_bits", cohort, 0, 2**32 - 1)
    hashes = _validate.integer("hashes", "bloom_bits", hashes, 1, _MAX_HASHES)
    bits = _validate.integer("bits", "bloom_bits", bits, 1, _MAX_HASH_BITS)
    digest = hashlib.md5(cohort.to_bytes(4, "big") + word, usedforsecurity=False).digest()
    return [byte % bits for byte in digest[:hashes]]


@dataclass(frozen=True)
class GoogleParams:
    """The numbers of a params.csv.

    Attributes:
        k: bits. h: hash functions. m: cohorts.
        p: P(1 is reported | a 0 is held). q: P(1 is reported | a 1 is held).
        f: the share of permanent noise.

    Raises:
        InvalidParameter: naming what is wrong; also if reports would say nothing (p >= q, f = 1).
    """

    k: int
    h: int
    m: int
    p: float
    q: float
    f: float

    def __post_init__(self) -> None:
        owner = "google/rappor"
        _validate.integer("k", owner, self.k, 1, _MAX_BITS)
        _validate.integer("h", owner, self.h, 1, _MAX_HASHES)
        _validate.integer("m", owner, self.m, 1, _MAX_COHORTS)
        for name in ("p", "q", "f"):
            _validate.probability(name, owner, getattr(self, name))
        if not (self.p < self.q and self.f < 1):
            raise InvalidParameter(
                f"Reports with p = {self.p!r}, q = {self.q!r}, f = {self.f!r} cannot be decoded.",
                "Give the numbers that the clients ran with: p below q, and f below 1.",
            )

    @property
    def oracle(self) -> Pure:
        """The oracle of a reported bit, both stages together: P(1 | it was set), P(1 | it was not).

        With d = f (q - p) / 2 these are q* = q - d and p* = p + d [EPK14, section 4].
        """
        p, q, f = Fraction(self.p), Fraction(self.q), Fraction(self.f)
        return Pure.of(q - f * (q - p) / 2, p + f * (q - p) / 2)

    @property
    def p_star(self) -> float:
        """P(a reported bit is 1 | it was not set), both stages together."""
        return self.oracle.q

    @property
    def q_star(self) -> float:
        """P(a reported bit is 1 | it was set), both stages together."""
        return self.oracle.p

    def run_by(self, client: str) -> GoogleParams:
        """Return the numbers that really ran: clients take f in steps of 1/128.

        Args:
            client: "python", which rounds f up, or "cpp", which rounds it down.

        Raises:
            InvalidParameter: if the client is another, or if f becomes 1.
        """
        steps = {"python": math.ceil, "cpp": math.floor}
        if client not in steps:
            raise _validate.invalid("client", "run_by", "'python' or 'cpp'", client)
        return replace(self, f=steps[client](128 * self.f) / 128)

    def positions(self, words: Iterable[str]) -> Positions:
        """Return the Bloom bits of words (in UTF-8) in every cohort, M x m x h.

        Cost: M m MD5s, about a microsecond each.
        """
        rows = [
            [bloom_bits(word.encode(), cohort, self.h, self.k) for cohort in range(self.m)]
            for word in words
        ]
        return np.array(rows, dtype=np.uint16).reshape(len(rows), self.m, self.h)


@dataclass(frozen=True)
class GoogleRappor:
    """A params, counts and map triple, ready for decoding.

    A decoder needs only this: with r the expected share of reports that have bit i in cohort j,
    r = p* + (q* - p*) times the share of people whose string sets that bit.

    Attributes:
        params: k, h, m, p, q and f.
        counts: m x (1 + k) integers: the reports of a cohort, then those with each bit set.
        candidates: the strings of the map.
        positions: the bits that each sets, M x m x h, 0..k-1.
        notes: sentences for the reader.

    Raises:
        InvalidParameter: if the shapes do not fit, or a bit was counted more often than reports.
    """

    params: GoogleParams
    counts: NDArray[np.int64]
    candidates: tuple[str, ...]
    positions: Positions
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        k, h, m = self.params.k, self.params.h, self.params.m
        if self.counts.shape != (m, 1 + k):
            raise _validate.invalid("counts", "GoogleRappor", f"{m} x {1 + k}", self.counts.shape)
        if self.positions.shape != (len(self.candidates), m, h):
            expected = f"{len(self.candidates)} x {m} x {h}"
            raise _validate.invalid("positions", "GoogleRappor", expected, self.positions.shape)
        if self.positions.size and int(self.positions.max()) >= k:
            raise _validate.invalid("positions", "GoogleRappor", f"below {k}", "a larger one")
        if (self.counts < 0).any() or (self.counts[:, 1:] > self.counts[:, :1]).any():
            raise InvalidParameter("A bit cannot be set in more reports than there are, or fewer.")

    @property
    def accumulated(self) -> Counts:
        """The counts in the form that every decoder takes."""
        return Counts(self.counts[:, 0].copy(), self.counts[:, 1:].copy())
