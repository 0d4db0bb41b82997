"""The description of the collector's interface, OpenAPI 3.1, as a file beside this one.

spec/openapi.json is its copy. Tests derive the same document from the code's reasons, statuses and
bounds, and compare all three.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def openapi_bytes() -> bytes:
    """Return the description."""
    return Path(__file__).with_suffix(".json").read_bytes()
