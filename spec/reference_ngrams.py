"""The mechanism ngrams a second time: slow, obvious, from the pages alone."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import reference as ref
from reference_epsilon import RATIOS

Steps = dict[str, Any]


def places_of(parameters: Steps) -> int:
    """Return the number of n-grams of a string: one, and one more until all letters are covered."""
    places, covered = 1, parameters["n"]
    while covered < parameters["length"]:
        places, covered = places + 1, covered + parameters["step"]
    return places


def choices_of(parameters: Steps) -> list[tuple[int, ...]]:
    """Return every choice of places, in order."""
    return list(itertools.combinations(range(places_of(parameters)), parameters["grams"]))


def parts_of(parameters: Steps, key: bytes, chosen: tuple[int, ...]) -> list[bytes]:
    """Return the keys of what is reported."""
    if key == b"a":
        return [key] * (len(chosen) + 1)
    filled = key[1:].decode() + "\0" * (parameters["length"] + parameters["n"])
    starts = [place * parameters["step"] for place in chosen]
    return [key, *(b"s" + filled[at : at + parameters["n"]].encode() for at in starts)]


def encode_ngrams(
    parameters: Steps, key: bytes, code: int, cohort_key: bytes, _: bytes, fresh: Iterator[int]
) -> Steps:
    """Return every step of the encoding."""
    stream, choices = ref.words(cohort_key), choices_of(parameters)
    places = ref.below(stream, len(choices))
    cohort = ref.below(stream, parameters["cohorts"])
    record, true = struct.pack("<HH", places, cohort), []
    for i, part in enumerate(parts_of(parameters, key, choices[places])):
        name = "gram" if i else "whole"
        bits = ref.bloom(part, cohort, parameters["hashes"], parameters["bits"])
        one, zero = int(parameters[f"{name}_one"]), int(parameters[f"{name}_zero"])
        sent = [ref.coin(fresh, one if b in bits else zero) for b in range(parameters["bits"])]
        record += ref.pack_bits(sent)
        true.append(sorted(set(bits)))
    steps = {"places": list(choices[places]), "cohort": cohort, "true_bits": true}
    return {**steps, "record": record.hex()}


def ratio_ngrams(parameters: Steps, part: dict[str, Fraction]) -> tuple[Fraction, None]:
    """Return the product of the ratios of the parts."""
    ratios = [
        (part[f"{name}_one"] / part[f"{name}_zero"])
        * ((1 - part[f"{name}_zero"]) / (1 - part[f"{name}_one"]))
        for name in ["whole", *["gram"] * parameters["grams"]]
    ]
    product = Fraction(1)
    for ratio in ratios:
        product *= ratio ** parameters["hashes"]
    return product, None


ref.ENCODERS["ngrams"] = encode_ngrams
RATIOS["ngrams"] = ratio_ngrams
