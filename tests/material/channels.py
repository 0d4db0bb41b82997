"""A small mechanism of every kind and form, for tests that walk over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deniable.audit.answers import every_answer
from deniable.authoring import resolve
from deniable.protocol import (
    Answer,
    Boolean,
    Categories,
    Domain,
    Field,
    Profile,
    Sets,
    Strings,
)
from deniable.protocol.coding_model import CharacterModel
from deniable.protocol.domain import ABSENT_KEY, string_key
from deniable.protocol.profile_domain import Attribute

MODEL = CharacterModel("ab", 7, {(): ((0, 9), (1, 3), (2, 1))}).to_bytes()
TEXTS = ("", "a", "ab", "bab", "bba")
YES_NO, THREE, FIVE = Boolean(), Categories(tuple("abc")), Categories(tuple("abcde"))
ANY, LETTERS = Strings(), Strings("ab", 3)
SETS = Sets(tuple("abc"), 2)
PAIR = Profile((Attribute("x", YES_NO), Attribute("y", THREE)))
MIXED = Profile((Attribute("x", YES_NO), Attribute("y", THREE), Attribute("z", YES_NO)))
WIDE = Profile((Attribute("x", THREE), Attribute("y", FIVE)))


@dataclass(frozen=True)
class Case:
    """A small mechanism: what people write, and the domain."""

    mechanism: str
    domain: Domain
    wanted: Mapping[str, object]
    absent: bool = False

    @property
    def field(self) -> Field:
        made = resolve(self.mechanism, self.wanted, self.domain, self.absent)
        return Field("value", self.domain, made)

    @property
    def answers(self) -> list[Answer]:
        listed = every_answer(self.field, self.absent, 64)
        if listed is not None:
            return listed
        texts = [Answer(string_key(text)) for text in TEXTS]
        return [*texts, Answer(ABSENT_KEY)] if self.absent else texts

    def __str__(self) -> str:
        wanted = " ".join(f"{name}={value!r:.12}" for name, value in self.wanted.items())
        return f"{self.mechanism}-{self.domain.kind}-{wanted}{'-absent' if self.absent else ''}"


EPSILON: dict[str, object] = {"epsilon": 1.0}
TWICE: dict[str, object] = {"epsilon": 1.0, "epsilon_forever": 2.5}
LETTERED: dict[str, object] = {"k": 3, "h": 2, "m": 2, "f": 0.5, "p": 0.5, "q": 0.75}
CASES = [
    Case("krr", YES_NO, EPSILON, absent=True),
    Case("krr", THREE, TWICE),
    Case("krr", SETS, EPSILON),
    Case("krr", SETS, TWICE, absent=True),
    Case("oue", THREE, EPSILON, absent=True),
    Case("oue", THREE, TWICE),
    Case("oue", SETS, EPSILON),
    Case("oue", SETS, {**EPSILON, "per": "bit"}, absent=True),
    Case("oue", SETS, {**TWICE, "per": "bit"}),
    Case("rappor", ANY, LETTERED),
    Case("rappor", ANY, {**LETTERED, "f": 0.0}, absent=True),
    Case("rappor", ANY, {**LETTERED, "p": 0.0, "q": 1.0}),
    Case("rappor", YES_NO, {"f": 0.5, "p": 0.5, "q": 0.75}),
    Case("rappor", YES_NO, EPSILON, absent=True),
    Case("rappor", THREE, {"f": 0.25, "p": 0.25, "q": 0.75}),
    Case("rappor", SETS, {"f": 0.25, "p": 0.25, "q": 0.75, "per": "bit"}),
    Case("rappor", FIVE, {**LETTERED, "k": 2, "form": "permuted"}, absent=True),
    Case("orr", ANY, {**EPSILON, "k": 3, "cohorts": 3}, absent=True),
    Case("orr", FIVE, {**EPSILON, "k": 2, "cohorts": 3}, absent=True),
    Case("pgr", ANY, {**EPSILON, "points": 5, "cohorts": 2}, absent=True),
    Case("pgr", FIVE, EPSILON, absent=True),
    Case("hcms", ANY, {**EPSILON, "rows": 3, "width": 4}, absent=True),
    Case("hcms", THREE, {**EPSILON, "rows": 2, "width": 2}, absent=True),
    Case("olh", ANY, {**EPSILON, "seeds": 5}, absent=True),
    Case("olh", SETS, {**EPSILON, "g": 3, "seeds": 4}),
    Case("hadamard", FIVE, EPSILON, absent=True),
    Case("hadamard", SETS, EPSILON),
    Case("subset", FIVE, {**EPSILON, "d": 2}, absent=True),
    Case("subset", SETS, EPSILON),
    Case("prefixes", LETTERS, {**EPSILON, "points": 5, "cohorts": 2}, absent=True),
    Case("prefixes", LETTERS, {**EPSILON, "points": 5, "cohorts": 2, "lengths": [1, 3]}),
    Case("prefixes", LETTERS, {**EPSILON, "points": 3, "cohorts": 2, "model": MODEL}),
    Case("ngrams", LETTERS, {"epsilon": 3.0, "n": 1, "k": 2, "h": 1, "m": 2}, absent=True),
    Case("ngrams", LETTERS, {"epsilon": 3.0, "whole": 0.5, "step": 1, "k": 2, "h": 2, "m": 1}),
    Case("inp_rr", PAIR, EPSILON),
    Case("inp_rr", PAIR, {**EPSILON, "asymmetric": True}),
    Case("inp_ps", WIDE, EPSILON),
    Case("inp_ht", WIDE, EPSILON),
    Case("marg_rr", MIXED, {**EPSILON, "order": 1}),
    Case("marg_rr", PAIR, {**EPSILON, "asymmetric": True}),
    Case("marg_ps", MIXED, EPSILON),
    Case("marg_ht", MIXED, EPSILON),
    Case("marg_ht", WIDE, EPSILON),
    Case("inp_em", WIDE, EPSILON),
    Case("inp_olh", MIXED, {**EPSILON, "g": 3, "seeds": 5}),
    Case("inp_ht_cms", MIXED, {**EPSILON, "rows": 2, "width": 4}),
    Case("coefficients", MIXED, EPSILON),
    Case("coefficients", WIDE, {**EPSILON, "basis": "contrasts"}),
    Case("views", MIXED, {**EPSILON, "size": 2}),
    Case("views", WIDE, {**EPSILON, "order": 1, "size": 1}),
]  # fmt: skip
