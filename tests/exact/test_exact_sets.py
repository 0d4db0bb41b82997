"""The epsilons of sets, proven from the shipped client: sampled, and a bit per name."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.client.encode import encode_drawn
from deniable.client.encoders import Draws, Encoder, encoder_for
from deniable.mechanisms import Members, mechanism_of, members_matrix
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import ABSENT, Answer, Field, Sets
from deniable.protocol.domain import code_key

ONCE = {"epsilon": 1.0}
TWO_STAGES = {"epsilon": 1.0, "epsilon_forever": 2.0}
SAMPLED = [
    ("krr", ONCE, 3, 2),
    ("krr", TWO_STAGES, 2, 2),
    ("krr", TWO_STAGES, 3, 1),
    ("oue", ONCE, 2, 2),
    ("oue", TWO_STAGES, 2, 2),
    ("rappor", TWO_STAGES, 2, 1),
    ("hadamard", ONCE, 4, 3),
    ("subset", ONCE, 3, 3),
]
PER_BIT = [
    (mechanism, {**wanted, "per": "bit"}, names, most)
    for mechanism in ("oue", "rappor")
    for wanted in (ONCE, TWO_STAGES)
    for names, most in ((2, 1), (2, 2), (3, 1), (3, 2), (4, 2), (3, 3))
]


class Whole(Encoder):
    """What the client does with a field's answer, sampling included."""

    def __init__(self, field: Field) -> None:
        self._field = field

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        return encode_drawn(self._field, answer, cohort, permanent, fresh)


class Careless(Encoder):
    """Draws the member afresh although the response to it is permanent."""

    def __init__(self, field: Field) -> None:
        self._encoder = encoder_for(field.parameters)

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        place = fresh.below(2)
        code = answer.members[place] if place < len(answer.members) else 2
        return self._encoder.encode(Answer(code_key(code), code), cohort, permanent, fresh)


def field_of(
    mechanism: str, wanted: dict[str, object], names: int, most: int, absent: bool = False
) -> Field:
    domain = Sets(tuple(f"n{i}" for i in range(names)), most)
    return Field("value", domain, resolve(mechanism, wanted, domain, absent))


def every_set(field: Field, absent: bool = False) -> list[object]:
    domain = field.domain
    assert isinstance(domain, Sets)
    sizes = range(domain.most + 1)
    found: list[object] = [list(c) for size in sizes for c in combinations(domain.values, size)]
    return [*found, ABSENT] if absent else found


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize(("mechanism", "wanted", "names", "most"), SAMPLED + PER_BIT)
def test_every_pair_of_sets(
    mechanism: str, wanted: dict[str, object], names: int, most: int, absent: bool
) -> None:
    field = field_of(mechanism, wanted, names, most, absent)
    parameters = field.parameters
    answers = [field.answer(value, absent) for value in every_set(field, absent)]
    channel = report_channel(Whole(field), answers)
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert parameters.epsilon_once <= 1_000_000
    # With an absent answer, k bits leave more room to differ than the sets of k - 1 names use.
    assert proof.tight or (absent and "per" in wanted)
    assert all(sum(law.values()) == 1 for law in channel.values())
    if parameters.memoised and len(answers) <= 5:
        forever = prove_epsilon(
            permanent_channel(Whole(field), answers), parameters.epsilon_forever
        )
        assert forever.holds, str(forever)
        assert forever.tight or absent


@pytest.mark.parametrize(("mechanism", "wanted", "names", "most"), SAMPLED + PER_BIT[:8])
def test_the_population_form_has_the_exact_channel(
    mechanism: str, wanted: dict[str, object], names: int, most: int
) -> None:
    field = field_of(mechanism, wanted, names, most, absent=True)
    values = every_set(field, absent=True)
    answers = [field.answer(value, absent=True) for value in values]
    channel = report_channel(Whole(field), answers)
    records = sorted({record for law in channel.values() for record in law})
    expected = [[float(channel[answer].get(record, 0)) for answer in answers] for record in records]
    population = mechanism_of(field, absent=True)
    assert isinstance(population, Members)
    assert isinstance(field.domain, Sets)
    found = population.set_likelihood(b"".join(records), members_matrix(field.domain, values))
    assert np.allclose(found, expected, rtol=1e-9, atol=0)


def test_a_member_drawn_afresh_breaks_the_promise_for_ever() -> None:
    field = field_of("krr", TWO_STAGES, 2, 2)
    answers = [field.answer(value, absent=False) for value in every_set(field)]
    forever = field.parameters.epsilon_forever
    assert prove_epsilon(permanent_channel(Whole(field), answers), forever).holds
    assert not prove_epsilon(permanent_channel(Careless(field), answers), forever).holds
