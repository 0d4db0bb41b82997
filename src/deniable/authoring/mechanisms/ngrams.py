"""n-grams from what people wrote: `epsilon` and how it is divided, or p and q."""

from __future__ import annotations

from collections.abc import Mapping

from deniable import _validate
from deniable.authoring.mechanisms.rappor import LETTERS
from deniable.authoring.mechanisms.rappor_tuning import TwoStage, from_epsilon, from_letters
from deniable.authoring.wanted import spelled_out, wanted_epsilon
from deniable.authoring.written import Authoring, Written, member
from deniable.errors import InvalidParameter
from deniable.protocol import epsilon
from deniable.protocol.domain import Domain
from deniable.protocol.ngrams import (
    MAX_DICTIONARY,
    NGramsParameters,
    places_of,
    possible_grams,
    strings_of,
)

_n = member(NGramsParameters, "n")
_bits = member(NGramsParameters, "bits")
_hashes = member(NGramsParameters, "hashes")
_cohorts = member(NGramsParameters, "cohorts")


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> NGramsParameters:
    """Read `epsilon` and how it is divided, or p and q of every part.

    Each of the r + 1 parts gets an equal share of epsilon; `whole` gives the whole string
    another one, and the n-grams share the rest. Defaults: n = 2, `step` = n, `grams` = 2 (1 if
    there is one place), k = 128, h = 1 and m = 64.
    """
    named = spelled_out("ngrams", wanted, LETTERS)
    strings = strings_of(domain)
    n = _n("n", "ngrams", named.get("n", 2))
    step = _n("step", "ngrams", named.get("step", n))
    places = places_of(strings.length, n, step)
    grams = _n("grams", "ngrams", named.get("grams", min(2, places)))
    shape = (
        _bits("bits (k)", "ngrams", named.get("bits", 128)),
        _hashes("hashes (h)", "ngrams", named.get("hashes", 1)),
        _cohorts("cohorts (m)", "ngrams", named.get("cohorts", 64)),
    )
    _check_dictionary(len(strings.letters), n)
    stages = _stages(named, grams, shape[1])
    return NGramsParameters(strings.length, n, step, grams, *shape, *stages)


def _share(name: str, owner: str, value: object) -> float:
    return _validate.between(name, owner, value, "0.01", "0.99")


def _check_dictionary(letters: int, n: int) -> None:
    if n > 1 and possible_grams(letters, n) > MAX_DICTIONARY:
        raise InvalidParameter(
            f"There are {possible_grams(letters, n):,} possible n-grams of {n} of {letters} "
            f"letters. At most {MAX_DICTIONARY:,} are allowed.",
            "Lower 'n', or use a smaller alphabet.",
        )


def _stages(named: Mapping[str, object], grams: int, hashes: int) -> tuple[int, int, int, int]:
    """Return the thresholds of the whole string and of n-grams."""
    if named.keys() & {"p", "q"}:
        if named.keys() & {"epsilon", "whole"}:
            raise InvalidParameter(
                "ngrams takes either p and q, or epsilon, not both.", "Remove one or the other."
            )
        both = from_letters(named)
        return _two(both) + _two(both)
    micros = wanted_epsilon("ngrams", named, ", or the probabilities 'p' and 'q'")
    first = micros // (grams + 1)
    if "whole" in named:
        first = int(micros * _share("whole", "ngrams", named["whole"]))
    other = (micros - first) // grams
    parts = ({"epsilon": epsilon.as_float(part)} for part in (first, other))
    whole, gram = (from_epsilon(part, hashes, hashes) for part in parts)
    return _two(whole) + _two(gram)


def _two(stages: TwoStage) -> tuple[int, int]:
    return stages.report_one, stages.report_zero


KEYS: Mapping[str, Written] = {
    "epsilon": Written(epsilon.wanted, "4.0"),
    "n": Written(_n, "2"),
    "step": Written(_n, "2"),
    "grams": Written(_n, "2"),
    "whole": Written(_share, "0.33"),
    **dict.fromkeys(("k", "bits"), Written(_bits, "128")),
    **dict.fromkeys(("h", "hashes"), Written(_hashes, "1")),
    **dict.fromkeys(("m", "cohorts"), Written(_cohorts, "64")),
    "p": Written(_validate.probability, "0.25"),
    "q": Written(_validate.probability, "0.75"),
}
AUTHORING = Authoring(KEYS, resolve)
