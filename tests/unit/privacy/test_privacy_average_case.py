"""What Bloom filters hide on average, against slow and obvious counts."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest

from deniable.authoring import resolve
from deniable.privacy.average_case import average_case
from deniable.protocol import RapporParameters, Strings


def parameters(**wanted: float) -> RapporParameters:
    found = resolve(RapporParameters, {"m": 4, **wanted}, Strings(), False)
    assert isinstance(found, RapporParameters)
    return found


@pytest.mark.parametrize(("k", "h"), [(4, 1), (5, 2), (4, 3), (3, 4)])
def test_namesakes_and_loss_by_listing_all_draws(k: int, h: int) -> None:
    found = average_case(parameters(k=k, h=h, f=0.5, p=0.3, q=0.6))
    drawn = Counter(frozenset(bits) for bits in itertools.product(range(k), repeat=h))
    chance = {bits: count / k**h for bits, count in drawn.items()}
    assert found.namesakes == pytest.approx(sum(p * p for p in chance.values()))
    q, p = 0.25 * 0.3 + 0.75 * 0.6, 0.75 * 0.3 + 0.25 * 0.6
    up = q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))
    down = p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    loss = sum(
        one * two * (len(a - b) * up + len(b - a) * down)
        for a, one in chance.items()
        for b, two in chance.items()
    )
    assert found.loss_once == pytest.approx(loss, rel=1e-6)
    assert found.silent == pytest.approx(0.25**h)


def test_without_noise_the_average_has_no_bound() -> None:
    found = average_case(parameters(k=16, h=2, f=0.5, p=0.0, q=1.0))
    assert math.isfinite(found.loss_once)  # the permanent response itself is sent
    one_time = average_case(parameters(k=16, h=2, f=0.0, p=0.25, q=0.75))
    assert one_time.silent == 0
    assert one_time.loss_forever == math.inf
