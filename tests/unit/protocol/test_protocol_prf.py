"""Derived keys and streams; their exact bytes are pinned by the vectors."""

from __future__ import annotations

import hashlib
import hmac

from hypothesis import given
from hypothesis import strategies as st

from deniable.protocol.prf import SALT, SECRET_BYTES, DerivedStream, Stream, derive_key

pieces = st.lists(st.binary(max_size=6), max_size=4)
secrets = st.binary(min_size=16, max_size=40)


@given(secrets, pieces, pieces)
def test_different_pieces_give_different_keys(
    secret: bytes, a: list[bytes], b: list[bytes]
) -> None:
    assert (derive_key(secret, *a) == derive_key(secret, *b)) == (a == b)


@given(secrets, pieces)
def test_keys_have_32_bytes_and_depend_on_the_secret(secret: bytes, info: list[bytes]) -> None:
    key = derive_key(secret, *info)
    assert len(key) == SECRET_BYTES == 32
    assert key != derive_key(secret + b"\x01", *info)


@given(secrets)
def test_derivation_is_hkdf_step_by_step(secret: bytes) -> None:
    extracted = hmac.new(SALT, secret, hashlib.sha256).digest()
    info = b"\x01\x00\x00\x00a" + b"\x02\x00\x00\x00bc"
    expanded = hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()
    assert derive_key(secret, b"a", b"bc") == expanded


@given(st.binary(min_size=32, max_size=32))
def test_words_are_the_blocks_in_order(key: bytes) -> None:
    blocks = b"".join(
        hmac.new(key, counter.to_bytes(4, "little"), hashlib.sha256).digest()
        for counter in range(3)
    )
    stream = Stream(key)
    assert b"".join(stream.word().to_bytes(8, "little") for _ in range(12)) == blocks


def test_a_stream_does_not_show_its_key() -> None:
    stream = Stream(b"k" * 32)
    stream.word()
    for text in (repr(stream), str(stream), f"{stream}"):
        assert text == "Stream(<key hidden>)"


def test_a_stream_derives_its_key_when_it_is_first_asked() -> None:
    secret, info = bytes(range(32)), (b"cohort", b"q")
    derived: list[bytes] = []

    def derive() -> bytes:
        derived.append(derive_key(secret, *info))
        return derived[-1]

    for ask in (lambda stream: stream.word(), lambda stream: stream.words(9)):
        assert ask(DerivedStream(derive)) == ask(Stream(derive_key(secret, *info)))
    derived.clear()
    both = DerivedStream(derive), Stream(derive_key(secret, *info))
    assert not derived
    assert [(s.word(), s.words(5), s.word()) for s in both[:1]] == [
        (s.word(), s.words(5), s.word()) for s in both[1:]
    ]
    assert len(derived) == 1
    assert repr(both[0]) == "Stream(<key hidden>)"
