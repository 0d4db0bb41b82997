"""InpPS from what people wrote."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.mechanisms.profiles import PROFILE_KEYS, wanted_shape
from deniable.authoring.truth import truth_threshold
from deniable.authoring.written import Authoring
from deniable.protocol.domain import Domain
from deniable.protocol.inp_ps import MOST_CELLS, InpPSParameters
from deniable.protocol.profile_parameters import WHOLE, check_count


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> InpPSParameters:
    """Read `epsilon` and `order`."""
    answers, order, micros = wanted_shape("inp_ps", wanted, domain, absent)
    cells = 1 << sum((count - 1).bit_length() for count in answers)
    check_count("inp_ps", "cells", cells, MOST_CELLS, WHOLE)
    return InpPSParameters(answers, order, truth_threshold(cells - 1, micros))


AUTHORING = Authoring(PROFILE_KEYS, resolve)
