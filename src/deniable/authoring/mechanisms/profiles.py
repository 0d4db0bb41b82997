"""Profiles from what people wrote: `epsilon`, `order`, and coins that tables share."""

from __future__ import annotations

from collections.abc import Mapping

from deniable import _validate
from deniable.authoring.truth import truth_threshold
from deniable.authoring.wanted import wanted_epsilon
from deniable.authoring.written import Written
from deniable.errors import InvalidParameter
from deniable.protocol import epsilon, thresholds
from deniable.protocol.declared import whole
from deniable.protocol.domain import Domain
from deniable.protocol.profile_domain import MAX_ATTRIBUTES
from deniable.protocol.profile_parameters import check_profile_domain

DEFAULT_ORDER = 2
check_order = whole(1, MAX_ATTRIBUTES).read
PROFILE_KEYS: Mapping[str, Written] = {
    "epsilon": Written(epsilon.wanted, "1.0"),
    "order": Written(check_order, "2"),
}
"""The keys that people may write for every mechanism of profiles."""


def wanted_shape(
    owner: str, wanted: Mapping[str, object], domain: Domain, absent: bool
) -> tuple[tuple[int, ...], int, int]:
    """Return answers, order and epsilon in micros, from what people wrote.

    Raises:
        InvalidParameter: if the domain is no profile, or order or epsilon is missing or wrong.
    """
    profile = check_profile_domain(owner, domain, absent)
    micros = wanted_epsilon(owner, wanted)
    count = len(profile.answers)
    order = check_order("order", owner, wanted.get("order", DEFAULT_ORDER))
    if order > count:
        raise InvalidParameter(
            f"The 'order' parameter of {owner} must be at most {count}, the number of fields. "
            f"Got {order}.",
            "Lower it.",
        )
    return profile.answers, order, micros


def sign(
    owner: str, wanted: Mapping[str, object], domain: Domain, absent: bool
) -> tuple[tuple[int, ...], int, int]:
    """Return answers, order and the threshold of a coin that spends the whole epsilon."""
    answers, order, micros = wanted_shape(owner, wanted, domain, absent)
    return answers, order, truth_threshold(1, micros)


def parallel(
    owner: str, wanted: Mapping[str, object], domain: Domain, absent: bool
) -> tuple[tuple[int, ...], int, int, int]:
    """Return answers, order, and the thresholds of 1 for a profile's own cell and for others."""
    answers, order, micros = wanted_shape(owner, wanted, domain, absent)
    if check_flag("asymmetric", owner, wanted.get("asymmetric", False)):
        # With one = 1/2 the largest ratio is (1 - zero)/zero.
        return answers, order, thresholds.ONE // 2, thresholds.ONE - truth_threshold(1, micros)
    if micros < 2:
        raise _validate.invalid("epsilon", owner, "at least 0.000002", micros / 1e6)
    one = truth_threshold(1, micros // 2)
    return answers, order, one, thresholds.ONE - one


def check_flag(name: str, owner: str, value: object) -> bool:
    """Return a value that is true or false, else raise InvalidParameter."""
    if not isinstance(value, bool):
        raise _validate.invalid(name, owner, "true or false", value)
    return value


PARALLEL_KEYS = {**PROFILE_KEYS, "asymmetric": Written(check_flag, "true")}
