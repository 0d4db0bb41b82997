"""Draws with outcomes chosen from outside, which record every threshold and bound asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from deniable.client.encoders import Draws
from deniable.errors import InvalidParameter


def whole_number(value: object) -> int:
    """Return a threshold or bound that is an integer.

    Raises:
        InvalidParameter: if it is anything else, such as a float: then no proof holds.
    """
    if type(value) is not int:
        raise InvalidParameter(
            "An encoder drew with a threshold or bound that is no integer but a "
            f"{type(value).__name__}: only integers may decide a coin."
        )
    return value


class WholeNumbers:
    """Draws that refuse every threshold and bound that is no integer."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Toss a coin."""
        return self._draws.coin(whole_number(threshold), bits)

    def below(self, bound: int) -> int:
        """Draw uniformly."""
        return self._draws.below(whole_number(bound))


class Scripted:
    """Draws that follow a script of coins; impossible outcomes are replaced by the possible one.

    Attributes:
        asked: the threshold of every coin so far, as a probability times 2^64.
        tossed: the outcome of every coin so far.
        bounds: the bound of every uniform draw so far.

    Args:
        coins: the outcomes, one after the other.
        uniform: the outcomes of uniform draws, each below its bound; 0 when they run out.
    """

    def __init__(self, coins: Iterator[bool], uniform: Sequence[int] = ()) -> None:
        self._coins = coins
        self._uniform = iter(uniform)
        self.asked: list[int] = []
        self.tossed: list[bool] = []
        self.bounds: list[int] = []

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Return the next outcome of the script, or the only one that is possible."""
        scaled = whole_number(threshold) << (64 - bits)
        outcome = next(self._coins)
        if scaled in (0, 1 << 64):
            outcome = scaled > 0
        self.asked.append(scaled)
        self.tossed.append(outcome)
        return outcome

    def below(self, bound: int) -> int:
        """Return the next uniform outcome of the script."""
        self.bounds.append(whole_number(bound))
        return min(next(self._uniform, 0), bound - 1)


class Keeps:
    """Draws that change nothing: every coin is heads."""

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Return True."""
        return True

    def below(self, bound: int) -> int:
        """Return the first outcome."""
        return 0


class PublicFirst:
    """Draws that separate the public part of a report from the rest.

    Every coin up to the last public uniform draw belongs to the public part. Coins are left to
    enumeration; uniform outcomes are chosen.

    Attributes:
        first: the draws of the public part: "coin" or "below", threshold or bound, and outcome.
        coins: thresholds, of 64 bits, and outcomes of the coins after it.
        bounds: of the uniform draws after it.

    Args:
        draws: where coins are tossed.
        public: the number of uniform draws that decide the public part.
        choose: chooses the outcome of a public one, from its place 0, 1, ... and its bound.
        pick: chooses the outcome of any further one, given its bound.
    """

    def __init__(
        self,
        draws: Draws,
        public: int,
        choose: Callable[[int, int], int],
        pick: Callable[[int], int],
    ) -> None:
        self._draws, self._left, self._public = draws, public, public
        self._choose, self._pick = choose, pick
        self.first: list[tuple[str, int, int]] = []
        self.coins: list[tuple[int, bool]] = []
        self.bounds: list[int] = []

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Toss a coin."""
        heads = self._draws.coin(whole_number(threshold), bits)
        scaled = threshold << (64 - bits)
        if self._left:
            self.first.append(("coin", scaled, int(heads)))
        else:
            self.coins.append((scaled, heads))
        return heads

    def below(self, bound: int) -> int:
        """Return a chosen outcome, of a public draw or a later one."""
        whole_number(bound)
        if self._left == 0:
            self.bounds.append(bound)
            return self._pick(bound)
        outcome = self._choose(self._public - self._left, bound)
        self._left -= 1
        self.first.append(("below", bound, outcome))
        return outcome
