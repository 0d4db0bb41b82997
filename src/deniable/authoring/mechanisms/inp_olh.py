"""InpOLH from what people wrote: `epsilon`, `order`, `g` and `seeds`."""

from __future__ import annotations

from collections.abc import Mapping

from deniable import _validate
from deniable.authoring.mechanisms.olh import KEYS as OLH
from deniable.authoring.mechanisms.olh import best_symbols
from deniable.authoring.mechanisms.profiles import PROFILE_KEYS, wanted_shape
from deniable.authoring.truth import truth_threshold
from deniable.authoring.written import Authoring, Written
from deniable.protocol.domain import Domain
from deniable.protocol.inp_olh import InpOLHParameters
from deniable.protocol.olh import MAX_SEEDS, MAX_SYMBOLS

POOL = 65_536
"""The usual number of seeds: one per report would cost a hash per report and possible profile."""


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> InpOLHParameters:
    """Read `epsilon` and `order`, and `g` and `seeds` unless the best g is to be taken."""
    answers, order, micros = wanted_shape("inp_olh", wanted, domain, absent)
    given = wanted.get("g", best_symbols(micros))
    symbols = _validate.integer("g", "inp_olh", given, 2, MAX_SYMBOLS)
    seeds = _validate.integer("seeds", "inp_olh", wanted.get("seeds", POOL), 2, MAX_SEEDS)
    return InpOLHParameters(answers, order, symbols, seeds, truth_threshold(symbols - 1, micros))


KEYS: Mapping[str, Written] = {**PROFILE_KEYS, "g": OLH["g"], "seeds": OLH["seeds"]}
AUTHORING = Authoring(KEYS, resolve)
