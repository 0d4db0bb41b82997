"""Proofs of every epsilon of a survey, from the shipped encoder and its integer thresholds.

    field -> an argument that fits its size -> the exact worst ratio -> against e^epsilon

A small encoder is enumerated: every outcome of every draw, for every answer. A large one is proven
by its structure, which is read off the encoder at full size and not taken from a formula: per bit
(`bits`), per symbol (`symbols`) or per subset (`subset`), each given the public part of the report.
The channel says which. Ratios are fractions throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from deniable.audit.answers import convexity, every_answer, some_answers
from deniable.audit.exact.bits import bits_ratio, rows_of
from deniable.audit.exact.declared_channel import check_declared, check_support
from deniable.audit.exact.encoder_source import floats_in_encoders, floats_in_stranger
from deniable.audit.exact.subset import subset_ratio
from deniable.audit.exact.symbols import Stage, chained, keep_and_move, looked, symbol_ratio
from deniable.audit.exact.tracing import WholeNumbers
from deniable.audit.findings import Audit, Finding
from deniable.client.encode import encode_drawn
from deniable.client.encoders import Draws, Encoder
from deniable.errors import InvalidParameter, InvalidReport
from deniable.privacy import paths_at_most
from deniable.privacy.proof import Proof, permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer, Field, Question, Survey
from deniable.protocol.channel import (
    Bits,
    Channel,
    Points,
    Product,
    Public,
    Sign,
    Subset,
    Symbol,
    unknown_kind,
)
from deniable.protocol.epsilon import as_float, exp_micros
from deniable.protocol.registry import part

MOST_ANSWERS = 8
MOST_PATHS = 4_096
"""A field with more answers, or more paths for one answer, is proven by its structure."""

TABLES_OF_BITS = 8
"""The number of tables of bits that are looked at, besides one of every size."""

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
    findings = [_source_finding(survey)]
    for question in survey.questions:
        proven = {
            field.name: prove_field(question, field, np.random.default_rng(seed))
            for field in question.fields
        }
        for name, claims in proven.items():
            about = question.title if question.plain else f"{question.title}.{name}"
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
            proof = Proof(worst, micros)
            if claim == ONCE and proof.holds:
                check_support(field, some_answers(field, question.absent))
            proven.append(Proven(claim, proof, argument))
        except (InvalidParameter, InvalidReport) as error:
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
            laws = report_channel(encoder, answers)
            proof = prove_epsilon(laws, field.parameters.epsilon_once)
            if proof.holds:  # else the ratio is the finding
                check_declared(field, laws)
            return proof.worst, argument
        return prove_epsilon(permanent_channel(encoder, answers), None).worst, argument

    return prove


def _structural(field: Field, absent: bool, rng: np.random.Generator) -> Prove:
    """Return the proof by the kind of the rest."""
    answers, rest = some_answers(field, absent), field.parameters.channel.typical
    convex = convexity(field)

    def prove(claim: str) -> tuple[Fraction | None, str]:
        worst: Fraction | None
        match rest:
            case Bits() | Product():
                worst, argument = _per_bit(field, answers, claim, rng)
            case Subset():
                worst = max(subset_ratio(field, answer, rng) for answer in answers)
                argument = "Floyd's algorithm: all sets of one size are equally likely"
            case Symbol() | Sign() | Points():
                worst, argument = _per_symbol(field, answers, claim)
            case _:
                raise unknown_kind("proof", rest)
        return worst, convex + argument

    return prove


def _given(field: Field) -> str:
    names = field.parameters.channel.names
    return f", given the {' and the '.join(names)}" if names else ""


def _per_bit(
    field: Field, answers: Sequence[Answer], claim: str, rng: np.random.Generator
) -> tuple[Fraction | None, str]:
    publics = _looked_at(field.parameters.channel)
    worst = bits_ratio(field, answers, publics, claim == FOREVER, rng)
    bits = [sum(row.width for row in rows_of(field, public)) for public in publics]
    argument = (
        f"per bit{_given(field)}: each of {max(bits):,} bits has coins of its own, so that ratios "
        "multiply over the bits in which two answers differ"
    )
    return worst, argument


def _looked_at(channel: Channel) -> list[Public]:
    """Return the public parts of rows of bits that are looked at: some tables, or both ends."""
    if channel.examples:
        return [(number, *channel.examples[0][1:]) for number in looked(channel, TABLES_OF_BITS)]
    last = tuple(size - 1 for size in channel.sizes)
    return list(dict.fromkeys(((0,) * len(last), last)))


def _per_symbol(field: Field, answers: Sequence[Answer], claim: str) -> tuple[Fraction | None, str]:
    argument = (
        f"per symbol{_given(field)}: what a report is about is drawn alike for every answer, and "
        "after it every outcome of the draws gives another record"
    )
    if not field.parameters.memoised:
        return symbol_ratio(field, answers), argument
    one = keep_and_move(field, answers, Stage(fresh=False))
    two = keep_and_move(field, answers, Stage(permanent=False))
    both = chained(one, two, field.parameters.channel.typical.count)
    ratio = both if claim == ONCE else one[0] / one[1]
    return max(ratio, 1 / ratio), argument


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
    return _finding(question.title, Proven(ONCE, Proof(worst, question.epsilon_once), argument))


def _source_finding(survey: Survey) -> Finding:
    used = {field.parameters.mechanism for asked in survey.questions for field in asked.fields}
    encoders: list[type] = [part(name, "encoder") for name in sorted(used)]
    strange = [kind for kind in encoders if not kind.__module__.startswith("deniable.")]
    found = [
        *floats_in_encoders(),
        *(place for kind in strange for place in floats_in_stranger(kind)),
    ]
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
