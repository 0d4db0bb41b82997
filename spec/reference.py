"""The protocol a second time: slow, obvious, written from protocol.md and mechanisms.md alone.

It imports nothing of the package, so that the two can only agree by both being right.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import struct
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

T = 2**64
MASK = 2**64 - 1


class RefusedError(Exception):
    """A value is not an answer; the argument is the reason of protocol.md, section 4."""


# Section 2: canonical JSON


SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def canonical(value: Any) -> bytes:
    """Return the one spelling of a value."""
    if isinstance(value, dict):
        members = (canonical(key) + b":" + canonical(value[key]) for key in sorted(value))
        return b"{" + b",".join(members) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(canonical(item) for item in value) + b"]"
    if isinstance(value, str):
        return b'"' + b"".join(_letter(letter).encode("utf-8") for letter in value) + b'"'
    if type(value) is int and abs(value) < 2**53:
        return b"%d" % value
    raise ValueError("not canonical JSON")


def _letter(letter: str) -> str:
    if letter in SHORT:
        return SHORT[letter]
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x20 else letter


def base64url(data: bytes) -> str:
    """Return base64url without padding, six bits at a time."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    bits = "".join(f"{byte:08b}" for byte in data)
    groups = [bits[i : i + 6].ljust(6, "0") for i in range(0, len(bits), 6)]
    return "".join(alphabet[int(group, 2)] for group in groups)


# Section 3: the digest


def contract(question: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a published question that its digest covers."""
    fields = [
        {name: field[name] for name in ("name", "domain", "mechanism", "parameters")}
        for field in question["fields"]
    ]
    names = ("id", "version", "epoch", "repeat", "send", "level")
    kept = {name: question[name] for name in names if name in question}
    return {**kept, "fields": fields}


def digest(question: dict[str, Any]) -> bytes:
    """Return the digest of a published question."""
    return hashlib.sha256(b"deniable/v1/question\n" + canonical(contract(question))).digest()


# Section 4: answers. A value is what `value_of` makes of its spelling in a vector.


ABSENT = object()


def value_of(spelled: dict[str, Any]) -> Any:
    """Return the value that a vector spells as an object of one member, named for its type."""
    ((kind, inner),) = spelled.items()
    if kind == "boolean" or kind == "string":
        return inner
    if kind == "utf16":
        units = b"".join(struct.pack("<H", unit) for unit in inner)
        return units.decode("utf-16-le", "surrogatepass")
    if kind == "repeat":
        return inner[0] * inner[1]
    if kind == "number":
        return float(inner)
    if kind == "integer":
        return int(inner)
    if kind == "fields":
        return {name: value_of(part) for name, part in inner.items()}
    if kind == "list":
        return [value_of(part) for part in inner]
    return {"absent": ABSENT, "null": None}[kind]


def answer(domain: dict[str, Any], value: Any, absent: bool) -> tuple[bytes, int]:
    """Return key and code of a value; the code of a string is -1."""
    if value is ABSENT:
        if not absent:
            raise RefusedError("type")
        listed = domain["type"] != "strings" and not is_string_set(domain)
        return b"a", size_of(domain) if listed else -1
    if domain["type"] == "strings":
        return fitted(domain, string_key(value)), -1
    if is_string_set(domain):
        return string_set_key(domain, value), -1
    if domain["type"] in ("set", "profile"):
        return (set_key if domain["type"] == "set" else profile_key)(domain, value), -1
    code = {"boolean": _boolean, "categories": _category, "numbers": _bin}[domain["type"]](
        domain, value
    )
    return b"i" + struct.pack("<I", code), code


def size_of(domain: dict[str, Any]) -> int:
    """Return the number of answers of a closed domain, without an absent one."""
    if domain["type"] == "boolean":
        return 2
    if domain["type"] == "set":
        return len(domain["values"]) + 1
    return len(domain["values"]) if domain["type"] == "categories" else len(domain["edges"]) + 1


def is_string_set(domain: dict[str, Any]) -> bool:
    """Tell whether a set is one of strings that nobody listed."""
    return domain["type"] == "set" and "values" not in domain


def string_set_key(domain: dict[str, Any], value: Any) -> bytes:
    """Return the key of a set of strings: its members' keys, rising, each after its length."""
    if not isinstance(value, list):
        raise RefusedError("type")
    if len(value) > 65535:
        raise RefusedError("too_many")
    members = sorted({fitted(domain, string_key(text)) for text in value})
    return b"t" + b"".join(struct.pack("<I", len(member)) + member for member in members)


def string_members(key: bytes) -> list[bytes]:
    """Return the keys of the members of a set of strings."""
    members, rest = [], key[1:]
    while rest:
        (length,) = struct.unpack("<I", rest[:4])
        members.append(rest[4 : 4 + length])
        rest = rest[4 + length :]
    return members


def set_key(domain: dict[str, Any], value: Any) -> bytes:
    """Return the key of a set: its members' codes in rising order."""
    if not isinstance(value, list):
        raise RefusedError("type")
    codes = sorted({_category(domain, name) for name in value})
    if len(codes) > domain["most"]:
        raise RefusedError("too_many")
    return b"m" + b"".join(struct.pack("<I", code) for code in codes)


def profile_key(domain: dict[str, Any], value: Any) -> bytes:
    """Return the key of a profile: its attributes' codes in the order of the survey."""
    if not isinstance(value, dict):
        raise RefusedError("type")
    attributes = {attribute["name"]: attribute for attribute in domain["attributes"]}
    if value.keys() - attributes.keys():
        raise RefusedError("unknown_field")
    codes = []
    for name, attribute in attributes.items():
        if name in value:
            codes.append(answer(attribute["domain"], value[name], False)[1])
        elif "unknown" in attribute:
            codes.append(size_of(attribute["domain"]))
        else:
            raise RefusedError("missing_field")
    return b"r" + b"".join(struct.pack("<I", code) for code in codes)


def set_codes(key: bytes) -> list[int]:
    """Return the members' codes from the key of a set, the attributes' from that of a profile."""
    return [code for (code,) in struct.iter_unpack("<I", key[1:])]


def string_key(value: Any) -> bytes:
    """Return the key of a string."""
    if not isinstance(value, str):
        raise RefusedError("type")
    if len(value) > 4096:
        raise RefusedError("too_long")
    if any(0xD800 <= ord(letter) <= 0xDFFF for letter in value):
        raise RefusedError("bad_unicode")
    data = unicodedata.normalize("NFC", value).encode("utf-8")
    if len(data) > 4096:
        raise RefusedError("too_long")
    return b"s" + data


def fitted(domain: dict[str, Any], key: bytes) -> bytes:
    """Return the key of a string that is cut off, and whose letters are looked for."""
    if "alphabet" not in domain:
        return key
    letters = list(key[1:].decode("utf-8"))[: domain["length"]]
    if domain["outside"] == "refuse" and [x for x in letters if x not in domain["alphabet"]]:
        raise RefusedError("alphabet")
    kept = [x if x in domain["alphabet"] else "\ufffd" for x in letters]
    return b"s" + "".join(kept).encode("utf-8")


def _boolean(_: dict[str, Any], value: Any) -> int:
    if value is not True and value is not False:
        raise RefusedError("type")
    return 1 if value else 0


def _category(domain: dict[str, Any], value: Any) -> int:
    if not isinstance(value, str):
        raise RefusedError("type")
    name = unicodedata.normalize("NFC", value)
    if len(value) > 4096 or name not in domain["values"]:
        raise RefusedError("unknown_category")
    return int(domain["values"].index(name))


def _bin(domain: dict[str, Any], value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RefusedError("type")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if number != number:
        raise RefusedError("not_a_number")
    return sum(1 for edge in domain["edges"] if float(edge) <= number)


def answers(question: dict[str, Any], value: Any) -> list[tuple[bytes, int]]:
    """Return key and code per field of a published question."""
    fields, absent = question["fields"], question["send"] == "always"
    if value is ABSENT or [field["name"] for field in fields] == ["value"]:
        return [answer(field["domain"], value, absent) for field in fields]
    if not isinstance(value, dict):
        raise RefusedError("type")
    if set(value) - {field["name"] for field in fields}:
        raise RefusedError("unknown_field")
    if not absent and len(value) < len(fields):
        raise RefusedError("missing_field")
    return [answer(f["domain"], value.get(f["name"], ABSENT), absent) for f in fields]


# Section 5: the hash family


def fingerprint(key: bytes) -> tuple[int, int]:
    """Return the words a and b."""
    first, second = struct.unpack("<QQ", hashlib.sha256(key).digest()[:16])
    return first, second


def mix(x: int) -> int:
    """Return SplitMix64's finaliser."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def hash_word(key: bytes, index: int) -> int:
    """Return the output of hash function number `index`."""
    a, b = fingerprint(key)
    return mix(a ^ mix((b + 0x9E3779B97F4A7C15 * (index + 1)) & MASK))


def bloom(key: bytes, cohort: int, hashes: int, bits: int) -> list[int]:
    """Return the Bloom bits, one per hash function."""
    words = [hash_word(key, cohort * 65536 + i) for i in range(hashes)]
    return [(word // 2**32) * bits // 2**32 for word in words]


def permutation(size: int, index: int) -> list[int]:
    """Return the rank of every code under a hash function: sort them, and see where each went."""
    keys = [b"i" + struct.pack("<I", code) for code in range(size)]
    order = sorted(range(size), key=lambda code: (hash_word(keys[code], index), code))
    return [order.index(code) for code in range(size)]


# Sections 6 and 7: keys, streams, draws


def hkdf(secret: bytes, salt: bytes, info: bytes, length: int) -> tuple[bytes, bytes]:
    """Return the extracted key and the output of HKDF-SHA-256 [RFC 5869]."""
    extracted = hmac.new(salt or bytes(32), secret, hashlib.sha256).digest()
    output, block, count = b"", b"", 0
    while len(output) < length:
        count += 1
        block = hmac.new(extracted, block + info + bytes([count]), hashlib.sha256).digest()
        output += block
    return extracted, output[:length]


def derive(secret: bytes, *pieces: bytes) -> bytes:
    """Return the key of a list of pieces."""
    info = b"".join(struct.pack("<I", len(piece)) + piece for piece in pieces)
    return hkdf(secret, b"deniable/v1", info, 32)[1]


def words(key: bytes) -> Iterator[int]:
    """Yield the words of a key's stream."""
    counter = 0
    while True:
        block = hmac.new(key, struct.pack("<I", counter), hashlib.sha256).digest()
        yield from struct.unpack("<QQQQ", block)
        counter += 1


def coin(stream: Iterator[int], threshold: int) -> int:
    """Return 1 with probability threshold / 2^64, else 0."""
    return 1 if next(stream) < threshold else 0


def below(stream: Iterator[int], bound: int) -> int:
    """Return a uniform integer of 0..bound-1."""
    if bound == 1:
        return 0
    bits = len(f"{bound - 1:b}")
    while True:
        number = next(stream) % 2**bits
        if number < bound:
            return number


# The mechanisms, and section 8: records


def pack_bits(bits: list[int]) -> bytes:
    """Return bits as bytes, bit i in byte i // 8 at weight 2^(i % 8)."""
    padded = bits + [0] * (-len(bits) % 8)
    groups = [padded[i : i + 8] for i in range(0, len(padded), 8)]
    return bytes(sum(bit * 2**place for place, bit in enumerate(group)) for group in groups)


def own_places(parameters: dict[str, Any], key: bytes, code: int) -> set[int]:
    """Return the bits of an answer where each answer, or each member of a set, has its own."""
    if "members" in parameters:
        return {parameters["bits"] - 1} if key == b"a" else set(set_codes(key))
    return {code}


def both_stages(
    parameters: dict[str, Any], places: set[int], permanent: Iterator[int], fresh: Iterator[int]
) -> tuple[list[int], list[int]]:
    """Return the permanent response and the report of an array with these bits set."""
    u, v, q, p = (
        int(parameters[name])
        for name in ("permanent_one", "permanent_zero", "report_one", "report_zero")
    )
    response = [coin(permanent, u if i in places else v) for i in range(parameters["bits"])]
    return response, [coin(fresh, q if bit else p) for bit in response]


def encode_rappor(
    parameters: dict[str, Any], key: bytes, code: int, cohort_key: bytes,
    permanent: Iterator[int], fresh: Iterator[int],
) -> dict[str, Any]:  # fmt: skip
    """Return every step of the encoding."""
    k = parameters["bits"]
    cohort = below(words(cohort_key), parameters["cohorts"])
    if parameters["form"] == "bloom":
        places = set(bloom(key, cohort, parameters["hashes"], k))
    elif parameters["form"] == "permuted":
        indices = [cohort * 65536 + i for i in range(parameters["hashes"])]
        places = {permutation(parameters["answers"], i)[code] % k for i in indices}
    elif k == 1:
        places = {0} if code == 1 else set()
    else:
        places = own_places(parameters, key, code)
    response, report = both_stages(parameters, places, permanent, fresh)
    return {
        "cohort": cohort,
        "true_bits": sorted(places),
        "permanent": pack_bits(response).hex(),
        "record": (struct.pack("<H", cohort) + pack_bits(report)).hex(),
    }


def _respond(stream: Iterator[int], x: int, k: int, keep: int) -> int:
    if coin(stream, keep):
        return x
    y = below(stream, k - 1)
    return y + 1 if y >= x else y


def encode_krr(
    parameters: dict[str, Any], code: int, permanent: Iterator[int], fresh: Iterator[int]
) -> dict[str, Any]:
    """Return every step of the encoding."""
    k = parameters["answers"]
    response = _respond(permanent, code, k, int(parameters["permanent_keep"]))
    symbol = _respond(fresh, response, k, int(parameters["report_keep"]))
    return {"permanent": response, "symbol": symbol, "record": struct.pack("<I", symbol).hex()}


ENCODERS: dict[str, Callable[..., dict[str, Any]]] = {}
"""Encoders of the mechanisms in the other files: parameters, key, code, cohort key, permanent draws
and fresh draws in, every step of the encoding out."""


def _sampled(
    field: dict[str, Any], key: bytes, code: int, permanent: Iterator[int], fresh: Iterator[int]
) -> tuple[bytes, int]:
    """Return key and code of what is reported: of a set one member, or none, drawn at random."""
    domain, parameters = field["domain"], field["parameters"]
    if domain["type"] != "set" or "members" in parameters or key == b"a":
        return key, code
    kept = int(parameters.get("permanent_zero", 0)) > 0 and int(parameters["permanent_one"]) < T
    kept = kept or int(parameters.get("permanent_keep", T)) < T
    if is_string_set(domain):
        texts = string_members(key)
        place = below(permanent if kept else fresh, max(domain["most"], len(texts)))
        return (texts[place] if place < len(texts) else b"a"), -1
    place = below(permanent if kept else fresh, domain["most"])
    members = [*set_codes(key), *[len(domain["values"])] * domain["most"]]
    return b"i" + struct.pack("<I", members[place]), members[place]


def encode(question: dict[str, Any], value: Any, secret: bytes, fresh_key: bytes) -> dict[str, Any]:
    """Return the record of a question and every step on the way to it."""
    fresh, steps = words(fresh_key), []
    name, version = question["id"].encode(), struct.pack("<I", question["version"])
    for field, (key, code) in zip(question["fields"], answers(question, value), strict=True):
        place = (name, version, digest(question), field["name"].encode())
        cohort_key = derive(secret, b"cohort", *place)
        permanent = words(derive(secret, b"permanent", *place, key))
        if question["repeat"] == "permanent":
            fresh = words(derive(secret, b"report", *place, key))
        tag = derive(secret, b"tag", *place, key)[:16]
        told, number = _sampled(field, key, code, permanent, fresh)
        if field["mechanism"] == "rappor":
            step = encode_rappor(field["parameters"], told, number, cohort_key, permanent, fresh)
        elif field["mechanism"] == "krr":
            step = encode_krr(field["parameters"], number, permanent, fresh)
        else:
            encoder = ENCODERS[field["mechanism"]]
            step = encoder(field["parameters"], told, number, cohort_key, permanent, fresh)
        steps.append({"key": key.hex(), "tag": tag.hex(), **step})
    return {"fields": steps, "record": "".join(step["record"] for step in steps)}
