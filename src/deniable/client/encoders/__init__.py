"""One encoder per mechanism: an answer in, a randomised record out.

An encoder's file is imported when its mechanism is first used.
"""

from __future__ import annotations

from collections.abc import Callable

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol.parameters import Parameters
from deniable.protocol.registry import part

__all__ = ["Draws", "Encoder", "encoder_for"]


def encoder_for(parameters: Parameters) -> Encoder:
    """Return the encoder of a mechanism's parameters.

    Raises:
        InvalidParameter: if no mechanism of that name is registered.
    """
    make: Callable[[Parameters], Encoder] = part(parameters.mechanism, "encoder")
    return make(parameters)
