"""InpHT for whole populations; the model stands in protocol/inp_ht.py and profile_signs.py."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from deniable.mechanisms.base import Codes, Floats
from deniable.mechanisms.contrast_matrices import walsh_matrix
from deniable.mechanisms.profile_signs import SignMechanism
from deniable.protocol.inp_ht import InpHTParameters
from deniable.protocol.profile_selection import Selection


class InpHT(SignMechanism):
    """One Hadamard coefficient of the profile, each drawn alike."""

    parameters_type = InpHTParameters
    parameters: InpHTParameters

    @property
    def _selection(self) -> Selection:
        return self.parameters.selection

    def _matrix(self, attribute: int) -> Floats:
        return walsh_matrix(self.inner[attribute])

    def _drawn(self, count: int, rng: Generator) -> Codes:
        return rng.integers(0, self._count, size=count)

    @property
    def _share_of_first(self) -> float:
        return 1 / self._count

    def _probability(self, drawn: Codes) -> Floats:
        return np.full(drawn.size, 1 / self._count)
