"""mechanism = "auto": the best mechanism by closed forms, chosen once, when a survey is published.

Mechanisms are compared by n Var, the variance of a frequency times the number of reports: its mean
over the answers of a closed domain (the same for every distribution) or over the candidates that a
survey lists, else that of a rare string. Of the mechanisms within 5% of the least, those with the
shortest reports are kept (up to 8 bytes make no difference beside a report's envelope), and of
these the one that stands first in the list: k-RR where the domain is small, projective geometry
response where it reaches subset selection, the floor, with fewer bytes (docs/mathematics.md,
section 2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from deniable.authoring.closed_form import mean_variance
from deniable.authoring.mechanisms.orr import best_listed_symbols, listed_variance
from deniable.authoring.resolving import authoring_of, resolve
from deniable.authoring.wanted import EPSILONS, check_longer, wanted_epsilon, wanted_forever
from deniable.authoring.written import Authoring
from deniable.errors import InvalidParameter
from deniable.protocol import epsilon, thresholds
from deniable.protocol.built_in import FOUND, PROFILES, SINGLE
from deniable.protocol.channel import Bits, Channel, Points, Sign, Subset, Symbol, unknown_kind
from deniable.protocol.domain import Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.hcms import HCMSParameters
from deniable.protocol.orr import ORRParameters
from deniable.protocol.parameters import Parameters, answers_of
from deniable.protocol.pgr import PGRParameters
from deniable.protocol.rappor import RapporParameters

NAME = "auto"
KEYS = EPSILONS
CLOSED = ("krr", "pgr", "subset", "oue", "hadamard", "olh", "hcms", "orr")
PERMANENT = ("krr", "oue", "rappor")
OPEN = ("pgr", "hcms", "olh", "rappor")
OURS = frozenset({*SINGLE, *PROFILES, *FOUND})
"""`auto` chooses among ours. A mechanism of yours is used where you name it."""
_LISTED = (*OPEN, "orr")
"""With a short list of candidates, O-RR can fit all of them at once, collisions included."""
MOST_LISTED = 1_024
"""The most candidates that are fitted at once: the work grows with the cube of their number."""
_MOST_COHORTS = 512
_TAKEN_APART = 8
"""The fewest cohorts with which decoding resolves the collisions of listed strings in hashed
projective geometry response, and the fewest rows of a count-mean sketch."""
_MOST_LOAD = 0.25
"""The most listed strings per cohort and point, or per row and bucket, with which it does."""

SUM_OF_SQUARES = 0.1
"""The assumed sum of the squares of all strings' frequencies, where collisions count: that of a few
common strings and many rare ones."""
POOL = 65_536
"""Seeds of OLH for strings: with a seed per report every candidate would cost a hash per report."""
_PER_COHORT = 1_000
"""People per cohort below which a cohort, sent in clear, singles people out."""

_MOST_COUNTS = 2**24
"""Cohorts times points of a hashed geometry: 128 MB of counts."""

_NEARLY = 1.05
_SHORT = 8


@frozen
class Choice:
    """One mechanism that could carry a question.

    Attributes:
        parameters: its integers.
        noise: n Var, as above, collisions included.
        work: of the collector's side, in n reports, M candidates, k answers.
    """

    parameters: Parameters
    noise: float
    work: str

    @property
    def mechanism(self) -> str:
        """The mechanism's name."""
        return self.parameters.mechanism

    @property
    def size(self) -> int:
        """The bytes of a report's record."""
        return self.parameters.layout.size

    def as_json(self) -> dict[str, str | int | float]:
        """Return the choice as `deniable explain --json` prints it."""
        name, noise = self.mechanism, round(self.noise, 6)
        return {"mechanism": name, "n_variance": noise, "bytes": self.size, "work": self.work}


def authoring(people: int | None, listed: int = 0) -> Authoring:
    """Return what stands for "auto" while a survey is read: nothing of it is published.

    Args:
        people: the expected number; None if the survey does not say.
        listed: the number of strings in the candidate file; 0 if there is none.
    """

    def best(wanted: Mapping[str, object], domain: Domain, absent: bool) -> Parameters:
        return choices(domain, absent, wanted, people, listed)[0].parameters

    return Authoring(KEYS, best)


def choices(
    domain: Domain,
    absent: bool,
    wanted: Mapping[str, object],
    people: int | None = None,
    listed: int = 0,
) -> list[Choice]:
    """Return every mechanism that could carry the question, the best one first.

    Args:
        domain: of the answers.
        absent: whether there is an absent answer.
        wanted: `epsilon`, and `epsilon_forever` for a permanent response.
        people: the expected number; for strings it decides on cohorts, and collisions count.
        listed: the number of strings in the candidate file; 0 if there is none.

    Raises:
        InvalidParameter: if an epsilon is missing or out of range.
    """
    once, forever = wanted_epsilon(NAME, wanted), wanted_forever(NAME, wanted)
    if forever is not None:
        check_longer(NAME, once, forever)
    found = list(_possible(domain, absent, wanted, people, listed))
    best = min(choice.noise for choice in found) * _NEARLY
    order = {id(choice): place for place, choice in enumerate(found)}

    def rank(choice: Choice) -> tuple[float, ...]:
        if choice.noise > best:
            return (1, choice.noise)
        return (0, max(_SHORT, choice.size), order[id(choice)])

    return sorted(found, key=rank)


def _possible(
    domain: Domain, absent: bool, wanted: Mapping[str, object], people: int | None, listed: int
) -> Iterator[Choice]:
    """Yield the mechanisms that fit, in order of preference."""
    answers = answers_of(domain, absent) or 0
    for name in _names(answers, "epsilon_forever" in wanted, people, listed):
        choice = choice_of(name, domain, absent, wanted, people, listed)
        if choice is not None:
            yield choice


def choice_of(
    name: str,
    domain: Domain,
    absent: bool,
    wanted: Mapping[str, object],
    people: int | None = None,
    listed: int = 0,
) -> Choice | None:
    """Return one mechanism as `choices` would, or one of yours; None if it has no form here.

    O-RR of strings that `choices` leaves out has the shape that a survey gives it by default.
    """
    answers = answers_of(domain, absent) or 0
    permanent = "epsilon_forever" in wanted
    compared = name in _names(answers, permanent, people, listed)
    # O-RR of strings alone has a form without being compared.
    symbols = name == "orr" and not answers
    default = symbols and not permanent
    mine = name not in OURS and wanted.keys() <= authoring_of(name).keys.keys()
    if not (compared or default or mine):
        return None
    shape = _shape(name, answers, people)
    # The symbols of O-RR follow from the number of strings that are fitted together.
    if symbols and compared:
        micros = epsilon.wanted("epsilon", NAME, wanted["epsilon"])
        shape = _listed_shape(people or 0, listed, micros)
    try:
        parameters = resolve(name, {**wanted, **shape}, domain, absent)
    except InvalidParameter:
        return None  # it has no form for this domain, or not at this epsilon
    # PGR alone has as many cohorts as its people allow.
    if isinstance(parameters, PGRParameters) and not answers and people:
        parameters = replace(parameters, cohorts=_enough_cohorts(parameters, people))
    noise = noise_of(parameters, answers, people, listed)
    return Choice(parameters, noise, work_of(parameters))


def _names(answers: int, permanent: bool, people: int | None, listed: int) -> tuple[str, ...]:
    if permanent:
        return PERMANENT
    if answers:
        return CLOSED
    enough = (people or 0) // _PER_COHORT >= 16
    return _LISTED if enough and 2 <= listed <= MOST_LISTED else OPEN


def _listed_shape(people: int, listed: int, micros: int) -> dict[str, object]:
    """Return the cohorts and symbols of O-RR for a list of strings."""
    cohorts = min(_MOST_COHORTS, people // _PER_COHORT)
    return {"cohorts": cohorts, "symbols": best_listed_symbols(listed, cohorts, micros)}


def _shape(name: str, answers: int, people: int | None) -> dict[str, object]:
    """Return the parameters that a mechanism of strings gets besides epsilon."""
    # Cohorts of RAPPOR are fitted one by one; local hashing counts seeds only from a small pool.
    if name == "rappor" and not answers and people:
        return {"cohorts": max(1, min(64, people // _PER_COHORT))}
    return {"seeds": POOL} if name == "olh" and not answers else {}


def _enough_cohorts(parameters: PGRParameters, people: int) -> int:
    """Return the number of cohorts with which collisions add 2% to the variance.

    It leaves at least 1,000 people per cohort and needs at most 2^24 counts, if one cohort does.
    """
    # Collisions add n sum(f^2) / (cohorts points) to n Var; set equal to 2% of it.
    noise = mean_variance(*parameters.support)
    wanted = people * SUM_OF_SQUARES / (0.02 * noise * parameters.points)
    most = min(people // _PER_COHORT, _MOST_COUNTS // parameters.points)
    return max(1, min(most, max(parameters.cohorts, int(wanted))))


def noise_of(
    parameters: Parameters, answers: int, people: int | None = None, listed: int = 0
) -> float:
    """Return n Var: the mean over the answers or listed strings, else that of a rare string.

    Collisions of hashed answers add a variance that does not fall with n. It counts where `people`
    is given, except among listed strings whose collisions decoding resolves.
    """
    # Hashed bits, O-RR and hashed points are decoded each by a fit of its own: three models.
    if isinstance(parameters, RapporParameters) and parameters.form != "basic":
        return parameters.rare_variance
    if isinstance(parameters, ORRParameters) and not answers and 2 <= listed <= MOST_LISTED:
        keep = float(thresholds.as_fraction(parameters.keep))
        return listed_variance(listed, parameters.symbols, parameters.cohorts, keep)
    noise = mean_variance(*parameters.support, answers or listed)
    # Buckets that listed answers share are told apart (`mechanisms/sketch_shares.py`).
    if isinstance(parameters, HCMSParameters) and max(answers, listed) >= 2:
        load = max(answers, listed) / (parameters.rows * parameters.width)
        if parameters.rows >= _TAKEN_APART and load <= _MOST_LOAD:
            return noise / (1 - load)
    # Points that listed strings share are told apart (`mechanisms/pgr_collisions.py`).
    if isinstance(parameters, PGRParameters) and not answers and listed >= 2:
        load = listed / (parameters.cohorts * parameters.points)
        if parameters.cohorts >= _TAKEN_APART and load <= _MOST_LOAD:
            # Solving for M frequencies from C K counts leaves 1 - M/(C K) of the information.
            return noise / (1 - load)
    # All answers of a closed domain are fitted at once by O-RR.
    if isinstance(parameters, ORRParameters) and parameters.symbols != parameters.answers:
        noise /= max(0.01, 1 - answers / (parameters.cohorts * (parameters.symbols - 1)))
    return noise + (people or 0) * SUM_OF_SQUARES / _cells(parameters)


def _cells(parameters: Parameters) -> float:
    """Return the number of cells over which collisions spread; infinity where nothing collides."""
    channel = parameters.channel
    publics = math.prod(channel.sizes)
    match channel.typical:
        case Points() as rest if not channel.direct:
            return float(publics * rest.count)
        case Sign() if len(channel.numbers) > 1 and not channel.direct:
            return float(publics)
        case Symbol() as rest if not channel.direct and _afresh(channel):
            return float(publics * (rest.size - 1))
        case Points() | Sign() | Symbol() | Subset() | Bits():
            # Every answer has its own place, or all answers of a cohort are fitted at once.
            return math.inf
        case rest:
            raise unknown_kind("count of collisions", rest)


def _afresh(channel: Channel) -> bool:
    """Tell whether hash functions are drawn afresh for every report: the first number is."""
    return bool(channel.numbers) and not channel.numbers[0].permanent


def work_of(parameters: Parameters) -> str:
    """Return the work of estimating, in n reports, M candidates and k answers."""
    channel = parameters.channel
    publics = math.prod(channel.sizes)
    match channel.typical:
        case Points():
            return "n + K log K" if channel.direct else f"n + {publics} (K log K + M)"
        case Symbol() if channel.direct or not channel.numbers:
            return "n + k"
        case Symbol() if not _afresh(channel):
            return "n + C M^2 k + M^3"
        case Symbol():
            return "n M" if publics > POOL else f"n + {publics:,} M"
        case Bits() | Subset() if channel.direct:
            return "n k"
        case Bits():
            return "n k + m M^2 + M^3"
        case Sign():
            return "n + g (w log w + M)" if len(channel.numbers) > 1 else "n + k log k"
        case rest:
            raise unknown_kind("formula of the work", rest)
