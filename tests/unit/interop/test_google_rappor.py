"""Google's hash and permanent noise, against MD5 and HMAC written out by hand."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.interop.google_rappor import (
    GoogleParams,
    GoogleRappor,
    bloom_bits,
)
from material.google_rappor import permanent_response

SHIFTS = [7, 12, 17, 22] * 4 + [5, 9, 14, 20] * 4 + [4, 11, 16, 23] * 4 + [6, 10, 15, 21] * 4
SINES = [int(2**32 * abs(math.sin(i + 1))) for i in range(64)]
M32 = 2**32 - 1


def md5_by_hand(message: bytes) -> bytes:
    """RFC 1321."""
    padded = message + b"\x80" + bytes(-(len(message) + 9) % 64)
    padded += (8 * len(message)).to_bytes(8, "little")
    state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
    for start in range(0, len(padded), 64):
        block = padded[start : start + 64]
        words = [int.from_bytes(block[i : i + 4], "little") for i in range(0, 64, 4)]
        a, b, c, d = state
        for i in range(64):
            f, g = [
                ((b & c) | (~b & d), i),
                ((d & b) | (~d & c), 5 * i + 1),
                (b ^ c ^ d, 3 * i + 5),
                (c ^ (b | ~d & M32), 7 * i),
            ][i // 16]
            total = (a + f + SINES[i] + words[g % 16]) & M32
            turned = total << SHIFTS[i] | total >> (32 - SHIFTS[i])
            a, b, c, d = d, (b + turned) & M32, b, c
        state = [(x + y) & M32 for x, y in zip(state, (a, b, c, d), strict=True)]
    return b"".join(x.to_bytes(4, "little") for x in state)


def hmac_by_hand(key: bytes, message: bytes) -> bytes:
    """RFC 2104 with SHA-256."""
    block = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(x ^ 0x36 for x in block) + message).digest()
    return hashlib.sha256(bytes(x ^ 0x5C for x in block) + inner).digest()


def test_the_hand_written_md5_is_md5() -> None:
    # The test suite of RFC 1321, A.5.
    assert md5_by_hand(b"").hex() == "d41d8cd98f00b204e9800998ecf8427e"
    assert md5_by_hand(b"abc").hex() == "900150983cd24fb0d6963f7d28e17f72"
    long = b"1234567890" * 8
    assert md5_by_hand(long).hex() == "57edf4a22be3c955ac49da2e2107b67a"


def test_the_hand_written_hmac_is_hmac() -> None:
    # RFC 4231, test cases 2 and 6.
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert hmac_by_hand(b"Jefe", b"what do ya want for nothing?").hex() == expected
    expected = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    message = b"Test Using Larger Than Block-Size Key - Hash Key First"
    assert hmac_by_hand(b"\xaa" * 131, message).hex() == expected


@given(
    word=st.binary(max_size=100),
    cohort=st.integers(0, 2**32 - 1),
    hashes=st.integers(1, 16),
    bits=st.integers(1, 256),
)
def test_bloom_bits_by_hand(word: bytes, cohort: int, hashes: int, bits: int) -> None:
    digest = md5_by_hand(cohort.to_bytes(4, "big") + word)
    assert bloom_bits(word, cohort, hashes, bits) == [digest[j] % bits for j in range(hashes)]


def test_golden_bloom_bits() -> None:
    # printf '\\0\\0\\0\\1v1' | md5sum -> 6356fe58...
    assert bloom_bits(b"v1", 1, 4, 256) == [0x63, 0x56, 0xFE, 0x58]
    assert bloom_bits(b"v1", 1, 2, 32) == [3, 22]
    # printf '\\0\\0\\0\\77http://www.example.com' | md5sum -> 3f8eb167...
    assert bloom_bits(b"http://www.example.com", 63, 2, 128) == [63, 14]


@given(
    secret=st.binary(max_size=80),
    bits=st.integers(1, 32),
    f=st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0, 1)),
    data=st.data(),
)
def test_permanent_response_by_hand(
    secret: bytes, bits: int, f: float, data: st.DataObject
) -> None:
    bloom = data.draw(st.integers(0, 2**bits - 1))
    mac = hmac_by_hand(secret, bloom.to_bytes(4, "big"))
    expected = 0
    for i in range(bits):
        uniform, seven_bits = mac[i] % 2, mac[i] // 2
        noisy = seven_bits < 128 * f
        expected += 2**i * (uniform if noisy else bloom // 2**i % 2)
    assert permanent_response(secret, bloom, bits, f) == expected


def test_golden_permanent_response() -> None:
    # printf '\\0\\0\\0\\12' | openssl dgst -sha256 -hmac secret -> 330291df4fe83741...
    # f = 1/2: bytes below 128 are noise, their lowest bit; the others keep the bits of 1010.
    #   bit  7  6  5  4  3  2  1  0
    #  byte 41 37 e8 4f df 91 02 33
    #         1  1  -  1  -  -  0  1
    assert permanent_response(b"secret", 0b1010, 8, 0.5) == 0b11011001


def test_permanent_response_is_permanent_and_depends_on_everything() -> None:
    once = permanent_response(b"secret", 0b1010, 32, 0.5)
    assert permanent_response(b"secret", 0b1010, 32, 0.5) == once
    assert permanent_response(b"Secret", 0b1010, 32, 0.5) != once
    assert permanent_response(b"secret", 0b1011, 32, 0.5) != once
    assert permanent_response(b"secret", 0b1010, 32, 0.0) == 0b1010


@pytest.mark.parametrize(
    ("cohort", "hashes", "bits"), [(-1, 1, 8), (2**32, 1, 8), (0, 17, 8), (0, 0, 8), (0, 1, 257)]
)
def test_bits_that_those_clients_cannot_set_are_refused(
    cohort: int, hashes: int, bits: int
) -> None:
    with pytest.raises(InvalidParameter):
        bloom_bits(b"word", cohort, hashes, bits)


def test_both_stages_together() -> None:
    params = GoogleParams(128, 2, 8, 0.5, 0.75, 0.5)
    # p* = f (p + q) / 2 + (1 - f) p and q* = f (p + q) / 2 + (1 - f) q [EPK14].
    assert params.p_star == pytest.approx(0.5 * 1.25 / 2 + 0.5 * 0.5)
    assert params.q_star == pytest.approx(0.5 * 1.25 / 2 + 0.5 * 0.75)


def test_f_runs_in_steps_of_a_128th() -> None:
    params = GoogleParams(32, 1, 8, 0.25, 0.75, 0.3)  # 128 f = 38.4
    assert params.run_by("python").f == 39 / 128
    assert params.run_by("cpp").f == 38 / 128
    # The Python client agrees: of all bytes, those whose upper bits are below 128 f are noise.
    assert sum(byte >> 1 < 128 * params.f for byte in range(256)) / 256 == 39 / 128
    exact = replace(params, f=0.5)
    assert exact.run_by("python") == exact.run_by("cpp") == exact
    with pytest.raises(InvalidParameter, match="'python' or 'cpp'"):
        params.run_by("java")


@pytest.mark.parametrize(
    ("k", "h", "m", "p", "q", "f"),
    [
        (0, 2, 8, 0.5, 0.75, 0.5),
        (2**17, 2, 8, 0.5, 0.75, 0.5),
        (128, 17, 8, 0.5, 0.75, 0.5),
        (128, 2, 0, 0.5, 0.75, 0.5),
        (128, 2, 8, math.nan, 0.75, 0.5),
        (128, 2, 8, 0.5, 1.01, 0.5),
        (128, 2, 8, 0.5, 0.75, -0.1),
        (128, 2, 8, 0.5, 0.75, 1.0),
        (128, 2, 8, 0.75, 0.75, 0.5),
    ],
)
def test_numbers_that_cannot_be_decoded_are_refused(
    k: int, h: int, m: int, p: float, q: float, f: float
) -> None:
    with pytest.raises(InvalidParameter):
        GoogleParams(k, h, m, p, q, f)


def test_a_triple_must_fit_together() -> None:
    params = GoogleParams(4, 1, 2, 0.25, 0.75, 0.5)
    counts = np.array([[5, 1, 2, 3, 5], [0, 0, 0, 0, 0]])
    positions = params.positions(["a", "b"])
    google = GoogleRappor(params, counts, ("a", "b"), positions)
    assert google.accumulated.reports.tolist() == [5, 0]
    assert google.accumulated.table.tolist() == [[1, 2, 3, 5], [0, 0, 0, 0]]
    for wrong in (counts[:1], counts * np.array([1, 1, 1, 1, 2]), -counts):
        with pytest.raises(InvalidParameter):
            replace(google, counts=wrong)
    for other in (positions[:1], positions + np.uint16(4)):
        with pytest.raises(InvalidParameter):
            replace(google, positions=other)
