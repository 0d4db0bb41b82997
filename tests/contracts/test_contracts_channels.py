"""Each mechanism's channel is what its shipped encoder does, probability by probability.

The encoder is enumerated: every outcome of every draw. The channel is a description of its own; so
a mistake would have to be made twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain, repeat
from multiprocessing import Pipe

import pytest

from deniable.audit.exact.tracing import Scripted
from deniable.client.encode import encode_drawn
from deniable.client.encoders import Draws, Encoder
from deniable.errors import InvalidParameter
from deniable.privacy import enumerate_outputs
from deniable.privacy.proof import permanent_channel, prove_epsilon
from deniable.protocol import (
    MECHANISMS,
    Answer,
    Field,
    KRRParameters,
    Parameters,
)
from deniable.protocol.channel import Bits, Channel, Number, Product, Sign, reported, whole
from deniable.protocol.epsilon import epsilon_of
from material.channels import CASES, EPSILON, THREE, Case

CONTRACT = pytest.mark.parametrize("case", CASES, ids=str)


def sent(field: Field, answer: Answer) -> dict[bytes, Fraction]:
    """Return the law of the shipped encoder's records."""
    return enumerate_outputs(lambda draws: encode_drawn(field, answer, draws, draws, draws))


def described(field: Field, answer: Answer) -> dict[bytes, Fraction]:
    """Return the law that the channel states."""
    law: dict[bytes, Fraction] = {}
    for member, drawn in reported(field.domain, field.parameters, answer):
        for record, chance in field.parameters.channel.law(member).items():
            law[record] = law.get(record, Fraction(0)) + drawn * chance
    return law


def test_every_mechanism_is_here() -> None:
    assert {case.mechanism for case in CASES} == set(MECHANISMS)


@CONTRACT
def test_the_channel_is_what_the_encoder_does(case: Case) -> None:
    field = case.field
    for answer in case.answers:
        law = sent(field, answer)
        assert described(field, answer) == law
        for record in law:
            field.parameters.check_record(record)


@CONTRACT
def test_a_record_is_read_as_it_is_written(case: Case) -> None:
    channel = case.field.parameters.channel
    for record in sent(case.field, case.answers[0]):
        public, value = channel.read(channel.layout.unpack(record))
        assert channel.record(public, value) == record
        assert value in set(channel.rest(public).values())


@CONTRACT
def test_epsilon_is_that_of_the_channel(case: Case) -> None:
    parameters = case.field.parameters
    worst, forever = parameters.channel.worst, parameters.channel.worst_forever
    assert worst is not None
    # Where two answers' hashed bits cannot all differ, the published epsilon is on the safe side.
    crowded = case.wanted.get("h") == 2
    assert epsilon_of(worst) <= parameters.epsilon_once
    assert epsilon_of(worst) == parameters.epsilon_once or crowded
    assert (forever is None) == (parameters.epsilon_forever is None)
    if forever is not None and parameters.epsilon_forever is not None:
        assert epsilon_of(forever) <= parameters.epsilon_forever
        assert epsilon_of(forever) == parameters.epsilon_forever or crowded


@CONTRACT
def test_a_number_is_permanent_where_it_is_drawn_from_the_cohort_stream(case: Case) -> None:
    field, channel = case.field, case.field.parameters.channel
    fixed = Scripted(repeat(True))

    def public(cohort: Draws, fresh: Draws) -> tuple[int, ...]:
        record = encode_drawn(field, case.answers[0], cohort, fixed, fresh)
        return channel.read(channel.layout.unpack(record))[0]

    kept = enumerate_outputs(lambda draws: public(draws, Scripted(chain(repeat(True)))))
    drawn = enumerate_outputs(lambda draws: public(Scripted(chain(repeat(True))), draws))
    law = dict(channel.publics())
    for place, number in enumerate(channel.numbers):
        own, other = (kept, drawn) if number.permanent else (drawn, kept)
        assert marginal(own, place) == marginal(law, place)
        assert len({seen[place] for seen in other}) == 1


def marginal(law: Mapping[tuple[int, ...], Fraction], place: int) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for numbers, chance in law.items():
        found[numbers[place]] = found.get(numbers[place], Fraction(0)) + chance
    return found


TWO_STAGES = [case for case in CASES if case.field.parameters.memoised]


@pytest.mark.parametrize("case", TWO_STAGES, ids=str)
def test_all_reports_of_a_value_say_what_the_permanent_stage_says(case: Case) -> None:
    field = case.field

    class Shipped(Encoder):
        def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
            return encode_drawn(field, answer, cohort, permanent, fresh)

    answers = case.answers[:3]
    proof = prove_epsilon(permanent_channel(Shipped(), answers), field.parameters.epsilon_forever)
    assert proof.holds, str(proof)
    rest = field.parameters.channel.typical
    assert rest.stages is not None
    first, then = rest.stages
    own = field.parameters.channel.own(_single(field, answers[0]), (0,))
    both = {
        value: sum(first.chance(own, kept) * then.chance(kept, value) for kept in first.values())
        for value in rest.values()
    }
    assert both == {value: rest.chance(own, value) for value in rest.values()}


def _single(field: Field, answer: Answer) -> Answer:
    return reported(field.domain, field.parameters, answer)[0][0]


@CONTRACT
def test_the_flat_law_is_a_law(case: Case) -> None:
    for rest in case.field.parameters.channel.rests:
        parts = rest.parts if isinstance(rest, Product) else (rest,)
        if all(getattr(part, "drawn", 1) for part in parts):
            assert sum(rest.flat(value) for value in rest.values()) == 1


@CONTRACT
def test_the_channel_goes_to_another_process(case: Case) -> None:
    parameters, own = case.field.parameters, _single(case.field, case.answers[0])
    before = parameters.channel.law(own)
    receiver, sender = Pipe(duplex=False)  # pickles what passes
    sender.send(parameters)
    again: Parameters = receiver.recv()
    assert again == parameters
    assert again.channel.law(own) == before


def test_a_channel_that_is_off_by_one_part_in_two_to_the_64_is_seen() -> None:
    case = Case("krr", THREE, EPSILON)
    field, answer = case.field, case.answers[0]
    assert isinstance(field.parameters, KRRParameters)
    other = replace(field.parameters, report_keep=field.parameters.report_keep - 1)
    assert described(replace(field, parameters=other), answer) != sent(field, answer)


def test_the_law_of_a_number_must_sum_to_one() -> None:
    channel = CASES[0].field.parameters.channel
    half = Number("seed", ((4, Fraction(1, 2)),), permanent=False)
    with pytest.raises(InvalidParameter, match=r"law of the 'seed' .* Got 1/2"):
        Channel((half,), channel.kind, channel.own, channel.layout)


def test_what_is_no_whole_number_is_refused_without_showing_it() -> None:
    with pytest.raises(InvalidParameter, match=r"whole number here\. Got a tuple") as error:
        whole((17, 23))
    assert "17" not in str(error.value)
    with pytest.raises(InvalidParameter, match="tuple"):
        Product((Sign(Fraction(1, 2)),)).chance(1, 1)
    with pytest.raises(InvalidParameter, match="from -1 to 1"):
        Sign(Fraction(1, 2)).chance((1,), 0)


def test_any_number_of_bits_has_no_flat_law() -> None:
    with pytest.raises(InvalidParameter, match="flat"):
        Bits(Fraction(1, 2), Fraction(1, 4), 3, 2, 0).flat(1)
