"""The prediction for one mechanism: its errors, detection limit and costs, before anybody reports.

Model: an estimated share f from n reports has the variance V(f) of `mechanism.variance`, widened by
the factor of fitting several answers at once, plus the variance of collisions of hashed answers.
Then

    detection limit = Q sqrt(V(0)),        Q = Phi^-1(1 - 0.05 / M),        M answers tested,
    answers that can be learned = 1 / (detection limit),

as in figure 3 of [EPK14], where V(0) = 1/(n (2q - 1)^2). The level 0.05 is the family-wise error of
all M tests. A share at the detection limit passes its test every second time.

Mechanisms that find strings estimate the shares of whole strings; their detection limit comes from
simulated crowds (`discovered.py`). Mechanisms of profiles estimate the raw cells of tables of k
attributes (`profiles/cells.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeGuard

from deniable._distributions import normal_isf
from deniable.authoring.auto import MOST_LISTED, SUM_OF_SQUARES, Choice, noise_of, work_of
from deniable.mechanisms import mechanism_of
from deniable.plan.collection import Setting
from deniable.plan.discovered import smallest_found
from deniable.plan.fitted import fitted_noise
from deniable.plan.profiles.cells import cell_deviation
from deniable.plan.profiles.choices import WORK
from deniable.plan.work import FOUND, operations, words
from deniable.privacy.leverage.estimates import leverage_of
from deniable.privacy.shuffling.central import Shuffled, shuffled
from deniable.protocol import (
    Field,
    NGramsParameters,
    ORRParameters,
    Parameters,
    PrefixesParameters,
    ProfileParameters,
    RapporParameters,
    Sets,
    Strings,
)
from deniable.protocol.closed_form import mean_variance
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

    @property
    def mechanism(self) -> str:
        """The mechanism's name."""
        return self.parameters.mechanism

    @property
    def epsilon(self) -> float:
        """The epsilon of one report, from the integers."""
        return as_float(self.parameters.epsilon_once)

    def as_json(self) -> dict[str, object]:
        """Return the prediction as `deniable plan --json` prints it."""
        return {
            "mechanism": self.mechanism,
            "mean_error": self.mean_error,
            "rare_error": self.rare_error,
            "interval_of_1_percent": [SHOWN - self.margin, SHOWN + self.margin],
            "interval_width": 2 * self.margin,
            "smallest_share": self.smallest,
            "answers_learned": self.learned,
            "bytes": self.size,
            "words": self.words,
            "operations": self.operations,
            "work": self.work,
            "leverage": self.leverage,
            "epsilon": self.epsilon,
            "epsilon_forever": self.forever,
            "shuffled": None if self.central is None else self.central.as_json(),
        }


def predict(parameters: Parameters, setting: Setting, delta: float | None = None) -> Prediction:
    """Return the errors, detection limit and costs of a mechanism in a setting.

    Accuracy: exact for closed domains but O-RR; within some per cent for hashed mechanisms, where
    the shares of common strings are assumed (`authoring/auto.py`, `fitted.py`).

    Args:
        parameters: of the mechanism; they must fit the setting's domain.
        setting: people, domain, candidates.
        delta: with it also the central epsilon of a shuffled crowd.

    Raises:
        InvalidParameter: if the parameters do not fit the domain.

    Example:
        >>> from deniable.plan import of_categories
        >>> from deniable.protocol import KRRParameters
        >>> parameters = KRRParameters.resolve({"epsilon": 1.0}, of_categories(10), False)
        >>> round(predict(parameters, Setting(50_000, 1.0, of_categories(10))).rare_error, 5)
        0.00852
    """
    parameters.check_domain(setting.domain, setting.absent)
    field = Field(PLAIN_FIELD, setting.domain, parameters)
    rare = _deviation(field, setting, 0.0)
    mean = _deviation(field, setting, 1 / setting.answers) if setting.answers else rare
    smallest = _smallest(parameters, setting, rare)
    forever = parameters.epsilon_forever
    return Prediction(
        parameters=parameters,
        mean_error=mean,
        rare_error=rare,
        margin=Z * _deviation(field, setting, SHOWN),
        smallest=smallest,
        learned=learned(smallest, setting.answers),
        size=parameters.layout.size,
        words=words(parameters, setting.people),
        operations=operations(parameters, setting.people, setting.tests),
        work=_work(parameters),
        leverage=leverage_of(field).most,
        forever=None if forever is None else as_float(forever),
        central=None if delta is None else shuffled(parameters, setting.people, delta),
    )


def _smallest(parameters: Parameters, setting: Setting, rare: float) -> float:
    """Return the detection limit: of a test, or of finding strings that nobody listed."""
    domain = setting.domain
    if isinstance(parameters, PrefixesParameters | NGramsParameters) and isinstance(
        domain, Strings
    ):
        return smallest_found(parameters, domain, setting.people)
    return critical(setting.tests) * rare


def margin_of(choice: Choice, setting: Setting) -> float:
    """Return half the width of the 95% interval of a share of 1%."""
    field = Field(PLAIN_FIELD, setting.domain, choice.parameters)
    return Z * _deviation(field, setting, SHOWN)


def critical(tests: int) -> float:
    """Return Q = Phi^-1(1 - 0.05 / M), the critical value of one of M tests."""
    # Bonferroni: the family-wise error of M tests at level 0.05 / M is at most 0.05.
    return float(normal_isf(LEVEL / max(1, tests)))


def learned(smallest: float, answers: int) -> int:
    """Return the number of equally frequent answers that can be learned, at most `answers`."""
    most = int(1 / smallest) if smallest > 0 else 10**12
    return min(most, answers) if answers else most


def _deviation(field: Field, setting: Setting, frequency: float) -> float:
    """Return the standard deviation of an estimated share."""
    parameters, people = field.parameters, setting.people
    if isinstance(parameters, ProfileParameters):
        return cell_deviation(parameters, people, frequency)
    shape = parameters.whole if isinstance(parameters, NGramsParameters) else parameters
    if _fitted_together(shape, setting):
        return math.sqrt(fitted_noise(shape, frequency, setting.listed) / people)
    # n Var of a pure oracle, widened by fitting, plus collisions (docs/mathematics.md, section 2).
    mechanism = mechanism_of(field, setting.absent)
    noise = float(mechanism.variance(people, frequency)) * people
    widened, added = _fitting(parameters, setting)
    scale = field.domain.most**2 if isinstance(field.domain, Sets) else 1
    return math.sqrt((noise * widened + added * scale) / people)


def _fitted_together(
    parameters: Parameters, setting: Setting
) -> TypeGuard[ORRParameters | RapporParameters]:
    """Tell whether listed strings are fitted at once; long lists of O-RR are not (`auto.py`)."""
    if setting.answers:
        return False
    if isinstance(parameters, ORRParameters):
        return 2 <= setting.listed <= MOST_LISTED
    return isinstance(parameters, RapporParameters) and parameters.form != "basic"


def _work(parameters: Parameters) -> str:
    if isinstance(parameters, ProfileParameters):
        return WORK[parameters.mechanism]
    return FOUND[parameters.mechanism] if parameters.mechanism in FOUND else work_of(parameters)


def _fitting(parameters: Parameters, setting: Setting) -> tuple[float, float]:
    """Return the factor of fitting all answers at once, and the collisions' part of n Var."""
    answers, listed = setting.answers, setting.listed
    if isinstance(parameters, PrefixesParameters):
        cells = parameters.cohorts * parameters.oracle.points
        return 1.0, setting.people * SUM_OF_SQUARES / cells
    if isinstance(parameters, RapporParameters) and parameters.form != "basic":
        cells = parameters.bits * parameters.cohorts
        return 1 / (1 - min(answers, cells // 2) / cells), 0.0
    plain = mean_variance(*parameters.support, answers or listed)
    whole = noise_of(parameters, answers, setting.people, listed)
    if isinstance(parameters, ORRParameters):
        return whole / plain, 0.0
    return 1.0, whole - plain
