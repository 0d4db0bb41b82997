"""Reports of a changing value: a budget per window of epochs, and the two ways to spend it.

Model (`protocol/windows.py`): every device spends at most the budget within any w epochs. Either it
reports in every epoch with a w-th of the budget; or devices take turns, and each reports in one
epoch of w with the whole budget, so that m = n/w people report in an epoch. The noise of both ways
is the mechanism's closed form. Taking turns adds the variance of a sample of m from n people
without replacement,

    f (1 - f) (1/m - 1/n).

At small epsilons noise grows like 1/epsilon^2, so that taking turns is better by about w in
variance. At large ones there is no noise left to save, and the sample costs more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from deniable.errors import InvalidParameter
from deniable.plan.collection import Setting, known_mechanism
from deniable.plan.prediction import SHOWN, Prediction, Z, predict
from deniable.protocol.epsilon import MICRO
from deniable.protocol.windows import Window

EVERY, TURNS = "every epoch", "one epoch in w"


@dataclass(frozen=True)
class Way:
    """One way to spend the budget.

    Attributes:
        name: EVERY or TURNS.
        people: the number of people who report in one epoch.
        prediction: for one epoch, by the mechanism that suits this epsilon.
        window: w.
        sampled: 1/m - 1/n, the variance of the sample per f (1 - f).
        answers: of a closed domain, else 0: the error is that of a rare string.
    """

    name: str
    people: int
    prediction: Prediction
    window: int
    sampled: float
    answers: int

    @property
    def error(self) -> float:
        """The expected error of a share in one epoch, one standard deviation."""
        share = 1 / self.answers if self.answers else 0.0
        return math.hypot(self.prediction.mean_error, self._sampling(share))

    @property
    def margin(self) -> float:
        """Half the width of the 95% interval of a share of 1% in one epoch."""
        return math.hypot(self.prediction.margin, Z * self._sampling(SHOWN))

    @property
    def window_error(self) -> float:
        """The error of a share over a whole window, if it stays the same.

        By then everybody has reported, and no sampling error is left.
        """
        return self.prediction.mean_error / math.sqrt(self.window)

    @property
    def epochs(self) -> int:
        """The number of epochs to pool until the detection limit is 1%."""
        # The detection limit falls with the root of the number of epochs pooled.
        return max(1, math.ceil((self.prediction.smallest / SHOWN) ** 2))

    def _sampling(self, share: float) -> float:
        return math.sqrt(share * (1 - share) * self.sampled)


@dataclass(frozen=True)
class WindowPlan:
    """Both ways side by side.

    Attributes:
        setting: people, answers, and as its epsilon the budget of a window.
        window: the budget and w.
        ways: the better one first.
    """

    setting: Setting
    window: Window
    ways: tuple[Way, Way]

    @property
    def better(self) -> Way:
        """The way with the smaller error in one epoch."""
        return self.ways[0]

    @property
    def ratio(self) -> float:
        """The other way's variance over the better way's."""
        better, other = (way.error for way in self.ways)
        return (other / better) ** 2

    @property
    def reason(self) -> str:
        """The reason for the better way, in a sentence."""
        if self.better.name == TURNS:
            how = "a part of the epsilon costs more than a part of the people"
        else:
            how = "a part of the people costs more than a part of the epsilon"
        name = self.better.name.replace(" w", f" {self.window.epochs:,}")
        return f"Reporting in {name} has {self.ratio:.3g} times less variance: {how}."


def plan_window(setting: Setting, epochs: int, mechanism: str | None = None) -> WindowPlan:
    """Predict the errors of both ways to spend a budget per window.

    Args:
        setting: its epsilon is the budget that no window may exceed; no permanent response.
        epochs: w.
        mechanism: for both ways; by default the one that "auto" takes at each of the two epsilons.

    Raises:
        InvalidParameter: if the budget or the people are too few for w parts, or the mechanism
            has no form.
    """
    if setting.forever is not None:
        raise InvalidParameter(
            "A budget per window is for reports without a permanent response.",
            "Leave --forever out.",
        )
    window = Window.of(setting.epsilon, epochs)
    if window.even < 1 or setting.people < epochs:
        raise InvalidParameter(
            f"Epsilon {setting.epsilon:g} and {setting.people:,} people cannot be shared by "
            f"{epochs:,} epochs.",
            "Shorten the window.",
        )
    # Turns are a sample of the same people, counted below: errors are of those who report.
    setting = replace(setting, of="reporters")
    each = setting.with_epsilon(window.even / MICRO)
    some = setting.with_people(setting.people // epochs)
    sampled = 1 / some.people - 1 / setting.people
    found = [
        Way(EVERY, each.people, _predicted(each, mechanism), epochs, 0.0, setting.answers),
        Way(TURNS, some.people, _predicted(some, mechanism), epochs, sampled, setting.answers),
    ]
    better, other = sorted(found, key=lambda way: way.error)
    return WindowPlan(setting, window, (better, other))


def _predicted(setting: Setting, mechanism: str | None) -> Prediction:
    choice = setting.choice(known_mechanism(mechanism)) if mechanism else setting.choices()[0]
    if choice is None:
        raise InvalidParameter(
            f"{mechanism} has no form for these answers and epsilons.", "Use another one."
        )
    return predict(choice.parameters, setting)
