"""Two levels of probability: the form that is claimed, by enumeration of the shipped encoders."""

from __future__ import annotations

from itertools import permutations

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import (
    HCMS,
    KRR,
    OLH,
    ORR,
    OUE,
    PGR,
    Hadamard,
    Mechanism,
    Rappor,
    Subset,
)
from deniable.privacy import report_channel
from deniable.privacy.shuffling.two_level import levels
from deniable.protocol import Answer
from deniable.protocol.domain import code_key
from deniable.protocol.epsilon import epsilon_of

CASES = {
    "krr": KRR(4, epsilon=1.0),
    "krr, two stages": KRR(4, epsilon=1.0, epsilon_forever=2.0),
    "yes or no": KRR(2, epsilon=1.0),
    "hadamard": Hadamard(4, epsilon=1.0),
    "subset": Subset(5, epsilon=0.3),
    "pgr": PGR(7, epsilon=1.0),
    "oue": OUE(4, epsilon=1.0),
    "oue, two stages": OUE(3, epsilon=1.0, epsilon_forever=2.0),
    "rappor": Rappor.basic(4, f=0.0, p=0.3, q=0.8),
    "one bit": Rappor.basic(f=0.5, p=0.25, q=0.75),
}


@pytest.mark.parametrize("name", CASES)
def test_the_form_holds_for_every_pair_of_answers(name: str) -> None:
    mechanism = CASES[name]
    found = levels(mechanism.parameters)
    assert found is not None
    e, low, both, neither = found
    assert (e + 1) * low + e * both + neither == 1
    assert epsilon_of(e) == mechanism.parameters.epsilon_once
    count = {"yes or no": 2, "one bit": 2, "subset": 5, "pgr": 7, "oue, two stages": 3}.get(name, 4)
    answers = [Answer(code_key(code), code) for code in range(count)]
    law = report_channel(encoder_for(mechanism.parameters), answers)
    for x, z in permutations(answers, 2):
        more = [y for y in law[x] if law[x][y] > law[z][y]]
        assert all(law[x][y] == e * law[z][y] for y in more)
        assert sum(law[z][y] for y in more) == low
        same = [y for y in law[x] if law[x][y] == law[z][y]]
        least = {y: min(law[other][y] for other in answers) for y in law[x]}
        # Everybody's reports share what the two have in common, in each of the four cells.
        assert all(least[y] >= law[z][y] for y in more)
        assert sum(law[x][y] for y in same) == e * both + neither
        assert all(least[y] >= law[x][y] / e for y in same)
        assert sum(law[x][y] for y in same if least[y] == law[x][y]) >= neither


@pytest.mark.parametrize(
    "mechanism",
    [
        OLH(epsilon=1.0),
        ORR(epsilon=1.0),
        HCMS(epsilon=1.0),
        PGR(epsilon=1.0),
        Rappor(bits=16, hashes=2, cohorts=4, epsilon=1.0),
        Rappor.basic(f=0.0, p=0.3, q=0.6),
    ],
)
def test_the_others_have_no_such_form(mechanism: Mechanism) -> None:
    assert levels(mechanism.parameters) is None
