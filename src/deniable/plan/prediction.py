"""The prediction for one mechanism: its errors, detection limit and costs, before anybody reports.

Model: an estimated share f from n reports has the variance V(f) of `mechanism.variance`, widened by
the factor of fitting several answers at once, plus the variance of collisions of hashed answers.
Of the population, people who report are a sample, which adds f (1 - f) / n. Then

    detection limit = Q sqrt(V(0)),        Q = Phi^-1(1 - 0.05 / M),        M answers tested,
    answers that can be learned = 1 / (detection limit),

as in figure 3 of [EPK14], where V(0) = 1/(n (2q - 1)^2). The level 0.05 is the family-wise error of
all M tests. A share at the detection limit passes its test every second time.

Mechanisms that find strings estimate the shares of whole strings; their detection limit comes from
simulated crowds (`unlisted_strings.py`). Mechanisms of profiles estimate the raw cells of tables of
k attributes (`profiles/cells.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeGuard

from deniable._distributions import normal_isf
from deniable.authoring.auto import SUM_OF_SQUARES, Choice, noise_of, work_of
from deniable.authoring.closed_form import mean_variance
from deniable.crafted.leverage import leverage_of
from deniable.decode.observed import is_open
from deniable.decode.reading import by_error, detection_limit
from deniable.mechanisms import mechanism_of
from deniable.plan.collection import Setting
from deniable.plan.costs import FOUND, operations, words
from deniable.plan.listed_strings import ASSUMED, fitted_noise, of_symbols, screened, splits
from deniable.plan.profiles.cells import cell_deviation
from deniable.plan.profiles.choices import WORK
from deniable.plan.unlisted_strings import smallest_found
from deniable.privacy.shuffling.central import Shuffled, shuffled
from deniable.protocol import (
    Field,
    NGramsParameters,
    ORRParameters,
    Parameters,
    PrefixesParameters,
    Profile,
    ProfileParameters,
    RapporParameters,
    Sets,
    Strings,
    StringSets,
)
from deniable.protocol.channel import Bits, Points, Sign, Subset, Symbol, unknown_kind
from deniable.protocol.epsilon import as_float
from deniable.protocol.question import PLAIN_FIELD

LEVEL = 0.05
Z = float(normal_isf(LEVEL / 2))
SHOWN = 0.01
"""The share whose interval is predicted."""


@dataclass(frozen=True)
class Prediction:
    """The errors, detection limit and costs of one mechanism.

    Attributes:
        parameters: the mechanism's integers.
        mean_error: root of the mean variance over all answers; for strings that of a rare one.
        rare_error: standard deviation of the share of a rare answer.
        margin: half the width of the 95% interval of a share of 1%.
        smallest: the detection limit, the share that is told from 0 every second time.
        learned: the number of equally frequent answers that can be learned.
        size: bytes of a record.
        words: numbers that the collector keeps.
        operations: steps of counting and estimating, about.
        work: the same as a formula.
        leverage: the number of honest people that a crafted report counts for, at most.
        forever: epsilon of all reports of one value; None where every report adds its own.
        central: the promise of a shuffled crowd; None unless asked for.
        assumes: what errors depend on besides the setting, in a sentence; empty if on nothing.
    """

    parameters: Parameters
    mean_error: float
    rare_error: float
    margin: float
    smallest: float
    learned: int
    size: int
    words: int
    operations: int
    work: str
    leverage: float
    forever: float | None
    central: Shuffled | None = None
    assumes: str = ""

    @property
    def mechanism(self) -> str:
        """The mechanism's name."""
        return self.parameters.mechanism

    @property
    def epsilon(self) -> float:
        """The epsilon of one report, from the integers."""
        return as_float(self.parameters.epsilon_once)


def predict(parameters: Parameters, setting: Setting, delta: float | None = None) -> Prediction:
    """Return the errors, detection limit and costs of a mechanism in a setting.

    Accuracy: exact for closed domains but O-RR; within some per cent for hashed mechanisms, where
    the shares of common strings are assumed (`authoring/auto.py`, `listed_strings.py`).

    Args:
        parameters: of the mechanism; they must fit the setting's domain.
        setting: people, domain, candidates.
        delta: with it also the central epsilon of a shuffled crowd.

    Raises:
        InvalidParameter: if the parameters do not fit the domain.

    Example:
        >>> from deniable.plan import of_categories
        >>> from deniable.protocol import KRRParameters
        >>> from deniable.authoring import resolve
        >>> parameters = resolve(KRRParameters, {"epsilon": 1.0}, of_categories(10), False)
        >>> round(predict(parameters, Setting(50_000, 1.0, of_categories(10))).rare_error, 5)
        0.00852
    """
    parameters.check_domain(setting.domain, setting.absent)
    field = Field(PLAIN_FIELD, setting.domain, parameters)
    rare = deviation(field, setting, 0.0)
    mean = deviation(field, setting, 1 / setting.answers) if setting.answers else rare
    smallest = _smallest(field, setting, rare)
    forever = parameters.epsilon_forever
    return Prediction(
        parameters=parameters,
        mean_error=mean,
        rare_error=rare,
        margin=Z * deviation(field, setting, SHOWN),
        smallest=smallest,
        learned=learned(smallest, setting.answers or setting.listed),
        size=parameters.layout.size,
        words=words(parameters, setting.people),
        operations=operations(parameters, setting.people, setting.tests),
        work=_work(parameters),
        leverage=leverage_of(field).most,
        forever=None if forever is None else as_float(forever),
        central=None if delta is None else shuffled(parameters, setting.people, delta),
        assumes=ASSUMED if _screened(parameters, setting) else "",
    )


def _smallest(field: Field, setting: Setting, rare: float) -> float:
    """Return the detection limit: of a test, or of finding strings that nobody listed."""
    domain, parameters, people = setting.domain, field.parameters, setting.people
    # The searches are simulated one by one: each has an algorithm of its own.
    if isinstance(parameters, PrefixesParameters | NGramsParameters) and isinstance(
        domain, Strings
    ):
        return smallest_found(parameters, domain, people)
    mechanism = mechanism_of(field, setting.absent)
    # No single count says all about a cell of a table, a member of a set of strings, or a string
    # of a Bloom filter.
    if isinstance(domain, Profile | StringSets) or is_open(mechanism):
        return by_error(rare, people, setting.tests)
    # Screened symbols are regressed like bits, or not at all (`listed_strings.py`).
    if _screened(parameters, setting):
        return by_error(rare, people, setting.tests) if splits(parameters) else 1.0
    holding, chance = (float(one) for one in parameters.support)
    drawn = domain.most if isinstance(domain, Sets) and not parameters.per_member else 1
    gap = (holding - chance) / drawn
    return detection_limit(chance, gap, rare**2, people, setting.tests)


def margin_of(choice: Choice, setting: Setting) -> float:
    """Return half the width of the 95% interval of a share of 1%."""
    field = Field(PLAIN_FIELD, setting.domain, choice.parameters)
    return Z * deviation(field, setting, SHOWN)


def learned(smallest: float, answers: int) -> int:
    """Return the number of equally frequent answers that can be learned, at most `answers`."""
    most = int(1 / smallest) if smallest > 0 else 10**12
    return min(most, answers) if answers else most


def deviation(field: Field, setting: Setting, frequency: float) -> float:
    """Return the standard deviation of an estimated share, of what the setting says."""
    noise = _noise_deviation(field, setting, frequency)
    # Those who report are a sample: f (1 - f) / n, however little noise there is.
    sample = frequency * (1 - frequency) / setting.people if setting.of == "population" else 0.0
    return math.sqrt(noise**2 + sample)


def _noise_deviation(field: Field, setting: Setting, frequency: float) -> float:
    parameters, people = field.parameters, setting.people
    if isinstance(field.domain, StringSets):  # one of `most` places is drawn
        most, strings = field.domain.most, replace(field, domain=Strings())
        drawn = _noise_deviation(strings, setting, frequency / most)
        # Of g = f / most the draws vary by g (1 - g) / n: most^2 times that, less f (1 - f) / n of
        # the sample of people, is (most - 1) f / n.
        return math.sqrt((most * drawn) ** 2 + (most - 1) * frequency / people)
    # A profile's shares are those of the cells of its tables.
    if isinstance(parameters, ProfileParameters):
        return cell_deviation(parameters, people, frequency)
    # The whole string of n-grams is reported by RAPPOR.
    shape = parameters.whole if isinstance(parameters, NGramsParameters) else parameters
    if _fitted_together(shape, setting):
        # Of an unnamed list O-RR has as many strings as are tested.
        listed = setting.tests if of_symbols(shape) else setting.listed
        return math.sqrt(fitted_noise(shape, frequency, listed) / people)
    # n Var of a pure oracle, widened by fitting, plus collisions (docs/mathematics.md, section 2).
    mechanism = mechanism_of(field, setting.absent)
    noise = float(mechanism.variance(people, frequency)) * people
    widened, added = _fitting(parameters, setting)
    scale = field.domain.most**2 if isinstance(field.domain, Sets) else 1
    return math.sqrt((noise * widened + added * scale) / people)


def _fitted_together(
    parameters: Parameters, setting: Setting
) -> TypeGuard[ORRParameters | RapporParameters]:
    """Tell whether errors are those of a fit of listed strings to cohorts."""
    if setting.answers:
        return False
    # O-RR and RAPPOR are fitted to cohorts, each by its own model (`listed_strings.py`).
    if of_symbols(parameters):
        return setting.listed != 1
    # The same of hashed bits.
    return isinstance(parameters, RapporParameters) and not parameters.channel.direct


def _screened(parameters: Parameters, setting: Setting) -> TypeGuard[ORRParameters]:
    # Bits are always regressed; of symbols only more than can be told apart.
    return (
        of_symbols(parameters)
        and not setting.answers
        and setting.listed != 1
        and screened(parameters, setting.tests)
    )


def _work(parameters: Parameters) -> str:
    known = {**WORK, **FOUND}
    return known.get(parameters.mechanism) or work_of(parameters)


def _fitting(parameters: Parameters, setting: Setting) -> tuple[float, float]:
    """Return the factor of fitting all answers at once, and the collisions' part of n Var."""
    answers, listed = setting.answers, setting.listed
    channel = parameters.channel
    match channel.typical:
        case Points() as rest if parameters.finds:
            cells = channel.sizes[-1] * rest.count
            return 1.0, setting.people * SUM_OF_SQUARES / cells
        case Bits() as rest if not channel.direct:
            cells = rest.width * channel.sizes[-1]
            return 1 / (1 - min(answers, cells // 2) / cells), 0.0
        case Points() | Bits() | Symbol() | Sign() | Subset():
            plain = mean_variance(*parameters.support, answers or listed)
            whole = noise_of(parameters, answers, setting.people, listed)
            # O-RR's answers are fitted together: the noise is wider by a factor, not by a term.
            wider = isinstance(parameters, ORRParameters)
            return (whole / plain, 0.0) if wider else (1.0, whole - plain)
        case rest:
            raise unknown_kind("noise of fitted answers", rest)
