"""InpHTCMS from what people wrote: `epsilon`, `order`, `rows` and `width`."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.mechanisms.profiles import PROFILE_KEYS, wanted_shape
from deniable.authoring.truth import truth_threshold
from deniable.authoring.written import Authoring, Written, member
from deniable.protocol.domain import Domain
from deniable.protocol.inp_ht_cms import InpHTCMSParameters

ROWS, WIDTH = 5, 256
"""The sketch of the paper's comparison."""
_rows = member(InpHTCMSParameters, "rows")
_width = member(InpHTCMSParameters, "width")


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> InpHTCMSParameters:
    """Read `epsilon` and `order`, and where wanted `rows` (5) and `width` (256)."""
    answers, order, micros = wanted_shape("inp_ht_cms", wanted, domain, absent)
    rows = _rows("rows", "inp_ht_cms", wanted.get("rows", ROWS))
    width = _width("width", "inp_ht_cms", wanted.get("width", WIDTH))
    return InpHTCMSParameters(answers, order, truth_threshold(1, micros), rows, width)


KEYS: Mapping[str, Written] = {
    **PROFILE_KEYS,
    "rows": Written(_rows, "5"),
    "width": Written(_width, "256"),
}
AUTHORING = Authoring(KEYS, resolve)
