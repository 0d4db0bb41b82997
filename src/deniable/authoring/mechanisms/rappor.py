"""RAPPOR from what people wrote: k, h, m with f, p and q, or with the wanted epsilons."""

from __future__ import annotations

from collections.abc import Mapping

from deniable import _validate
from deniable.authoring.mechanisms.members import check_per, members_of
from deniable.authoring.mechanisms.rappor_tuning import from_epsilon, from_letters
from deniable.authoring.wanted import EPSILONS, spelled_out
from deniable.authoring.written import Authoring, Written, member
from deniable.errors import InvalidParameter
from deniable.protocol.domain import Domain
from deniable.protocol.parameters import answers_of
from deniable.protocol.rappor import MAX_BITS, RapporParameters, basic_bits, exponents_of

LETTERS = {"k": "bits", "h": "hashes", "m": "cohorts"}
_bits = member(RapporParameters, "bits")
_hashes = member(RapporParameters, "hashes")
_cohorts = member(RapporParameters, "cohorts")


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> RapporParameters:
    """Read f, p, q, or the wanted `epsilon` (with `epsilon_forever` for a permanent stage).

    Strings take the bloom form with k, h and m (by default 128, 1 and 64); closed domains
    take the basic form, whose k follows from the domain, or where `form` says so the permuted
    one with k, h and m (k is 16, or the number of answers if they are fewer).
    """
    named = spelled_out("rappor", wanted, LETTERS)
    members = members_of("rappor", named, domain)
    shape = _shape(named, domain, absent, members)
    probabilities = named.keys() & {"f", "p", "q"}
    if probabilities and named.keys() & {"epsilon", "epsilon_forever"}:
        raise InvalidParameter(
            "rappor takes either f, p and q, or epsilon, not both.", "Remove one or the other."
        )
    differ = exponents_of(*shape[1:3], members)
    stages = from_letters(named) if probabilities else from_epsilon(named, *differ)
    permuted = answers_of(domain, absent) if shape[0] == "permuted" else None
    return RapporParameters(*shape, *stages, members, permuted or 0)


def _shape(
    named: Mapping[str, object], domain: Domain, absent: bool, members: int
) -> tuple[str, int, int, int]:
    """Return form, k, h and m."""
    form = named.get("form", "bloom" if domain.size is None else "basic")
    if (form == "bloom") != (domain.size is None) or (members and form != "basic"):
        raise InvalidParameter(
            f"rappor cannot have the form {form!r:.20} here: strings have 'bloom', closed domains "
            "'basic' or 'permuted'.",
            "Leave 'form' out, or change it.",
        )
    if form == "basic":
        bits = basic_bits(domain, absent, members)
        for name, value in (("bits", bits), ("hashes", 1), ("cohorts", 1)):
            if named.get(name, value) != value:
                raise _validate.invalid(
                    name, "rappor", f"{value} for this closed domain, or left out", named[name]
                )
        return "basic", bits, 1, 1
    usual = 128 if form == "bloom" else min(16, answers_of(domain, absent) or 2)
    return (
        str(form),
        _validate.integer("bits (k)", "rappor", named.get("bits", usual), 2, MAX_BITS),
        _hashes("hashes (h)", "rappor", named.get("hashes", 1)),
        _cohorts("cohorts (m)", "rappor", named.get("cohorts", 64)),
    )


KEYS: Mapping[str, Written] = {
    **dict.fromkeys(("k", "bits"), Written(_bits, "128")),
    **dict.fromkeys(("h", "hashes"), Written(_hashes, "2")),
    **dict.fromkeys(("m", "cohorts"), Written(_cohorts, "64")),
    "f": Written(_validate.probability, "0.5"),
    "p": Written(_validate.probability, "0.5"),
    "q": Written(_validate.probability, "0.75"),
    **EPSILONS,
    "per": Written(check_per, '"bit"'),
    "form": Written(member(RapporParameters, "form"), '"permuted"'),
}
AUTHORING = Authoring(KEYS, resolve)
