"""The false-failure ledger: the risk of a fresh seed, added up over a whole run.

Statistical tests fail by bad luck with a small probability. Each states its own; the sum bounds
the probability that a run of correct code fails (the union bound), and has a limit.
"""

from __future__ import annotations

from collections import defaultdict

from deniable.errors import InvalidParameter

LIMIT = 1e-6
"""The largest sum that a run of all tests may have."""


class Ledger:
    """False-failure probabilities by the test that risks them."""

    def __init__(self) -> None:
        self._risks: defaultdict[str, float] = defaultdict(float)
        self._owner = ""

    def begin(self, owner: str) -> None:
        """Name the test to which the entries from now on belong; "" for none."""
        self._owner = owner

    def add(self, risk: float) -> None:
        """Enter the probability that the current test fails although nothing is wrong.

        Raises:
            InvalidParameter: unless it is a number from 0 to 1.
        """
        if not 0 <= risk <= 1:
            raise InvalidParameter(f"A false-failure probability must be in 0..1. Got {risk!r}.")
        self._risks[self._owner] += risk

    @property
    def risks(self) -> dict[str, float]:
        """The sum of each test's entries."""
        return dict(self._risks)

    @property
    def total(self) -> float:
        """The sum of all entries: an upper bound of the probability of any false failure."""
        return sum(self._risks.values())

    def exceeded(self, limit: float = LIMIT) -> bool:
        """Tell whether the sum is above the limit, rounding of the sum aside."""
        return self.total > limit * (1 + 1e-9)


LEDGER = Ledger()
"""The ledger of this process: one run of tests."""
