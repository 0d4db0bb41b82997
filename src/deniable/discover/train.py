"""Make a character model from a public list of strings.

Every context that occurs is counted, from the empty one to `order` symbols. Those are kept that
save the most bits per byte of the model, until it is full: a context saves

    sum over s of c(s) log2(P(s) / P'(s))

where c(s) are its counts, P the model with and P' the model without it. Shorter contexts are
decided first, so that each longer one is judged by what it adds to them.

Training uses floating-point numbers: the model, not the training, is what parties agree on.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from deniable import _validate
from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.protocol.coding import Coder
from deniable.protocol.coding_model import (
    MAGIC,
    MAX_COUNT,
    MAX_MODEL_BYTES,
    MAX_ORDER,
    MAX_TYPICAL,
    CharacterModel,
    Context,
    Counts,
)
from deniable.protocol.domain import Strings

ORDER = 4
_TYPICAL_SHARE = 0.95
_TIMED = 2_000
"""Lines, evenly spread over the list, that tell the typical length of a code."""

Tables = Mapping[Context, Counter[int]]


def train(
    lines: Iterable[str], domain: Strings, order: int = ORDER, size: int = MAX_MODEL_BYTES
) -> CharacterModel:
    """Return a model of strings like these.

    Guarantees: the same lines give the same model; its bytes are at most `size`.

    Cost: linear in the characters times the order, a few seconds for a megabyte of text.

    Edge cases: one line is enough; lines are cut and escaped as the domain says, and left out
    where it refuses them. Nothing of the model is private: train it on public lists only.

    Args:
        lines: strings, the most typical ones as often as they occur.
        domain: the alphabet and the greatest length.
        order: the longest context, 0 to 6.
        size: the most bytes of the model.

    Raises:
        InvalidParameter: if the domain has no alphabet, or no line is a string of it.
    """
    if not domain.alphabet:
        raise InvalidParameter(
            "A coding model needs an alphabet.", "Declare 'alphabet' and 'length' of the strings."
        )
    order = _validate.integer("order", "train", order, 0, MAX_ORDER)
    texts = list(_fitted(lines, domain))
    if not texts:
        raise InvalidParameter(
            "A coding model needs at least one line that is a string of the domain.",
            'Check the alphabet, or use outside = "escape".',
        )
    tables = _count(texts, domain, order)
    spare = _validate.integer("size", "train", size, 1_024, MAX_MODEL_BYTES) - len(MAGIC) - 6
    spare -= len(domain.letters.encode("utf-8"))
    contexts = _chosen(tables, domain, order, spare)
    rough = CharacterModel(domain.letters, 1, contexts)
    return CharacterModel(domain.letters, _typical(rough, texts, domain.length), contexts)


def fitting(lines: Iterable[str], domain: Strings) -> tuple[int, int]:
    """Return how many lines are cut off or escaped, and how many the domain refuses."""
    pairs = [(line, _answer(line, domain)) for line in lines]
    changed = sum(text not in (None, unicodedata.normalize("NFC", line)) for line, text in pairs)
    return changed, sum(text is None for _, text in pairs)


def _fitted(lines: Iterable[str], domain: Strings) -> Iterator[str]:
    """Yield the lines as answers of the domain, without those that it refuses."""
    return (text for line in lines if (text := _answer(line, domain)) is not None)


def _answer(line: str, domain: Strings) -> str | None:
    """Return the string of the domain that a line stands for; None if it is refused."""
    try:
        return domain.fitted(unicodedata.normalize("NFC", line))
    except InvalidAnswer:
        return None


def _count(texts: Iterable[str], domain: Strings, order: int) -> Tables:
    """Return how often each symbol follows each context."""
    codes = {letter: code for code, letter in enumerate(domain.letters)}
    end, tables = len(codes), defaultdict[Context, Counter[int]](Counter)
    for text in texts:
        symbols = (end + 1, *(codes[letter] for letter in text))
        ends = () if len(text) == domain.length else (end,)
        for place, symbol in enumerate((*symbols[1:], *ends), 1):
            for size in range(min(order, place) + 1):
                tables[symbols[place - size : place]][symbol] += 1
    return tables


def _chosen(tables: Tables, domain: Strings, order: int, spare: int) -> dict[Context, Counts]:
    """Return the contexts that save the most bits per byte, quantised, in `spare` bytes."""
    width = 1 if len(domain.letters) <= 254 else 2
    kept = {context: _quantised(counts) for context, counts in tables.items()}
    costs = {c: 3 + width * len(c) + (width + 1) * len(counts) for c, counts in kept.items()}
    savings = _savings(tables, order, len(domain.letters) + 1)
    ranked = sorted(savings, key=lambda c: (-savings[c] / costs[c], len(c), c))
    chosen: dict[Context, Counts] = {}
    for context in ((), *ranked):  # the letters by themselves always help a little
        useful = savings[context] > 0 or not context
        if context not in chosen and useful and costs[context] <= spare and len(chosen) < 65_535:
            chosen[context], spare = kept[context], spare - costs[context]
    return dict(sorted(chosen.items(), key=lambda item: (len(item[0]), item[0])))


def _quantised(counts: Counter[int]) -> Counts:
    """Return counts as integers of 1 to 255; what would be less than half is left out."""
    scale = min(1.0, MAX_COUNT / max(counts.values()))
    scaled = ((symbol, round(count * scale)) for symbol, count in sorted(counts.items()))
    return tuple((symbol, count) for symbol, count in scaled if count >= 1)


def _savings(tables: Tables, order: int, symbols: int) -> dict[Context, float]:
    """Return the bits that each context saves on the list, each symbol judged by all the others.

    P(s) leaves out the one occurrence that is judged: else every context that occurs once would
    seem to know what follows it.
    """
    likely: dict[Context, dict[int, float]] = {}
    saved: dict[Context, float] = {}
    for context in sorted(tables, key=len):
        counts, parent = tables[context], likely.get(context[1:] if context else context, {})
        total, distinct, gain = counts.total(), len(counts), 0.0
        after = {}
        for symbol, count in counts.items():
            base = parent.get(symbol, 1 / symbols)
            others = distinct - (count == 1)
            # Blending as in `after`, without this occurrence: one count less, and one distinct
            # symbol less where it was the only one.
            left = (count - 1 + others * base) / max(1, total - 1 + others)
            gain += count * math.log2(max(left, 1e-6) / base)
            after[symbol] = (count + distinct * base) / (total + distinct)
        saved[context], likely[context] = gain, after
    return saved


def _typical(model: CharacterModel, texts: list[str], length: int) -> int:
    """Return the number of digits that is enough for 95% of the codes of these strings."""
    step, coder = max(1, len(texts) // _TIMED), Coder(model, length)
    digits = sorted(coder.code(text)[1] for text in texts[::step])
    place = min(len(digits) - 1, math.ceil(_TYPICAL_SHARE * len(digits)) - 1)
    return min(MAX_TYPICAL, max(1, digits[place]))
