"""InpEM from what people wrote."""

from __future__ import annotations

from collections.abc import Mapping

from deniable import _validate
from deniable.authoring.mechanisms.profiles import PROFILE_KEYS, wanted_shape
from deniable.authoring.truth import truth_threshold
from deniable.authoring.written import Authoring
from deniable.protocol import epsilon
from deniable.protocol.domain import Domain
from deniable.protocol.inp_em import InpEMParameters


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> InpEMParameters:
    """Read `epsilon` and `order`. Every bit gets the same part of epsilon."""
    answers, order, micros = wanted_shape("inp_em", wanted, domain, absent)
    width = sum((count - 1).bit_length() for count in answers)
    if micros < width:
        must = f"at least {epsilon.as_float(width):f} for {width} bits"
        raise _validate.invalid("epsilon", "inp_em", must, epsilon.as_float(micros))
    return InpEMParameters(answers, order, truth_threshold(1, micros // width))


AUTHORING = Authoring(PROFILE_KEYS, resolve)
