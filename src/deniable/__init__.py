"""Telemetry with plausible deniability.

Each person's device randomises the answer before it leaves; the crowd's statistics are still true.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.client import Client

__all__ = ["Client"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import the client when it is first asked for: no part of it is needed to say --help."""
    if name == "Client":
        from deniable.client import Client

        return Client
    raise AttributeError(f"module 'deniable' has no attribute {name!r}")
