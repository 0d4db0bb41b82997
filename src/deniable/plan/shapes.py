"""The shape of hashing for one's own people, list and epsilon: k, h and m, symbols, or the split.

[EPK14, figures 2 and 3] and [KBR16, figure 3] search these by simulation for populations of their
own, and [FPE16, section 7] leaves open how epsilon is best divided between n-grams and the whole
string. Here every shape of a grid is predicted as a plan predicts it, in closed form, or for
n-grams by simulated crowds with fixed seeds; shown are those that no shorter report beats.

    rappor   k = 8 to 2,048 bits (512 with a permanent response), h = 1 to 4 hash functions,
             m = 1 to 1,024 cohorts
    orr      2 to 512 symbols, 1 to 8,192 cohorts
    ngrams   n = 2 and 3, the whole string's share of epsilon from 0.2 to 0.8

Every shape can fit the whole list at once, with twice as many cells as strings, or where no shape
can has 1,024 cells or more. A cohort keeps at least 1,000 people where there are as many: a report
shows its cohort, and small ones make devices easy to follow [EPK14, section 6.1]. Filters that
`deniable check` warns of are no advice: with more bits than the list can use, or a permanent
response so long that it is as good as a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from deniable.authoring import resolve
from deniable.authoring.weak_shapes import BITS_PER_STRING, IDENTIFYING
from deniable.errors import InvalidParameter
from deniable.plan.collection import Setting
from deniable.plan.prediction import Prediction, predict
from deniable.protocol import Strings

PEOPLE_OF_A_COHORT = 1_000
"""The fewest people of a cohort."""
LISTED, UNLISTED = ("rappor", "orr"), ("ngrams",)
_ENOUGH = 1_024
"""Cells that are enough for a list that is screened."""
_NEARLY = 1.001
"""A shape that is better by less than this is not worth a longer report."""


@dataclass(frozen=True)
class Shape:
    """A shape and what it is predicted to do.

    Attributes:
        letters: the survey keys that make it.
        prediction: errors, detection limit and costs.
    """

    letters: Mapping[str, float]
    prediction: Prediction


def search_shapes(setting: Setting, mechanism: str | None = None) -> tuple[Shape, ...]:
    """Return the shapes that no shorter report beats, the smallest detection limit first.

    Of n-grams all splits are returned.

    Cost: about a second for a list; some ten for n-grams, whose crowds are simulated.

    Args:
        setting: people, epsilon, strings and how many of them are listed.
        mechanism: search this one only: rappor, orr or ngrams.

    Raises:
        InvalidParameter: if the answers are no strings, the mechanism has no shape to search, or
            no shape fits.
    """
    if not isinstance(setting.domain, Strings):
        raise InvalidParameter("Only strings are hashed.", "Search with --strings.")
    names = LISTED if setting.listed else UNLISTED
    if mechanism is not None and mechanism not in names:
        raise InvalidParameter(
            f"There is no shape of {mechanism!r:.40} to search here.",
            f"Search {' or '.join(names)}, or all of them; --candidates says how many are listed.",
        )
    found: list[Shape] = []
    for name in [mechanism] if mechanism else names:
        shapes = [Shape(letters, one) for letters, one in _predicted(setting, name)]
        # Reports of n-grams are equally long: there the whole grid is the answer.
        found += shapes if name == "ngrams" else _unbeaten(shapes)
    if not found:
        raise InvalidParameter("No shape fits this epsilon.", "Raise epsilon.")
    return tuple(sorted(found, key=lambda shape: shape.prediction.smallest))


def _predicted(setting: Setting, name: str) -> Iterator[tuple[Mapping[str, float], Prediction]]:
    for letters in _GRIDS[name](setting):
        try:
            parameters = resolve(
                name, {**setting.wanted, **letters}, setting.domain, setting.absent
            )
        except InvalidParameter:
            continue  # a part of epsilon too small, or too many n-grams
        yield letters, predict(parameters, setting)


def _most(setting: Setting) -> int:
    return max(1, setting.people // PEOPLE_OF_A_COHORT)


def _bits(setting: Setting) -> Iterator[Mapping[str, float]]:
    most, bits = _most(setting), _powers(3, 11, _most_bits(setting))
    fewest = _cells(setting.listed, bits[-1] * min(most, 2**10))
    for k, h, m in product(bits, range(1, 5), _powers(0, 10, most)):
        if h < k and k * m >= fewest:
            yield {"k": k, "h": h, "m": m}


def _most_bits(setting: Setting) -> int:
    """Return the most bits of a filter that no check warns of, whatever the hash functions."""
    used = max(8, BITS_PER_STRING * setting.listed)
    return used if setting.forever is None else min(used, IDENTIFYING - 1)


def _symbols(setting: Setting) -> Iterator[Mapping[str, float]]:
    most = _most(setting)
    symbols = sorted({*range(2, 9), *_powers(3, 9, 512), *(3 * 2**i for i in range(2, 8))})
    # Screened lists are predicted too: more symbols than they need would cost more than they tell.
    fewest = min(_ENOUGH, _cells(setting.listed, 2**11 * min(most, 2**10)))
    for k, m in product(symbols, _powers(0, 13, most) if setting.forever is None else ()):
        if (k - 1) * m >= fewest:
            yield {"symbols": k, "cohorts": m}


def _grams(_: Setting) -> Iterator[Mapping[str, float]]:
    for n, whole in product((2, 3), (0.2, 0.33, 0.5, 0.67, 0.8)):
        yield {"n": n, "whole": whole}


# Each mechanism has letters of its own to search.
_GRIDS = {"rappor": _bits, "orr": _symbols, "ngrams": _grams}


def _cells(listed: int, largest: int) -> int:
    """Return the fewest cells of a shape: twice the list, where the largest shape has as many."""
    return 2 * listed if 2 * listed <= largest else min(_ENOUGH, largest)


def _powers(low: int, high: int, most: int) -> list[int]:
    return [2**i for i in range(low, high + 1) if 2**i <= most]


def _unbeaten(found: list[Shape]) -> list[Shape]:
    """Return the shapes whose detection limit no report of as few bytes reaches, best first."""
    kept: list[Shape] = []
    for shape in sorted(found, key=lambda s: (s.prediction.size, s.prediction.smallest)):
        if not kept or shape.prediction.smallest * _NEARLY < kept[-1].prediction.smallest:
            kept.append(shape)
    return kept
