"""Telemetry with plausible deniability.

Each person's device randomises the answer before it leaves; the crowd's statistics are still true.
"""

from deniable.client import Client

__all__ = ["Client"]
__version__ = "0.1.0"
