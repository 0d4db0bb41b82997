"""The Hadamard count-mean sketch from what people wrote: `epsilon`, `rows`, `width`."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.truth import truth_threshold
from deniable.authoring.wanted import wanted_epsilon
from deniable.authoring.written import Authoring, Written, member
from deniable.protocol import epsilon
from deniable.protocol.domain import Domain
from deniable.protocol.hcms import HCMSParameters
from deniable.protocol.parameters import answers_of

_rows = member(HCMSParameters, "rows")
_width = member(HCMSParameters, "width")


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> HCMSParameters:
    """Read `epsilon`, and where wanted `rows` (32) and `width` (4,096).

    A report costs the same whatever their number, and collisions add variance
    sum f^2 / (g w): so both are large.
    """
    micros = wanted_epsilon("hcms", wanted)
    rows = _rows("rows", "hcms", wanted.get("rows", 32))
    width = _width("width", "hcms", wanted.get("width", 4_096))
    return HCMSParameters(answers_of(domain, absent) or 0, rows, width, truth_threshold(1, micros))


KEYS: Mapping[str, Written] = {
    "epsilon": Written(epsilon.wanted, "1.0"),
    "rows": Written(_rows, "32"),
    "width": Written(_width, "4096"),
}
AUTHORING = Authoring(KEYS, resolve)
