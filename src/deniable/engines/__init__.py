"""Engines: how counts are accumulated over the chunks of a store."""

from deniable.engines.local import Accumulated, accumulate

__all__ = ["Accumulated", "accumulate"]
