"""The encoders against slow, obvious twins, and what a record promises."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.client import encode as encoding
from deniable.client.encode import encode
from deniable.client.encoders import Draws, encoder_for
from deniable.client.randomness import StreamDraws, SystemDraws
from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.protocol import (
    ABSENT,
    MECHANISMS,
    PROFILE_MECHANISMS,
    Attribute,
    Boolean,
    Domain,
    Field,
    KRRParameters,
    Numbers,
    Profile,
    Question,
    RapporParameters,
    Strings,
)
from deniable.protocol.prf import Stream
from deniable.protocol.thresholds import ONE
from material.clients import BLOOM, COLOURS, PERMANENT, a_field, question, strings

SECRET = bytes(range(32))
BYTES = st.binary(min_size=32, max_size=32)


def key(secret: bytes, purpose: bytes, asked: Question, field: Field, *more: bytes) -> bytes:
    """HKDF-SHA-256 as RFC 5869 writes it, with length-prefixed info."""
    version = asked.version.to_bytes(4, "little")
    pieces = (purpose, asked.id.encode(), version, asked.digest, field.name.encode(), *more)
    info = b"".join(len(piece).to_bytes(4, "little") + piece for piece in pieces)
    extracted = hmac.new(b"deniable/v1", secret, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()


class Words:
    """The words of a key's stream, four per HMAC."""

    def __init__(self, stream_key: bytes) -> None:
        self._key, self._at = stream_key, 0

    def next(self) -> int:
        counter = (self._at // 4).to_bytes(4, "little")
        block = hmac.new(self._key, counter, hashlib.sha256).digest()
        start = self._at % 4 * 8
        self._at += 1
        return int.from_bytes(block[start : start + 8], "little")

    def below(self, bound: int) -> int:
        if bound == 1:
            return 0
        while True:
            number = self.next() % 2 ** (bound - 1).bit_length()
            if number < bound:
                return number


def twin_rappor(asked: Question, field: Field, value: object, secret: bytes, fresh: Words) -> bytes:
    p = field.parameters
    assert isinstance(p, RapporParameters)
    answer = field.answer(value, asked.absent)
    cohort = Words(key(secret, b"cohort", asked, field)).below(p.cohorts)
    bits = [False] * p.bits
    if p.form == "bloom":
        digest = hashlib.sha256(answer.key).digest()
        first, second = (int.from_bytes(digest[i : i + 8], "little") for i in (0, 8))
        for i in range(p.hashes):
            index = cohort * 65_536 + i
            inner = splitmix((second + 0x9E3779B97F4A7C15 * (index + 1)) % 2**64)
            bits[(splitmix(first ^ inner) >> 32) * p.bits >> 32] = True
    elif p.bits == 1:
        bits[0] = answer.code == 1
    else:
        bits[answer.code] = True
    permanent = Words(key(secret, b"permanent", asked, field, answer.key))
    kept = [permanent.next() < (p.permanent_one if b else p.permanent_zero) for b in bits]
    sent = [fresh.next() < (p.report_one if b else p.report_zero) for b in kept]
    number = sum(2**i for i, bit in enumerate(sent) if bit)
    return cohort.to_bytes(2, "little") + number.to_bytes((p.bits + 7) // 8, "little")


def splitmix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


def twin_krr(asked: Question, field: Field, value: object, secret: bytes, fresh: Words) -> bytes:
    p = field.parameters
    assert isinstance(p, KRRParameters)
    answer = field.answer(value, asked.absent)
    symbol = answer.code
    permanent = Words(key(secret, b"permanent", asked, field, answer.key))
    for words, keep in ((permanent, p.permanent_keep), (fresh, p.report_keep)):
        if not words.next() < keep:
            others = [other for other in range(p.answers) if other != symbol]
            symbol = others[words.below(len(others))]
    return symbol.to_bytes(4, "little")


TWO_STAGES = {"epsilon": 1.0, "epsilon_forever": 3.0}
CASES = [
    (strings(parameters=BLOOM), "https://example.org/", twin_rappor),
    (strings(parameters={"k": 13, "h": 3, "m": 7, "p": 0.2, "q": 0.6}), "", twin_rappor),
    (strings(send="always"), ABSENT, twin_rappor),
    (question("c", COLOURS, "rappor", TWO_STAGES), "blue", twin_rappor),
    (question("c", COLOURS, "rappor", PERMANENT, send="always"), ABSENT, twin_rappor),
    (question("b", Boolean(), "rappor", TWO_STAGES), True, twin_rappor),
    (question("b", Boolean(), "rappor", TWO_STAGES), False, twin_rappor),
    (question("k", COLOURS, "krr", TWO_STAGES), "green", twin_krr),
    (question("k", COLOURS, "krr", {"epsilon": 0.5}, send="always"), ABSENT, twin_krr),
    (question("w", Boolean(), "krr", TWO_STAGES), True, twin_krr),
    (question("n", Numbers(("0", "10", "20.5")), "krr", TWO_STAGES), 20.5, twin_krr),
]


@pytest.mark.parametrize(("asked", "value", "twin"), CASES)
@given(secret=BYTES, fresh=BYTES)
def test_the_encoder_agrees_with_its_twin_to_the_bit(asked, value, twin, secret, fresh) -> None:
    record = encode(asked, value, secret, StreamDraws(Stream(fresh)))
    assert record == twin(asked, asked.fields[0], value, secret, Words(fresh))
    asked.fields[0].parameters.check_record(record)


def test_tags_and_keys_are_bound_to_everything_they_should_be() -> None:
    asked = strings()
    field, answer = asked.fields[0], asked.answers("a")[0]
    expected = key(SECRET, b"tag", asked, field, answer.key)[:16]
    assert encoding.tag(SECRET, asked, field, answer) == expected
    others = [
        (SECRET[::-1], asked, "a"),
        (SECRET, asked, "b"),
        (SECRET, strings(version=2), "a"),
        (SECRET, strings("other"), "a"),
        (SECRET, strings(parameters={**BLOOM, "q": 0.8}), "a"),  # the same version, other integers
    ]
    tags = {encoding.tag(secret, q, q.fields[0], q.answers(v)[0]) for secret, q, v in others}
    assert len(tags | {expected}) == 6


def test_a_record_is_its_fields_records_in_order() -> None:
    fields = (a_field("one", COLOURS), a_field("two", COLOURS, "rappor", PERMANENT))
    asked = question(fields=fields)
    fresh = StreamDraws(Stream(SECRET))
    record = encode(asked, {"two": "red", "one": "blue"}, SECRET, fresh)
    words = Words(SECRET)
    assert record == (
        twin_krr(asked, fields[0], "blue", SECRET, words)
        + twin_rappor(asked, fields[1], "red", SECRET, words)
    )
    assert [len(part) for part in asked.split_record(record)] == [4, 3]


def test_two_unicode_spellings_give_the_same_permanent_response() -> None:
    asked = strings(parameters={**BLOOM, **PERMANENT})
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert composed != decomposed
    records = {encode(asked, text, SECRET, SystemDraws()) for text in (composed, decomposed)}
    assert len(records) == 1
    assert records != {encode(asked, "cafe", SECRET, SystemDraws())}


@pytest.mark.parametrize("asked", [strings(), question("c", COLOURS, "rappor", PERMANENT)])
def test_the_number_of_draws_does_not_depend_on_the_answer(asked: Question) -> None:
    class Counting:
        def __init__(self) -> None:
            self.coins = self.bounds = 0

        def coin(self, threshold: int, bits: int = 64) -> bool:
            assert 0 <= threshold <= ONE
            self.coins += 1
            return bool(self.coins % 3)

        def below(self, bound: int) -> int:
            self.bounds += 1
            return bound - 1

    seen = set()
    for value in ("red", "green", "blue"):
        cohort, permanent, fresh = Counting(), Counting(), Counting()
        field = asked.fields[0]
        draws: tuple[Draws, ...] = (cohort, permanent, fresh)
        encoder_for(field.parameters).encode(field.answer(value, False), *draws)
        seen.add((cohort.coins, cohort.bounds, permanent.coins, permanent.bounds, fresh.coins))
    bits = field.parameters.bits
    assert seen == {(0, 1, bits, 0, bits)}


def test_every_mechanism_has_an_encoder() -> None:
    pair = Profile((Attribute("colour", COLOURS), Attribute("dark", Boolean())))
    special: dict[str, Domain] = dict.fromkeys(PROFILE_MECHANISMS, pair)
    special |= dict.fromkeys(("prefixes", "ngrams"), Strings("abc", 12))
    for name, kind in MECHANISMS.items():
        domain = special.get(name, COLOURS)
        assert encoder_for(resolve(kind, {"epsilon": 1.0}, domain, False)), name


def test_an_unknown_mechanism_has_none() -> None:
    with pytest.raises(InvalidParameter, match="There is no mechanism 'strange'"):
        encoder_for(type("Strange", (), {"mechanism": "strange"})())


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_a_secret_of_another_length_is_refused_unseen(length: int) -> None:
    with pytest.raises(InvalidParameter) as caught:
        encode(strings(), "a", b"\xaa" * length, SystemDraws())
    assert "aa" not in str(caught.value)


def test_an_answer_outside_the_domain_is_refused_unseen() -> None:
    with pytest.raises(InvalidAnswer) as caught:
        encode(question("c", COLOURS), "ultraviolet", SECRET, SystemDraws())
    assert "ultraviolet" not in repr(caught.value)
