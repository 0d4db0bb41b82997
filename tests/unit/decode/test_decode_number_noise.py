"""The noise of bins that everybody holds, from imagined crowds, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.number_noise import imagined_noise
from deniable.mechanisms import HCMS, KRR, OUE, PGR, Hadamard, Mechanism, Rappor, Subset

BINS, N = 6, 50


@pytest.mark.parametrize(
    "mechanism",
    [make(BINS, epsilon=1.0) for make in (KRR, OUE, Subset, Hadamard, PGR, HCMS, Rappor.basic)],
    ids=lambda one: one.parameters.mechanism,
)
@pytest.mark.parametrize("held", [0, BINS - 1])
def test_every_closed_mechanism_has_the_variance_of_its_contract(
    mechanism: Mechanism, held: int
) -> None:
    labels = [str(i) for i in range(BINS)] if isinstance(mechanism, Hadamard) else None
    shares, noise = imagined_noise(mechanism, labels, held, N)
    truth = np.eye(BINS)[held]
    assert shares == pytest.approx(truth, abs=0.1)
    assert noise.diagonal() == pytest.approx(mechanism.variance(N, truth), rel=0.1)
    again = imagined_noise(mechanism, labels, held, N)
    assert (again[1] == noise).all()


def test_the_noise_of_a_sum_of_symbols_is_binomial() -> None:
    mechanism = KRR(BINS, epsilon=1.0)
    p, q = (float(chance) for chance in mechanism.parameters.support)
    for held, chance in ((BINS - 1, 3 * q), (0, p + 2 * q)):
        _, noise = imagined_noise(mechanism, None, held, N)
        expected = chance * (1 - chance) / (p - q) ** 2 / N
        assert noise[:3, :3].sum() == pytest.approx(expected, rel=0.05)


def test_people_without_an_answer_are_imagined_too() -> None:
    mechanism = KRR(BINS + 1, epsilon=2.0)
    labels = [str(i) for i in range(BINS + 1)]
    shares, _ = imagined_noise(mechanism, labels, 2, N, absent=0.25)
    assert shares == pytest.approx([0, 0, 0.75, 0, 0, 0, 0.25], abs=0.05)
