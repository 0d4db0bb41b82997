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
from deniable.privacy.two_level import levels
from deniable.protocol import Answer
from deniable.protocol.domain import code_key
from deniable.protocol.epsilon import epsilon_of

CASES = {
    "krr": KRR(4, epsilon=1.0),
    "krr, two stages": KRR(4, epsilon=1.0, epsilon_forever=2.0),
    "yes or no": KRR(2, epsilon=1.0),
    "hadamard": Hadamard(4, epsilon=1.0),
    "subset": Subset(5, epsilon=0.3),
    "pgr": PGR.closed(7, epsilon=1.0),
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
    high, low = found
    count = {"yes or no": 2, "one bit": 2, "subset": 5, "pgr": 7, "oue, two stages": 3}.get(name, 4)
    answers = [Answer(code_key(code), code) for code in range(count)]
    law = report_channel(encoder_for(mechanism.parameters), answers)
    assert epsilon_of(high / low) == mechanism.parameters.epsilon_once
    for x, z in permutations(answers, 2):
        more = {y for y in law[x] if law[x][y] > law[z][y]}
        assert sum(law[x][y] for y in more) == high
        assert sum(law[z][y] for y in more) == low
        within = {y: law[x][y] / high for y in more}
        # Anybody's report falls there at least `low` times as often as x's own law says.
        for other in answers:
            assert all(law[other][y] >= low * share for y, share in within.items())


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
