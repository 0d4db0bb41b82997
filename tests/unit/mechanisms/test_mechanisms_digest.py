"""Counts know which mechanism and parameters they come from."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.decode import decode
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, OLH, OUE, Counts


def counts_of(mechanism, rng, values=(0, 1, 2)) -> Counts:
    listed = None if not mechanism.hashed else ["a", "b", "c"]
    return mechanism.accumulate(mechanism.simulate(np.array(values), rng, listed))


@pytest.mark.parametrize("kind", [lambda e: KRR(3, epsilon=e), lambda e: OLH(epsilon=e)])
def test_counts_of_another_epsilon_are_refused(kind, rng) -> None:
    low, high = kind(0.5), kind(4.0)
    first, second = counts_of(low, rng), counts_of(high, rng)
    with pytest.raises(InvalidParameter, match="different digests"):
        first.merge(second)
    with pytest.raises(InvalidParameter, match="different digests"):
        low.estimate(second, ["a", "b", "c"])
    with pytest.raises(InvalidParameter, match="different digests"):
        decode(low, second, ["a", "b", "c"])


def test_equal_parameters_have_one_digest_and_merge(rng) -> None:
    one, two = KRR(3, epsilon=1.0), KRR(3, epsilon=1.0)
    both = counts_of(one, rng).merge(counts_of(two, rng)).merge(one.zero())
    assert both.digest == one.digest == two.digest
    assert both.n == 6
    assert one.digest != OUE(3, epsilon=1.0).digest


def test_counts_without_a_digest_go_with_any(rng) -> None:
    mechanism = KRR(3, epsilon=1.0)
    bare = Counts(np.array([3]), np.array([[1, 1, 1]]))
    assert bare.merge(counts_of(mechanism, rng)).digest == mechanism.digest
    assert mechanism.estimate(bare).n == 3
