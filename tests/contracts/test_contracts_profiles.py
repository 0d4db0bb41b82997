"""Every mechanism of profiles keeps every promise of the contract."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.mechanisms import PROFILE_MECHANISMS, ProfileMechanism
from deniable.mechanisms.profile_base import unnamed_profile
from deniable.testing.contract import check_mechanism

ALPHA = 1e-10


def made(name: str, answers: tuple[int, ...], **wanted: object) -> ProfileMechanism:
    kind = PROFILE_MECHANISMS[name]
    record = unnamed_profile(answers)
    return kind.of(resolve(kind.parameters_type, {"epsilon": 1.5, **wanted}, record, False), record)


YES = (2, 2, 2)
CASES: dict[str, tuple[ProfileMechanism, float]] = {
    "inp_rr": (made("inp_rr", YES), 0.0),
    "inp_rr, asymmetric": (made("inp_rr", (2, 2), asymmetric=True), 0.0),
    "inp_ps": (made("inp_ps", YES), 0.0),
    "inp_ht": (made("inp_ht", YES), 0.1),
    "inp_ht of order 3": (made("inp_ht", YES, order=3), 0.15),
    "marg_rr": (made("marg_rr", YES), 0.05),
    "marg_ps": (made("marg_ps", YES), 0.05),
    "marg_ht": (made("marg_ht", YES), 0.15),
    "inp_em": (made("inp_em", YES), 0.0),
    "inp_olh": (made("inp_olh", YES), 0.05),
    "inp_ht_cms": (made("inp_ht_cms", YES, rows=64, width=1024), 0.1),
    "coefficients": (made("coefficients", YES), 0.1),
    "coefficients of contrasts": (made("coefficients", (2, 3, 2), basis="contrasts"), 0.2),
    "views": (made("views", YES, size=2), 0.05),
    "one view": (made("views", YES, size=3), 0.0),
    "views of other answers": (made("views", (2, 3, 2), size=2), 0.2),
}
"""With the share by which the closed form may be off: it takes the numbers of reports on each
coefficient as they are on average."""


@pytest.mark.parametrize("name", CASES)
def test_records(name: str, rng: np.random.Generator) -> None:
    mechanism, tolerance = CASES[name]
    failures = check_mechanism(mechanism, rng, variance_tolerance=tolerance, alpha=ALPHA)
    assert failures == []


def test_every_registered_mechanism_of_profiles_is_here() -> None:
    assert {type(mechanism) for mechanism, _ in CASES.values()} == set(PROFILE_MECHANISMS.values())
