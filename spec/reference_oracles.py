"""The mechanisms oue, hadamard, subset and olh a second time: slow, obvious, from mechanisms.md."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import reference as ref
from reference_epsilon import RATIOS, unary_ratios

Steps = dict[str, Any]
Stream = Iterator[int]


def encode_oue(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    parameters = {**parameters, "bits": parameters["answers"]}
    places = ref.own_places(parameters, key, code)
    response, report = ref.both_stages(parameters, places, permanent, fresh)
    return {
        "true_bits": sorted(places),
        "permanent": ref.pack_bits(response).hex(),
        "record": ref.pack_bits(report).hex(),
    }


def encode_hadamard(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    size = 2
    while size < parameters["answers"]:
        size *= 2
    coefficient = ref.below(fresh, size)
    true = f"{coefficient & code:b}".count("1") % 2
    sign = true if ref.coin(fresh, int(parameters["keep"])) else 1 - true
    record = struct.pack("<IB", coefficient, sign).hex()
    return {"coefficient": coefficient, "true_sign": true, "sign": sign, "record": record}


def encode_subset(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    k, d = parameters["answers"], parameters["size"]
    included = ref.coin(fresh, int(parameters["keep"]))
    others = [other for other in range(k) if other != code]
    chosen: list[int] = []
    for last in range(len(others) - (d - included), len(others)):
        drawn = ref.below(fresh, last + 1)
        chosen.append(last if drawn in chosen else drawn)
    members = sorted([others[place] for place in chosen] + ([code] if included else []))
    record = ref.pack_bits([1 if i in members else 0 for i in range(k)]).hex()
    return {"included": included, "members": members, "record": record}


def encode_olh(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    g = parameters["symbols"]
    seed = ref.below(fresh, parameters["seeds"])
    true = (ref.hash_word(key, 2**40 + seed) // 2**32) * g // 2**32
    symbol = true
    if not ref.coin(fresh, int(parameters["keep"])):
        symbol = ref.below(fresh, g - 1)
        symbol = symbol + 1 if symbol >= true else symbol
    record = struct.pack("<IH", seed, symbol).hex()
    return {"seed": seed, "true_symbol": true, "symbol": symbol, "record": record}


def _ratio_oue(parameters: Steps, part: dict[str, Fraction]) -> tuple[Fraction, Fraction | None]:
    return unary_ratios({**parameters, "bits": parameters["answers"], "hashes": 1}, part)


def _ratio_hadamard(_: Steps, part: dict[str, Fraction]) -> tuple[Fraction, None]:
    return part["keep"] / (1 - part["keep"]), None


def _ratio_subset(parameters: Steps, part: dict[str, Fraction]) -> tuple[Fraction, None]:
    k, d, p = parameters["answers"], parameters["size"], part["keep"]
    return p / (1 - p) * (k - d) / d, None


def _ratio_olh(parameters: Steps, part: dict[str, Fraction]) -> tuple[Fraction, None]:
    return part["keep"] * (parameters["symbols"] - 1) / (1 - part["keep"]), None


ref.ENCODERS |= {
    "oue": encode_oue,
    "hadamard": encode_hadamard,
    "subset": encode_subset,
    "olh": encode_olh,
}
RATIOS.update(
    {
        "oue": _ratio_oue,
        "hadamard": _ratio_hadamard,
        "subset": _ratio_subset,
        "olh": _ratio_olh,
    }
)
