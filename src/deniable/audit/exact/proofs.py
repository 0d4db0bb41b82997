"""Proofs of every epsilon of a survey, from the shipped encoder and its integer thresholds.

    field -> an argument that fits its size -> the exact worst ratio -> against e^epsilon

A small encoder is enumerated: every outcome of every draw, for every answer. A large one is proven
by its structure, which is read off the encoder at full size and not taken from a formula: per bit
(`unary_bits`), per symbol given the public items (`symbols`), per subset (`subset`), or given the
public part of a report about many attributes (`profiles`). Ratios are fractions throughout.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod

import numpy as np

from deniable.audit.answers import convexity, every_answer, some_answers
from deniable.audit.exact import subset, symbols, unary_bits
from deniable.audit.exact.encoder_source import floats_in_encoders
from deniable.audit.exact.ngrams import ngrams_ratio
from deniable.audit.exact.profiles import profile_ratio
from deniable.audit.exact.symbols import Stage
from deniable.audit.exact.tracing import WholeNumbers
from deniable.audit.exact.unary_bits import BitLaw
from deniable.audit.findings import Audit, Finding
from deniable.client.encode import encode_drawn
from deniable.client.encoders import Draws, Encoder
from deniable.errors import InvalidParameter
from deniable.privacy import paths_at_most
from deniable.privacy.proof import Proof, permanent_channel, prove_epsilon, report_channel
from deniable.protocol import (
    Answer,
    Field,
    KRRParameters,
    NGramsParameters,
    ProfileParameters,
    Question,
    SubsetParameters,
    Survey,
)
from deniable.protocol.epsilon import as_float, exp_micros
from deniable.protocol.parameters import cohorts_of
from deniable.protocol.unary import UnaryParameters

MOST_ANSWERS = 8
MOST_PATHS = 4_096
"""A field with more answers, or more paths for one answer, is proven by its structure."""

MANY_BYTES = 128
"""Larger records are read for two answers instead of a few: the others differ in place only."""

LONGEST_SHOWN = 50
"""The most characters of a fraction in a sentence; a longer one stands in --json alone."""

ONCE, FOREVER = "one report", "all reports of one value"


@dataclass(frozen=True)
class Proven:
    """One claim about a field: its worst ratio, and the argument by which it was found.

    `problem` names the fault of the encoder where the argument does not hold.
    """

    claim: str
    proof: Proof
    argument: str
    problem: str = ""

    @property
    def holds(self) -> bool:
        """True if the claim is true."""
        return not self.problem and self.proof.holds


class _Shipped(Encoder):
    """The client's encoding of a field's answer, the sampling of sets included."""

    def __init__(self, field: Field) -> None:
        self._field = field

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the record."""
        draws = (WholeNumbers(cohort), WholeNumbers(permanent), WholeNumbers(fresh))
        return encode_drawn(self._field, answer, *draws)


def audit_exact(survey: Survey, *, seed: int = 0) -> Audit:
    """Prove the epsilons of every field of every question, and add the fields up.

    Guarantees: a claim holds only if the exact worst ratio is at most e^epsilon, compared as
    fractions.

    Cost: seconds per field; a domain of 65,536 answers with a bit each some more.

    Args:
        survey: whose questions are proven.
        seed: of the outcomes on which the structure of large encoders is read.
    """
    findings = [_source_finding()]
    for question in survey.questions:
        proven = {
            field.name: prove_field(question, field, np.random.default_rng(seed))
            for field in question.fields
        }
        for name, claims in proven.items():
            about = question.id if question.plain else f"{question.id}.{name}"
            findings += [_finding(about, claim) for claim in claims]
        if len(question.fields) > 1:
            findings.append(_composed(question, list(proven.values())))
    return Audit("exact", tuple(findings), NOTES)


def prove_field(question: Question, field: Field, rng: np.random.Generator) -> list[Proven]:
    """Return the proofs of one field: of one report, and of all reports where that is bounded.

    With repeat = "permanent" all reports of a value are the same one, so that its epsilon is that
    of a single report.
    """
    parameters = field.parameters
    wanted = [(ONCE, parameters.epsilon_once)]
    if question.repeat == "epoch" and parameters.epsilon_forever is not None:
        wanted.append((FOREVER, parameters.epsilon_forever))
    proven = []
    for claim, micros in wanted:
        try:
            direct = _direct(field, question.absent)
            prove = direct or _structural(field, question.absent, rng)
            worst, argument = prove(claim)
            proven.append(Proven(claim, Proof(worst, micros), argument))
        except InvalidParameter as error:
            proven.append(Proven(claim, Proof(None, micros), "none", str(error)))
    return proven


Prove = Callable[[str], tuple[Fraction | None, str]]
"""The worst ratio of a claim, and the argument."""


def _direct(field: Field, absent: bool) -> Prove | None:
    answers = every_answer(field, absent, MOST_ANSWERS)
    encoder = _Shipped(field)

    def small(answer: Answer) -> bool:
        return paths_at_most(lambda d: encoder.encode(answer, d, d, d), MOST_PATHS)

    if answers is None or not all(small(answer) for answer in answers):
        return None

    def prove(claim: str) -> tuple[Fraction | None, str]:
        argument = f"every draw enumerated, for each of {len(answers)} answers"
        if claim == ONCE:
            return prove_epsilon(report_channel(encoder, answers), None).worst, argument
        return prove_epsilon(permanent_channel(encoder, answers), None).worst, argument

    return prove


def _structural(field: Field, absent: bool, rng: np.random.Generator) -> Prove:
    answers, parameters = some_answers(field, absent), field.parameters
    convex = convexity(field)

    @cache
    def laws() -> list[Counter[BitLaw]]:
        return _laws(field, answers, rng)

    def prove(claim: str) -> tuple[Fraction | None, str]:
        worst: Fraction | None
        if isinstance(parameters, ProfileParameters):
            worst, argument = profile_ratio(field, answers, rng)
        elif isinstance(parameters, NGramsParameters):
            worst, argument = ngrams_ratio(field, parameters, answers, rng)
        elif isinstance(parameters, UnaryParameters):
            worst, argument = _per_bit(parameters, laws(), claim)
        elif isinstance(parameters, SubsetParameters):
            worst = max(subset.subset_ratio(field, answer, rng) for answer in answers)
            argument = "Floyd's algorithm: all sets of one size are equally likely"
        else:
            worst, argument = _per_symbol(field, answers, claim)
        return worst, convex + argument

    return prove


def _laws(
    field: Field, answers: Sequence[Answer], rng: np.random.Generator
) -> list[Counter[BitLaw]]:
    """Return the number of bits by law, for each answer in the first and the last cohort."""
    cohorts = sorted({0, cohorts_of(field.parameters) - 1})
    many = field.parameters.layout.size > MANY_BYTES
    return [
        Counter(unary_bits.read_bits(field, answer, cohort, rng))
        for answer in (answers[:2] if many else answers)
        for cohort in cohorts
    ]


def _per_bit(
    parameters: UnaryParameters, laws: Sequence[Counter[BitLaw]], claim: str
) -> tuple[Fraction | None, str]:
    chances: set[Fraction] = set()
    for counted in laws:
        own: Counter[Fraction] = Counter()
        for law, count in counted.items():
            chance = law.chance if claim == ONCE else law.permanent
            if chance is None:
                raise InvalidParameter("A bit has no permanent coin: nothing bounds its reports.")
            own[chance] += count
        if len(own) > 1 and own[max(own)] > unary_bits.most_held(parameters):
            raise InvalidParameter("An answer sets more bits than its form allows.")
        chances.update(own)
    given = ", given the cohort" if cohorts_of(parameters) > 1 else ""
    argument = (
        f"per bit{given}: each of {parameters.bits:,} bits has coins of its own, so that ratios "
        "multiply over the bits in which two answers differ"
    )
    return unary_bits.worst_of(list(chances), parameters), argument


def _per_symbol(field: Field, answers: Sequence[Answer], claim: str) -> tuple[Fraction | None, str]:
    items = symbols.public_items(field)
    given = f", given the {' and the '.join(items)}" if items else ""
    argument = f"per symbol{given}: every outcome of the draws gives another record"
    parameters = field.parameters
    worst = Fraction(1)
    for answer in answers:
        for public in symbols.public_choices(field):
            if isinstance(parameters, KRRParameters) and parameters.memoised:
                one = _keep_and_move(field, answer, Stage(fresh=False))
                two = _keep_and_move(field, answer, Stage(permanent=False))
                both = symbols.chained(one, two, parameters.categories)
                ratio = both if claim == ONCE else one[0] / one[1]
            else:
                levels = symbols.levels_of(field, answer, public, Stage())
                ratio = symbols.worst_level(levels)
            worst = max(worst, ratio, 1 / ratio)
    return worst, argument


def _keep_and_move(field: Field, answer: Answer, stage: Stage) -> tuple[Fraction, Fraction]:
    levels = symbols.levels_of(field, answer, [], stage)
    if set(levels) != {(True,), (False,)}:
        raise InvalidParameter("A stage of krr must toss one coin and keep what it shows.")
    return levels[(True,)], levels[(False,)]


def _finding(about: str, proven: Proven) -> Finding:
    claimed, worst = proven.proof.claimed or 0, proven.proof.worst
    limit = f"e^{as_float(claimed):.6f} = {float(exp_micros(claimed)):.9f}"
    if proven.problem:
        words = f"not proven: {proven.problem}"
    elif worst is None:
        words = f"the worst ratio is infinite; promised was {limit}"
    else:
        sign = "at most" if proven.holds else "ABOVE"
        fraction = f" = {worst}" if len(str(worst)) <= LONGEST_SHOWN else ""
        words = f"worst ratio {float(worst):.9f}{fraction}, {sign} {limit}; {proven.argument}"
    numbers: dict[str, object] = {
        "epsilon": as_float(claimed),
        "epsilon_true": None if worst is None else as_float(proven.proof.micros or 0),
        "worst_ratio": None if worst is None else float(worst),
        "worst_numerator": None if worst is None else str(worst.numerator),
        "worst_denominator": None if worst is None else str(worst.denominator),
        "argument": proven.argument,
    }
    return Finding(about, f"epsilon of {proven.claim}", proven.holds, words, numbers)


def _composed(question: Question, proven: Sequence[Sequence[Proven]]) -> Finding:
    """Return the finding about a report of several fields: their ratios multiply.

    Fields draw one after the other, independently (docs/mathematics.md, section 7).
    """
    ratios = [claims[0].proof.worst for claims in proven]
    known = [ratio for ratio in ratios if ratio is not None]
    worst = prod(known, start=Fraction(1)) if len(known) == len(ratios) else None
    argument = "fields are drawn one after the other: ratios multiply"
    return _finding(question.id, Proven(ONCE, Proof(worst, question.epsilon_once), argument))


def _source_finding() -> Finding:
    found = floats_in_encoders()
    words = "no float, division or foreign randomness in what the encoders run"
    if found:
        words = "; ".join(found)
    return Finding("source", "no float decides a coin", not found, words, {"places": list(found)})


NOTES = (
    "The two primitives coin and below are proven by full enumeration at 8 and 16 bits in the test "
    "suite; everything here follows from them.",
    "A worst ratio is the largest ratio of the probabilities of one report under two answers; its "
    "logarithm is the epsilon that is true.",
)
