"""The mechanisms orr, pgr and hcms a second time: slow, obvious, from mechanisms.md alone."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import reference as ref
from reference_epsilon import RATIOS

Steps = dict[str, Any]
Ratios = tuple[Fraction, Fraction | None]


def code_key(code: int) -> bytes:
    """Return the key of a code, also of the absent answer's in a closed domain."""
    return b"i" + struct.pack("<I", code)


def place(key: bytes, index: int, size: int) -> int:
    """Return a hash function's place in 0..size-1."""
    return (ref.hash_word(key, index) // 2**32) * size // 2**32


def encode_orr(
    parameters: Steps, key: bytes, code: int, cohort_key: bytes, _: bytes, fresh: Iterator[int]
) -> Steps:
    """Return every step of the encoding."""
    k = parameters["symbols"]
    cohort = ref.below(ref.words(cohort_key), parameters["cohorts"])
    if parameters["form"] == "hashed":
        true = place(key, 3 * 2**40 + cohort, k)
    else:
        true = ref.permutation(parameters["answers"], 4 * 2**40 + cohort)[code] % k
    symbol = true
    if not ref.coin(fresh, int(parameters["keep"])):
        symbol = ref.below(fresh, k - 1)
        symbol = symbol + 1 if symbol >= true else symbol
    record = struct.pack("<HH", cohort, symbol).hex()
    return {"cohort": cohort, "true_symbol": true, "symbol": symbol, "record": record}


def ratio_orr(parameters: Steps, part: dict[str, Fraction]) -> Ratios:
    """Return the largest ratio of one report; of all reports it is unbounded."""
    keep = part["keep"]
    return keep * (parameters["symbols"] - 1) / (1 - keep), None


def points_of(q: int, t: int) -> list[tuple[int, ...]]:
    """Return every point in order: by the digits after its 1, then by the number they spell."""
    vectors = itertools.product(range(q), repeat=t)
    canonical = [v for v in vectors if any(v) and next(x for x in v if x) == 1]
    return sorted(canonical, key=lambda v: (t - v.index(1), v))


def same_point(u: list[int], q: int) -> tuple[int, ...]:
    """Return the multiple of a vector whose first non-zero entry is 1, found by trying all."""
    multiples = [tuple(c * x % q for x in u) for c in range(1, q)]
    return next(v for v in multiples if next(x for x in v if x) == 1)


def completed(rest: list[int], v: tuple[int, ...], wanted: int, q: int) -> list[int]:
    """Insert at the place of v's last non-zero entry what makes the product `wanted`: try all."""
    place = max(i for i, x in enumerate(v) if x)
    tries = [[*rest[:place], x, *rest[place:]] for x in range(q)]
    return next(u for u in tries if sum(a * b for a, b in zip(u, v, strict=True)) % q == wanted)


def encode_point(parameters: Steps, true: int, fresh: Iterator[int]) -> tuple[int, int]:
    """Return whether the randomised point is inside of the hyperplane, and its number."""
    q, t = parameters["prime"], parameters["dimension"]
    points = points_of(q, t)
    inside = ref.coin(fresh, int(parameters["keep"]))
    if inside:
        planes = points_of(q, t - 1)
        rest = list(planes[ref.below(fresh, len(planes))])
    else:
        every = list(itertools.product(range(q), repeat=t - 1))
        rest = list(every[ref.below(fresh, len(every))])
    wanted = completed(rest, points[true], 0 if inside else 1, q)
    return inside, points.index(same_point(wanted, q))


def encode_pgr(
    parameters: Steps, key: bytes, code: int, cohort_key: bytes, _: bytes, fresh: Iterator[int]
) -> Steps:
    """Return every step of the encoding."""
    q, t, closed = parameters["prime"], parameters["dimension"], parameters["form"] == "closed"
    points = points_of(q, t)
    cohort = ref.below(ref.words(cohort_key), parameters["cohorts"])
    true = code if closed else place(key, 5 * 2**40 + cohort, len(points))
    inside, point = encode_point(parameters, true, fresh)
    packed = struct.pack("<I", point)
    record = packed if closed else struct.pack("<H", cohort) + packed
    steps = {"cohort": cohort, "true_point": true, "inside": inside, "point": point}
    return {**steps, "record": record.hex()}


def ratio_pgr(parameters: Steps, part: dict[str, Fraction]) -> Ratios:
    """Return the largest ratio of one report; of all reports it is unbounded."""
    q, t = parameters["prime"], parameters["dimension"]
    inner = sum(q**i for i in range(t - 1))
    return part["keep"] / inner / ((1 - part["keep"]) / q ** (t - 1)), None


def encode_hcms(
    parameters: Steps, key: bytes, code: int, _: bytes, __: bytes, fresh: Iterator[int]
) -> Steps:
    """Return every step of the encoding."""
    row = ref.below(fresh, parameters["rows"])
    hashed = code_key(code) if parameters["answers"] else key
    bucket = place(hashed, 2 * 2**40 + row, parameters["width"])
    coefficient = ref.below(fresh, parameters["width"])
    true = f"{bucket & coefficient:b}".count("1") % 2
    sign = true if ref.coin(fresh, int(parameters["keep"])) else 1 - true
    record = struct.pack("<HIB", row, coefficient, sign).hex()
    steps = {"row": row, "bucket": bucket, "coefficient": coefficient, "sign": sign}
    return {**steps, "true_sign": true, "record": record}


def ratio_hcms(_: Steps, part: dict[str, Fraction]) -> Ratios:
    """Return the largest ratio of one report; of all reports it is unbounded."""
    return part["keep"] / (1 - part["keep"]), None


ref.ENCODERS.update({"orr": encode_orr, "pgr": encode_pgr, "hcms": encode_hcms})
RATIOS.update({"orr": ratio_orr, "pgr": ratio_pgr, "hcms": ratio_hcms})
