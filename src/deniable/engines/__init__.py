"""Engines: how counts are accumulated over the chunks of a store.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.engines.local import Accumulated, accumulate

__all__ = ["Accumulated", "accumulate"]
