from __future__ import annotations

from fractions import Fraction

from deniable.privacy.proof import prove_epsilon

HALF = {0: Fraction(1, 2), 1: Fraction(1, 2)}
TILTED = {0: Fraction(1, 4), 1: Fraction(3, 4)}


def test_a_true_claim_holds_and_the_smallest_is_tight() -> None:
    proof = prove_epsilon({"a": HALF, "b": TILTED}, 693_148)  # ln 2 = 0.6931471...
    assert proof.worst == 2
    assert proof.holds
    assert proof.tight
    assert proof.micros == 693_148
    assert "holds" in str(proof)
    assert not prove_epsilon({"a": HALF, "b": TILTED}, 700_000).tight


def test_a_claim_one_micro_too_small_fails() -> None:
    proof = prove_epsilon({"a": HALF, "b": TILTED}, 693_147)
    assert not proof.holds
    assert "FAILS" in str(proof)


def test_no_finite_claim_holds_for_an_infinite_ratio() -> None:
    proof = prove_epsilon({"a": HALF, "b": {0: Fraction(1)}}, 10**12)
    assert proof.worst is None
    assert proof.micros is None
    assert not proof.holds
    assert prove_epsilon({"a": HALF, "b": {0: Fraction(1)}}, None).holds
