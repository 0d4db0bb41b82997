"""How accumulate runs: over the chunks of a store, on one machine or many."""

from deniable.engines.local import Accumulated, accumulate

__all__ = ["Accumulated", "accumulate"]
