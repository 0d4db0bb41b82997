"""Every outcome of a function that draws coins, with its exact probability.

A function that draws only through `coin` and `below` is run again and again; each run takes
another branch of the tree of its draws, depth first, until all have been taken. The weights are
fractions, so that the result is the function's distribution itself, not an estimate of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations
from typing import TypeVar, overload

from deniable.client.encoders.base import Draws
from deniable.errors import InvalidParameter

Given = TypeVar("Given", bound=Hashable)
Output = TypeVar("Output", bound=Hashable)

Distribution = Mapping[Output, Fraction]
"""The probability of every output that can occur."""
Channel = Mapping[Given, Distribution[Output]]
"""The distribution of the output under each answer."""

MOST_RUNS = 1_000_000
LARGEST_BOUND = 2**32


class _Uniform(Sequence[tuple[int, Fraction]]):
    """The outcomes of a `below`, not written out: there may be 2^32 of them."""

    def __init__(self, bound: int) -> None:
        self._bound = bound

    def __len__(self) -> int:
        return self._bound

    @overload
    def __getitem__(self, index: int) -> tuple[int, Fraction]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[int, Fraction]]: ...

    def __getitem__(
        self, index: int | slice
    ) -> tuple[int, Fraction] | Sequence[tuple[int, Fraction]]:
        if isinstance(index, slice):
            return [self[i] for i in range(self._bound)[index]]
        return range(self._bound)[index], Fraction(1, self._bound)


@dataclass
class _Branch:
    """One draw of the current run: its kind, its possible outcomes, and the one taken now."""

    draw: tuple[str, int, int]
    options: Sequence[tuple[int, Fraction]]
    taken: int = 0


class _Script:
    """Draws whose outcomes follow the path so far and extend it where it ends."""

    def __init__(self, path: list[_Branch]) -> None:
        self._path = path
        self._place = 0
        self.weight = Fraction(1)

    def coin(self, threshold: int, bits: int = 64) -> bool:
        whole = 1 << bits
        if not 0 <= threshold <= whole:
            raise InvalidParameter(
                f"The threshold of a coin of {bits} bits must be in 0..2^{bits}. Got {threshold}."
            )
        weights = ((1, Fraction(threshold, whole)), (0, Fraction(whole - threshold, whole)))
        possible = tuple(option for option in weights if option[1])
        return self._draw(("coin", threshold, bits), possible) == 1

    def below(self, bound: int) -> int:
        if not 1 <= bound <= LARGEST_BOUND:
            raise InvalidParameter(f"The bound must be from 1 to 2^32. Got {bound}.")
        return self._draw(("below", bound, 0), _Uniform(bound))

    def _draw(self, draw: tuple[str, int, int], options: Sequence[tuple[int, Fraction]]) -> int:
        if self._place == len(self._path):
            self._path.append(_Branch(draw, options))
        branch = self._path[self._place]
        if branch.draw != draw:
            raise InvalidParameter(
                "The function drew differently after the same outcomes: it must depend on nothing "
                "but its draws. Remove every other source of randomness or state."
            )
        self._place += 1
        outcome, weight = branch.options[branch.taken]
        self.weight *= weight
        return outcome


def enumerate_outputs(
    function: Callable[[Draws], Output], most_runs: int = MOST_RUNS
) -> dict[Output, Fraction]:
    """Return every output that `function` can give, with its exact probability.

    Guarantees: the probabilities are positive and sum to 1. Outcomes of probability 0 are not
    taken.

    Cost: one run per path: 2 for a coin, `bound` for a `below`, multiplied along the way.

    Edge cases: a function that draws nothing has one output, of probability 1.

    Args:
        function: must depend on its draws alone, and return something hashable.
        most_runs: the limit on runs; the enumeration gives up beyond it.

    Raises:
        InvalidParameter: if the function has more paths than `most_runs`, or draws differently
            after the same outcomes.

    Example:
        >>> enumerate_outputs(lambda draws: draws.below(3))
        {0: Fraction(1, 3), 1: Fraction(1, 3), 2: Fraction(1, 3)}
    """
    totals: dict[Output, Fraction] = {}
    for run, (output, weight) in enumerate(_runs(function)):
        if run == most_runs:
            raise InvalidParameter(
                f"The function has more than {most_runs:,} paths: enumerate something smaller, "
                "such as fewer bits, or raise 'most_runs'."
            )
        totals[output] = totals.get(output, Fraction(0)) + weight
    return totals


def paths_at_most(function: Callable[[Draws], object], most: int) -> bool:
    """Tell whether a function has at most `most` paths; runs at most `most` + 1 of them."""
    return sum(1 for _ in islice(_runs(function), most + 1)) <= most


def _runs(function: Callable[[Draws], Output]) -> Iterator[tuple[Output, Fraction]]:
    """Yield the output and the weight of every path, depth first."""
    path: list[_Branch] = []
    while True:
        script = _Script(path)
        output = function(script)
        yield output, script.weight
        # Depth first: drop the draws whose outcomes are exhausted, then advance the last one left.
        while path and path[-1].taken + 1 == len(path[-1].options):
            path.pop()
        if not path:
            return
        path[-1].taken += 1


def channel(
    encode: Callable[[Given, Draws], Output], answers: Iterable[Given], most_runs: int = MOST_RUNS
) -> dict[Given, dict[Output, Fraction]]:
    """Return the exact distribution of `encode` under each of the answers.

    Example:
        >>> from fractions import Fraction
        >>> kept = 3 * 2**62
        >>> def flip(answer, draws):
        ...     return answer if draws.coin(kept) else 1 - answer
        >>> found = channel(flip, (0, 1))
        >>> found[0] == {0: Fraction(3, 4), 1: Fraction(1, 4)}
        True
    """

    def under(answer: Given) -> dict[Output, Fraction]:
        return enumerate_outputs(lambda draws: encode(answer, draws), most_runs)

    return {answer: under(answer) for answer in answers}


def worst_ratio(channel: Channel[Given, Output]) -> Fraction | None:
    """Return the largest P(output | answer) / P(output | other answer); None if it is infinite.

    Its logarithm is the smallest epsilon that the channel satisfies.

    Edge cases: 1 for a single answer or none.

    Example:
        >>> from fractions import Fraction
        >>> honest, liar = Fraction(3, 4), Fraction(1, 4)
        >>> worst_ratio({"yes": {1: honest, 0: liar}, "no": {1: liar, 0: honest}})
        Fraction(3, 1)
    """
    worst = Fraction(1)
    for one, other in permutations(channel.values(), 2):
        for output, probability in one.items():
            if output not in other:
                return None
            worst = max(worst, probability / other[output])
    return worst
