from __future__ import annotations

import numpy as np
import pytest

from deniable.associate import OTHER_LABEL, Variable
from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms import KRR, OLH, Members, Rappor
from deniable.mechanisms.candidates import every_code
from deniable.protocol import Sets
from material.associate_people import CLOSED, HADAMARD, OPEN, STRINGS


def reports(mechanism, n=10):
    rng = np.random.default_rng(1)
    return mechanism.simulate(
        np.zeros(n, dtype=np.int64), rng, STRINGS if mechanism.hashed else None
    )


def test_closed_domains_have_every_answer_and_no_other():
    krr = CLOSED["krr"]
    plain = Variable("a", krr, reports(krr))
    assert plain.categories == ("0", "1", "2")
    assert plain.other is False
    named = Variable("a", krr, reports(krr), labels=("x", "y", "z"))
    assert named.categories == ("x", "y", "z")
    yes_no = Rappor.basic(epsilon=1.0)
    assert Variable("b", yes_no, reports(yes_no)).categories == ("false", "true")
    assert Variable("c", HADAMARD, reports(HADAMARD), labels=("x", "y", "z")).n == 10


def test_some_answers_of_a_closed_domain_leave_the_rest_to_other():
    krr = CLOSED["krr"]
    some = Variable("a", krr, reports(krr), candidates=("z", "x"), labels=("x", "y", "z"))
    assert some.asked() == (2, 0)
    assert some.categories == ("z", "x", OTHER_LABEL)
    every = Variable("a", krr, reports(krr), candidates=("z", "x", "y"), labels=("x", "y", "z"))
    assert every.categories == ("z", "x", "y")


def test_open_alphabets_have_other_unless_their_answers_are_codes():
    bloom = OPEN["bloom"]
    assert Variable("a", bloom, reports(bloom), STRINGS).categories == (*STRINGS, OTHER_LABEL)
    assert Variable("a", bloom, reports(bloom), STRINGS, other=False).categories == STRINGS
    olh = OLH(epsilon=1.0)
    coded = Variable("a", olh, reports(olh), tuple(every_code(3, False)))
    assert coded.categories == ("0", "1", "2")
    named = Variable("a", olh, reports(olh), tuple(every_code(3, False)), ("x", "y", "z"))
    assert named.categories == ("x", "y", "z")


def test_what_cannot_be_analysed_is_refused_with_a_reason():
    krr, bloom = CLOSED["krr"], OPEN["bloom"]
    with pytest.raises(InvalidParameter, match="cannot be listed from reports"):
        Variable("a", bloom, reports(bloom))
    with pytest.raises(InvalidParameter, match="'a' has 1 category"):
        Variable("a", bloom, reports(bloom), ("alpha",), other=False)
    assert len(Variable("a", bloom, reports(bloom), ("alpha",)).categories) == 2
    with pytest.raises(InvalidParameter, match=r"Got .w."):
        Variable("a", krr, reports(krr), candidates=("w",), labels=("x", "y", "z"))
    with pytest.raises(InvalidParameter, match="listed twice"):
        Variable("a", krr, reports(krr), candidates=("x", "x"), labels=("x", "y", "z"))
    with pytest.raises(InvalidParameter, match="Got 1 for 3"):
        Variable("a", bloom, reports(bloom), STRINGS, labels=("x",))
    with pytest.raises(InvalidParameter, match="Candidates must be a list of strings"):
        Variable("a", bloom, reports(bloom), "alpha")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="Labels must be a list of strings"):
        Variable("a", krr, reports(krr), labels="xyz")  # type: ignore[arg-type]
    with pytest.raises(InvalidReport, match="flat array of dtype"):
        Variable("a", krr, reports(bloom))


def test_sets_are_refused():
    domain = Sets(("x", "y"), 1)
    members = Members(KRR(3, epsilon=1.0), domain, False)
    with pytest.raises(InvalidParameter, match="are sets"):
        Variable("a", members, np.zeros(3, dtype=members.dtype))
