"""[KBR16] section 5.3: which k, C and h to try for O-RR and O-RAPPOR."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable.protocol.pgr import is_prime
from deniable_papers.kbr16.cohorts import linear_count

SIZES = (2, 3, *(2**i for i in range(2, 13)))
"""k: the paper's powers of two, and 3, which is best at epsilon 0.5."""
COUNTS = tuple(2**i for i in range(14))
"""C: the paper's to 1,024, and to 8,192: with 3 cells per cohort and 256 answers, 1,024 cohorts
have 2,048 independent equations, which makes variances larger by an eighth."""
HASHES = (1, 2, 4, 8, 16)
MOST_CELLS = 2**22
PEOPLE_PER_COHORT = 100


@dataclass(frozen=True)
class Setting:
    """The task: what is to be learned.

    Attributes:
        answers: S.
        people: n.
        closed: whether the alphabet is known, so that permutations replace hash functions.
    """

    answers: int
    people: int
    closed: bool

    @property
    def most_cohorts(self) -> int:
        """Cohorts of a hundred people each: with fewer people, C would not matter any more."""
        return max(1, self.people // PEOPLE_PER_COHORT)


@dataclass(frozen=True)
class Choice:
    """Free parameters of O-RR or O-RAPPOR: k cells, C cohorts, h hash functions.

    `linear` says that the cohorts are all linear forms of F_k^t, in place of random ones.
    """

    size: int
    count: int
    hashes: int = 1
    linear: bool = False


def everything(setting: Setting, mechanism: str) -> list[Choice]:
    """Return the whole grid; choices with more than 4 million cells are left out."""
    hashes = (1,) if mechanism == "orr" else HASHES
    return [
        Choice(size, count, h)
        for size in SIZES
        for count in COUNTS
        for h in hashes
        if size * count <= MOST_CELLS
        and count * h <= COUNTS[-1]
        and _possible(setting, size, count)
    ]


def near_the_best(setting: Setting, mechanism: str, epsilon: float) -> list[Choice]:
    """Return the part of the grid around what the closed forms say; h is 1.

    O-RR: k near e^epsilon + 1, with 64 independent equations per answer, at most 8,192 cohorts;
    for closed alphabets k-RR itself too. O-RAPPOR: k large, and C small.
    """
    if mechanism == "orappor":
        sizes: tuple[int, ...] = (setting.answers,) if setting.closed else (1024, 4096)
        choices = [Choice(size, count) for size in sizes for count in (1, 2, 16)]
    else:
        best = math.exp(epsilon) + 1
        # (E + 1)^2 > (E + 2)^2 / 2 from epsilon 0.35 on: 3 cells are better than 2.
        near = [size for size in SIZES[1:] if best / 2.2 <= size <= best * 1.8]
        choices = [Choice(size, _enough(setting, size, 64)) for size in near]
        if setting.closed:
            choices.append(Choice(setting.answers, 1))
    kept = [one for one in choices if _possible(setting, one.size, one.count)]
    return list(dict.fromkeys(kept))


def by_closed_form(setting: Setting, mechanism: str, epsilon: float) -> Choice:
    """Return the choice with the least closed-form variance, without trying any.

    The number of random cohorts gives eight independent equations per answer, at most
    8,192; closed alphabets also have linear cohorts, where there are at most 8,192 of them.
    """
    if mechanism == "orappor":
        return Choice(setting.answers, 1) if setting.closed else Choice(4096, _capped(setting, 16))
    choices = [Choice(size, _enough(setting, size, 8)) for size in SIZES]
    if setting.closed:
        choices += [Choice(setting.answers, 1), *_linear(setting)]
    possible = [one for one in choices if _possible(setting, one.size, one.count)]
    return min(possible, key=lambda one: orr_variance(setting, one, epsilon))


def _linear(setting: Setting) -> list[Choice]:
    primes = [size for size in range(2, math.isqrt(setting.answers) + 1) if is_prime(size)]
    counts = [linear_count(setting.answers, size) for size in primes]
    return [
        Choice(size, count, linear=True)
        for size, count in zip(primes, counts, strict=True)
        if count <= COUNTS[-1]
    ]


def orr_variance(setting: Setting, choice: Choice, epsilon: float) -> float:
    """Return n Var of a rare answer by O-RR, the loss from fitting S answers at once included.

    Model: that of local hashing, (E - 1 + k)^2 / ((E - 1)^2 (k - 1)), divided by
    1 - S / (C (k - 1)), the share of the equations that fitting leaves, but not in linear cohorts;
    k-RR where k >= S, C = 1.
    """
    e, k = math.exp(epsilon), choice.size
    if setting.closed and choice.count == 1 and k >= setting.answers:
        return (e + k - 2) / (e - 1) ** 2
    left = 1 if choice.linear else 1 - setting.answers / (choice.count * (k - 1))
    return math.inf if left <= 0 else (e - 1 + k) ** 2 / ((e - 1) ** 2 * (k - 1)) / left


def _enough(setting: Setting, size: int, each: int) -> int:
    """Return a power of two of cohorts with a number of independent equations per answer."""
    wanted = each * setting.answers / (size - 1)
    return _capped(setting, min(COUNTS[-1], max(2, 2 ** math.ceil(math.log2(wanted)))))


def _capped(setting: Setting, count: int) -> int:
    return min(count, setting.most_cohorts)


def _possible(setting: Setting, size: int, count: int) -> bool:
    return count <= setting.most_cohorts and not (setting.closed and size > setting.answers)
