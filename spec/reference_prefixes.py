"""Coding models and the mechanism prefixes a second time: slow, obvious, from the pages alone."""

from __future__ import annotations

import base64
import itertools
import math
import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import reference as ref
from reference_cohorts import encode_point, ratio_pgr
from reference_epsilon import RATIOS

Steps = dict[str, Any]
Contexts = dict[tuple[int, ...], dict[int, int]]


def write_model(letters: str, typical: int, contexts: Contexts) -> bytes:
    """Return the bytes of a model."""
    symbol = "<B" if len(letters) <= 254 else "<H"
    data = b"deniable/model/1\n" + struct.pack("<H", typical)
    data += struct.pack("<HH", len(letters.encode()), len(contexts)) + letters.encode()
    for context in sorted(contexts, key=lambda known: (len(known), known)):
        data += struct.pack("<BH", len(context), len(contexts[context]))
        data += b"".join(struct.pack(symbol, s) for s in context)
        for s, count in sorted(contexts[context].items()):
            data += struct.pack(symbol, s) + struct.pack("<B", count)
    return data


def read_model(data: bytes) -> tuple[str, Contexts]:
    """Return letters and contexts of a good model's bytes."""
    place = 17
    _, size, count = struct.unpack("<HHH", data[place : place + 6])
    letters = data[place + 6 : place + 6 + size].decode()
    place, wide = place + 6 + size, 1 if len(letters) <= 254 else 2
    contexts: Contexts = {}

    def symbol() -> int:
        nonlocal place
        place += wide
        return int.from_bytes(data[place - wide : place], "little")

    for _ in range(count):
        length, entries = data[place], int.from_bytes(data[place + 1 : place + 3], "little")
        place += 3
        context, counts = tuple(symbol() for _ in range(length)), {}
        for _ in range(entries):
            s = symbol()
            counts[s] = data[place]
            place += 1
        contexts[context] = counts
    return letters, contexts


def frequencies(letters: str, contexts: Contexts, before: list[int]) -> list[int]:
    """Return the frequency of every symbol after those before it."""
    symbols, history = len(letters) + 1, (len(letters) + 1, *before)
    found = [2**20 // symbols] * symbols
    for size in range(len(history) + 1):
        counts = contexts.get(history[len(history) - size :])
        if counts is not None:
            total, distinct = sum(counts.values()), len(counts)
            found = [
                max(1, (2**20 * counts.get(s, 0) + distinct * f) // (total + distinct))
                for s, f in enumerate(found)
            ]
    return found


def code_of(data: bytes, length: int, text: str) -> tuple[int, int]:
    """Return the code of a string as m and k: the number m / 2^k."""
    letters, contexts = read_model(data)
    symbols = [letters.index(letter) for letter in text]
    ended = [*symbols, len(letters)] if len(text) < length else symbols
    low, width = Fraction(0), Fraction(1)
    for place, s in enumerate(ended):
        f = frequencies(letters, contexts, symbols[:place])
        low += width * Fraction(sum(f[:s]), sum(f))
        width *= Fraction(f[s], sum(f))
    k = 0
    while math.ceil(low * 2**k) >= (low + width) * 2**k:
        k += 1
    return math.ceil(low * 2**k), k


def symbols_of(parameters: Steps, text: str, group: int) -> list[int]:
    """Return what a group reports of a string."""
    lengths = parameters["lengths"]
    if group == len(lengths):
        return [ord(letter) for letter in text]
    if not parameters["model"]:
        ended = [0x110000] if len(text) < lengths[group] else []
        return [ord(letter) for letter in text[: lengths[group]]] + ended
    packed = parameters["model"]
    data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    m, k = code_of(data, parameters["length"], text)
    spelled = f"{m:0{k}b}"[:k] if k else ""
    digits = spelled.ljust(lengths[group], "0")
    edges = [0, *lengths[: group + 1]]
    return [int(digits[a:b], 2) for a, b in itertools.pairwise(edges)]


def hashed(key: bytes, symbols: list[int], index: int) -> int:
    """Return a hash function's word of a sequence of symbols; of the key if it is absent."""
    a, b = ref.fingerprint(key) if key == b"a" else (0, 0)
    for s in symbols:
        a = ref.mix((a + 0x9E3779B97F4A7C15 * (s + 1)) % 2**64)
        b = ref.mix(b ^ a)
    return ref.mix(a ^ ref.mix((b + 0x9E3779B97F4A7C15 * (index + 1)) % 2**64))


def encode_prefixes(
    parameters: Steps, key: bytes, code: int, cohort_key: bytes, _: bytes, fresh: Iterator[int]
) -> Steps:
    """Return every step of the encoding."""
    stream, weights = ref.words(cohort_key), parameters["weights"]
    drawn = ref.below(stream, sum(weights))
    group = next(g for g in range(len(weights)) if drawn < sum(weights[: g + 1]))
    cohort = ref.below(stream, parameters["cohorts"])
    symbols = [] if key == b"a" else symbols_of(parameters, key[1:].decode(), group)
    word = hashed(key, symbols, 6 * 2**40 + group * 65536 + cohort)
    points = sum(parameters["prime"] ** i for i in range(parameters["dimension"]))
    true = (word // 2**32) * points // 2**32
    inside, point = encode_point(parameters, true, fresh)
    record = struct.pack("<BHI", group, cohort, point).hex()
    steps = {"group": group, "cohort": cohort, "symbols": symbols, "true_point": true}
    return {**steps, "inside": inside, "point": point, "record": record}


ref.ENCODERS["prefixes"] = encode_prefixes
RATIOS["prefixes"] = ratio_pgr
