"""O-RAPPOR of closed domains: bits by permutations, estimated without an intercept."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.errors import InvalidParameter
from deniable.mechanisms import Counts, Rappor
from deniable.mechanisms.rappor_permuted import answer_bits, permuted_bits
from deniable.protocol import Answer, Boolean, Categories, RapporParameters, Strings
from deniable.protocol.domain import code_key

TEN = Categories(tuple(map(str, range(10))))


def test_bits_are_those_of_the_client(rng: np.random.Generator) -> None:
    parameters = Rappor.permuted(10, bits=4, hashes=2, cohorts=3, epsilon=1.0).parameters
    every = np.array(
        [
            [parameters.places(Answer(code_key(code), code), cohort) for code in range(10)]
            for cohort in range(3)
        ]
    )
    for cohort in range(3):
        assert answer_bits(parameters, cohort).tolist() == every[cohort].tolist()
    cohorts, codes = rng.integers(0, 3, 50).astype(np.uint16), rng.integers(0, 10, 50)
    assert permuted_bits(parameters, cohorts, codes).tolist() == every[cohorts, codes].tolist()


def test_answers_are_spread_evenly_over_the_bits() -> None:
    parameters = Rappor.permuted(10, bits=4, cohorts=8, epsilon=1.0).parameters
    for cohort in range(8):
        loads = np.bincount(answer_bits(parameters, cohort)[:, 0], minlength=4)
        assert sorted(loads.tolist()) == [2, 2, 3, 3]


def test_expected_counts_give_the_frequencies_back() -> None:
    mechanism = Rappor.permuted(6, bits=3, hashes=1, cohorts=8, epsilon=3.0)
    true = np.array([0.5, 0.3, 0.2, 0.0, 0.0, 0.0])
    share = np.full((8, 3), mechanism.pure.q)
    for cohort in range(8):
        for code, f in enumerate(true):
            bit = answer_bits(mechanism.parameters, cohort)[code, 0]
            share[cohort, bit] += mechanism.pure.gap * f
    counts = Counts(np.full(8, 10**9), np.rint(share * 10**9).astype(np.int64))
    estimate = mechanism.estimate(counts)
    assert estimate.frequency == pytest.approx(true, abs=1e-6)
    assert estimate.notes == ()
    assert mechanism.estimate(mechanism.zero()).notes


def test_forms_and_domains() -> None:
    wanted = {"form": "permuted", "k": 4, "h": 2, "m": 16, "epsilon": 1.0}
    parameters = resolve(RapporParameters, wanted, TEN, True)
    assert (parameters.form, parameters.answers, parameters.hashes) == ("permuted", 11, 2)
    assert RapporParameters.from_published(parameters.published()) == parameters
    parameters.check_domain(TEN, True)
    for domain in (TEN, Strings(), Boolean()):
        with pytest.raises(InvalidParameter, match=r"permute exactly|bloom form"):
            parameters.check_domain(domain, False)
    usual = resolve(RapporParameters, {"form": "permuted", "epsilon": 1.0}, TEN, False)
    assert (usual.bits, usual.hashes, usual.cohorts) == (10, 1, 64)
    assert "answers" not in resolve(RapporParameters, {"epsilon": 1.0}, TEN, False).published()


@pytest.mark.parametrize(
    ("form", "domain"),
    [("permuted", Strings()), ("basic", Strings()), ("bloom", TEN), ("other", TEN), (3, TEN)],
)
def test_forms_that_do_not_fit(form: object, domain: Categories) -> None:
    with pytest.raises(InvalidParameter, match="form"):
        resolve(RapporParameters, {"form": form, "epsilon": 1.0}, domain, False)
