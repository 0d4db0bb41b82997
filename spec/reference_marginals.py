"""The mechanisms of profiles a second time: slow, obvious, from mechanisms.md."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any

import reference as ref
from reference_epsilon import RATIOS

T = 2**64
Steps = dict[str, Any]
Stream = Iterator[int]


def widths(answers: list[int]) -> list[int]:
    """Return the number of bits of each attribute's code, by counting."""
    return [next(b for b in range(17) if 2**b >= count) for count in answers]


def binary(codes: list[int], bits: list[int]) -> int:
    """Return the code of a combination: write each in its bits, the first one last."""
    written = [f"{code:0{width}b}" for code, width in zip(codes, bits, strict=True)]
    return int("".join(reversed(written)), 2)


def choices(functions: list[int], order: int) -> list[tuple[tuple[int, int], ...]]:
    """Return every choice of so many attributes with a function each, in lexicographic order."""
    found = []
    for subset in combinations(range(len(functions)), order):
        for chosen in product(*(range(functions[i]) for i in subset)):
            found.append(tuple(zip(subset, chosen, strict=True)))
    return sorted(found)


def up_to(functions: list[int], order: int) -> list[tuple[tuple[int, int], ...]]:
    """Return the choices of 1, 2, ..., `order` attributes, one list after the other."""
    return [one for taken in range(1, order + 1) for one in choices(functions, taken)]


def symbol(number: int, count: int) -> str:
    """Return a number of 0..count-1 in the fewest of 1, 2 or 4 bytes, as hexadecimal."""
    form = "<B" if count <= 256 else "<H" if count <= 65536 else "<I"
    return struct.pack(form, number).hex()


def ones(number: int) -> int:
    """Return the number of ones of a binary number."""
    return f"{number:b}".count("1")


def moved(stream: Stream, own: int, cells: int, keep: int) -> int:
    """Return the cell, or one of the others."""
    if ref.coin(stream, keep):
        return own
    others = [cell for cell in range(cells) if cell != own]
    return others[ref.below(stream, cells - 1)]


def keep_of(truth: int, cells: int) -> int:
    """Return the threshold of keeping one of so many cells: E/(E + m - 1), rounded down."""
    e = Fraction(truth, T - truth)
    return int(T * e / (e + cells - 1))


def tables(parameters: Steps) -> list[tuple[int, ...]]:
    """Return the sets of k attributes."""
    return list(combinations(range(len(parameters["answers"])), parameters["order"]))


def encode_inp_rr(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    bits = widths(parameters["answers"])
    own = binary(ref.set_codes(key), bits)
    one, zero = int(parameters["one"]), int(parameters["zero"])
    sent = [ref.coin(fresh, one if cell == own else zero) for cell in range(2 ** sum(bits))]
    return {"cell": own, "record": ref.pack_bits(sent).hex()}


def encode_inp_ps(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    bits = widths(parameters["answers"])
    own, cells = binary(ref.set_codes(key), bits), 2 ** sum(bits)
    sent = moved(fresh, own, cells, int(parameters["keep"]))
    return {"cell": own, "sent": sent, "record": symbol(sent, cells)}


def encode_inp_ht(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    codes, bits = ref.set_codes(key), widths(parameters["answers"])
    every = up_to([2**width - 1 for width in bits], parameters["order"])
    number = ref.below(fresh, len(every))
    masks = [(i, function + 1) for i, function in every[number]]
    true = sum(ones(codes[i] & mask) for i, mask in masks) % 2
    sign = true if ref.coin(fresh, int(parameters["keep"])) else 1 - true
    steps = {"masks": [list(pair) for pair in masks], "true_sign": true, "sign": sign}
    return {**steps, "coefficient": number, "record": symbol(2 * number + sign, 2 * len(every))}


def encode_marg_rr(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    codes, bits = ref.set_codes(key), widths(parameters["answers"])
    number = ref.below(fresh, len(tables(parameters)))
    among = tables(parameters)[number]
    cells, room = 2 ** sum(bits[i] for i in among), _largest(parameters)
    own = binary([codes[i] for i in among], [bits[i] for i in among])
    one, zero = int(parameters["one"]), int(parameters["zero"])
    sent = [ref.coin(fresh, one if cell == own else zero) for cell in range(cells)]
    padded = ref.pack_bits(sent + [0] * (room - cells)).hex()
    record = symbol(number, len(tables(parameters))) + padded
    return {"marginal": list(among), "cell": own, "record": record}


def _largest(parameters: Steps) -> int:
    bits = widths(parameters["answers"])
    return max(2 ** sum(bits[i] for i in among) for among in tables(parameters))


def encode_marg_ps(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    codes, bits = ref.set_codes(key), widths(parameters["answers"])
    number = ref.below(fresh, len(tables(parameters)))
    among = tables(parameters)[number]
    cells, room = 2 ** sum(bits[i] for i in among), _largest(parameters)
    own = binary([codes[i] for i in among], [bits[i] for i in among])
    sent = moved(fresh, own, cells, keep_of(int(parameters["truth"]), cells))
    record = symbol(number * room + sent, len(tables(parameters)) * room)
    return {"marginal": list(among), "cell": own, "sent": sent, "record": record}


def encode_marg_ht(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    codes, bits = ref.set_codes(key), widths(parameters["answers"])
    number = ref.below(fresh, len(tables(parameters)))
    among = tables(parameters)[number]
    cells, room = 2 ** sum(bits[i] for i in among), _largest(parameters)
    alpha = ref.below(fresh, cells - 1) + 1
    true = ones(alpha & binary([codes[i] for i in among], [bits[i] for i in among])) % 2
    sign = true if ref.coin(fresh, int(parameters["keep"])) else 1 - true
    record = symbol(2 * (number * room + alpha) + sign, 2 * len(tables(parameters)) * room)
    steps = {"marginal": list(among), "alpha": alpha, "true_sign": true, "sign": sign}
    return {**steps, "record": record}


def encode_inp_em(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    bits = widths(parameters["answers"])
    own = binary(ref.set_codes(key), bits)
    true = [own // 2**i % 2 for i in range(sum(bits))]
    sent = [bit if ref.coin(fresh, int(parameters["keep"])) else 1 - bit for bit in true]
    return {"true_bits": true, "record": ref.pack_bits(sent).hex()}


def encode_inp_olh(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    g, seeds = parameters["symbols"], parameters["seeds"]
    seed = ref.below(fresh, seeds)
    true = (ref.hash_word(key, 2**40 + seed) // 2**32) * g // 2**32
    sent = moved(fresh, true, g, int(parameters["keep"]))
    return {"true_symbol": true, "symbol": sent, "record": symbol(seed, seeds) + symbol(sent, g)}


def encode_inp_ht_cms(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    rows, width = parameters["rows"], parameters["width"]
    row = ref.below(fresh, rows)
    a = ref.below(fresh, width)
    bucket = (ref.hash_word(key, 2 * 2**40 + row) // 2**32) * width // 2**32
    true = ones(a & bucket) % 2
    sign = true if ref.coin(fresh, int(parameters["keep"])) else 1 - true
    record = symbol(2 * (row * width + a) + sign, 2 * rows * width)
    return {"row": row, "bucket": bucket, "coefficient": a, "sign": sign, "record": record}


def contrast(answers: int, degree: int) -> list[Fraction]:
    """Return the contrast of a degree: Gram and Schmidt on the powers of x, then scaled."""
    basis: list[list[Fraction]] = []
    for power in range(degree + 1):
        vector = [Fraction(x) ** power for x in range(answers)]
        for other in basis:
            part = _dot(vector, other) / _dot(other, other)
            vector = [v - part * o for v, o in zip(vector, other, strict=True)]
        basis.append(vector)
    scale = max(abs(v) for v in basis[-1])
    scale = scale if basis[-1][0] > 0 else -scale
    return [v / scale for v in basis[-1]]


def _dot(one: list[Fraction], other: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


def coefficient_value(
    parameters: Steps, codes: list[int], chosen: tuple[tuple[int, int], ...]
) -> Fraction:
    """Return the value of a coefficient for a profile."""
    value = Fraction(1)
    for i, function in chosen:
        if parameters["basis"] == "walsh":
            value *= (-1) ** ones((function + 1) & codes[i])
        else:
            value *= contrast(parameters["answers"][i], function + 1)[codes[i]]
    return value


def plus_threshold(keep: int, value: Fraction) -> int:
    """Return the threshold of +1: 1/2 + (2 keep - 1) value/2, rounded towards 1/2."""
    away = (2 * keep - T) * abs(value) / 2
    return 2**63 + int(away) if value > 0 else 2**63 - int(away)


def encode_coefficients(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    codes, answers = ref.set_codes(key), parameters["answers"]
    walsh = parameters["basis"] == "walsh"
    functions = [2**b - 1 for b in widths(answers)] if walsh else [count - 1 for count in answers]
    order, first = 1, 0
    while order < parameters["order"]:
        if ref.coin(fresh, int(parameters["orders"][order - 1])):
            break
        first += len(choices(functions, order))
        order += 1
    within = ref.below(fresh, len(choices(functions, order)))
    chosen = choices(functions, order)[within]
    value = coefficient_value(parameters, codes, chosen)
    plus = plus_threshold(int(parameters["keep"]), value)
    sign = 0 if ref.coin(fresh, plus) else 1
    total = len(up_to(functions, parameters["order"]))
    return {
        "order": order,
        "coefficient": first + within,
        "chosen": [list(pair) for pair in chosen],
        "value": str(value),
        "plus": str(plus),
        "sign": sign,
        "record": symbol(2 * (first + within) + sign, 2 * total),
    }


def encode_views(
    parameters: Steps, key: bytes, code: int, _: bytes, permanent: Stream, fresh: Stream
) -> Steps:
    """Return every step of the encoding."""
    codes, answers, views = ref.set_codes(key), parameters["answers"], parameters["views"]
    number = ref.below(fresh, len(views))
    view = views[number]
    every = [cell[::-1] for cell in product(*(range(answers[i]) for i in reversed(view)))]
    own = every.index(tuple(codes[i] for i in view))
    sent = moved(fresh, own, len(every), keep_of(int(parameters["truth"]), len(every)))
    room = max(prod(answers[i] for i in other) for other in views)
    record = symbol(number * room + sent, len(views) * room)
    return {"view": view, "cell": own, "sent": sent, "record": record}


Ratio = tuple[Fraction, None]


def _ratio_parallel(_: Steps, part: dict[str, Fraction]) -> Ratio:
    return part["one"] / part["zero"] * (1 - part["zero"]) / (1 - part["one"]), None


def _ratio_sign(_: Steps, part: dict[str, Fraction]) -> Ratio:
    return part["keep"] / (1 - part["keep"]), None


def _ratio_inp_ps(parameters: Steps, part: dict[str, Fraction]) -> Ratio:
    others = 2 ** sum(widths(parameters["answers"])) - 1
    return part["keep"] * others / (1 - part["keep"]), None


def _ratio_inp_em(parameters: Steps, part: dict[str, Fraction]) -> Ratio:
    return (part["keep"] / (1 - part["keep"])) ** sum(widths(parameters["answers"])), None


def _ratio_inp_olh(parameters: Steps, part: dict[str, Fraction]) -> Ratio:
    return part["keep"] * (parameters["symbols"] - 1) / (1 - part["keep"]), None


def _largest_ratio(parameters: Steps, sizes: set[int]) -> Ratio:
    keeps = {cells: Fraction(keep_of(int(parameters["truth"]), cells), T) for cells in sizes}
    return max(keep * (cells - 1) / (1 - keep) for cells, keep in keeps.items()), None


def _ratio_marg_ps(parameters: Steps, _: dict[str, Fraction]) -> Ratio:
    bits = widths(parameters["answers"])
    return _largest_ratio(parameters, {2 ** sum(bits[i] for i in t) for t in tables(parameters)})


def _ratio_views(parameters: Steps, _: dict[str, Fraction]) -> Ratio:
    answers = parameters["answers"]
    return _largest_ratio(parameters, {prod(answers[i] for i in v) for v in parameters["views"]})


ref.ENCODERS |= {
    "inp_rr": encode_inp_rr,
    "inp_ps": encode_inp_ps,
    "inp_ht": encode_inp_ht,
    "marg_rr": encode_marg_rr,
    "marg_ps": encode_marg_ps,
    "marg_ht": encode_marg_ht,
    "inp_em": encode_inp_em,
    "inp_olh": encode_inp_olh,
    "inp_ht_cms": encode_inp_ht_cms,
    "coefficients": encode_coefficients,
    "views": encode_views,
}
RATIOS.update(
    {
        "inp_rr": _ratio_parallel,
        "inp_ps": _ratio_inp_ps,
        "inp_ht": _ratio_sign,
        "marg_rr": _ratio_parallel,
        "marg_ps": _ratio_marg_ps,
        "marg_ht": _ratio_sign,
        "inp_em": _ratio_inp_em,
        "inp_olh": _ratio_inp_olh,
        "inp_ht_cms": _ratio_sign,
        "coefficients": _ratio_sign,
        "views": _ratio_views,
    }
)
