"""A plan as a picture: the detection limit by people, and the error by epsilon."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from deniable._words import crowd
from deniable.plan import Plan, Setting
from deniable.plan.collection import FIND
from deniable.plan.prediction import margin_of, predict
from deniable.results.charts import look as styling

COLOURS = (*styling.COLOURS, "#c2255c", "#5c940d", "#6741d9", "#a0522d")
"""The colours of the mechanisms, in the order of the plan: there may be eleven of them."""
EPSILONS = tuple(round(0.25 * 2 ** (step / 3), 3) for step in range(16))
_SPREAD = 100
_POINTS = 13
_FOUND_EVERY = 3
"""The step between the points of mechanisms that find strings: each point takes a second."""


def plan_picture(plan: Plan) -> Callable[..., Any]:
    """Return the function that draws a plan, as the picture of its table."""
    return lambda _table, **_look: _plan_chart(plan)


def _plan_chart(plan: Plan) -> Any:
    """Return the chart of a plan.

    Left: the detection limit by the number of people, from a hundredth to a hundredfold of those
    planned. Right: half the width of the interval of a share of 1%, by epsilon. Dashed: the
    plan itself.

    Raises:
        MissingExtra: if Altair is not installed.
    """
    alt, setting = styling.altair(), plan.setting
    names = [prediction.mechanism for prediction in plan.predictions]
    colour = alt.Color(
        "mechanism:N",
        scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])),
        title="mechanism",
    )
    left = _panel(alt, list(_by_people(setting, names)), colour, setting.people, "people", "share")
    right = _panel(
        alt, list(_by_epsilon(setting, names)), colour, setting.epsilon, "epsilon", "margin"
    )
    return styling.styled(
        alt.hconcat(left, right),
        f"What {crowd(setting.people)} at epsilon {setting.epsilon:g} can tell",
        f"recommended: {plan.reason}",
        "dashed: the plan",
    )


def _by_people(setting: Setting, names: list[str]) -> Iterator[dict[str, object]]:
    low, high = max(10, setting.people // _SPREAD), min(10**12, setting.people * _SPREAD)
    for step in range(_POINTS):
        people = round(low * (high / low) ** (step / (_POINTS - 1)))
        asked = setting.with_people(people)
        for name in names:
            choice = None if name in FIND and step % _FOUND_EVERY else asked.choice(name)
            if choice is not None:
                smallest = predict(choice.parameters, asked).smallest
                yield {"mechanism": name, "people": people, "share": smallest}


def _by_epsilon(setting: Setting, names: list[str]) -> Iterator[dict[str, object]]:
    for epsilon in EPSILONS:
        if setting.forever is not None and epsilon >= setting.forever:
            return
        asked = setting.with_epsilon(epsilon)
        for name in names:
            choice = asked.choice(name)
            if choice is not None:
                margin = margin_of(choice, asked)
                yield {"mechanism": name, "epsilon": epsilon, "margin": margin}


_TITLES = {
    "people": "people who report",
    "epsilon": "epsilon of one report",
    "share": "smallest share that is seen",
    "margin": "± of a share of 1% (95%)",
}


def _panel(
    alt: Any, rows: list[dict[str, object]], colour: Any, at: float, across: str, up: str
) -> Any:
    log = alt.Scale(type="log", nice=False)
    numbers = alt.Axis(format="~s" if across == "people" else "~g", tickCount=5)
    lines = (
        alt.Chart(styling.data_of(rows), width=360, height=300)
        .mark_line(interpolate="monotone")
        .encode(
            x=alt.X(f"{across}:Q", title=_TITLES[across], scale=log, axis=numbers),
            y=alt.Y(
                f"{up}:Q",
                title=_TITLES[up],
                scale=log,
                axis=alt.Axis(format="~%", tickCount=6),
            ),
            color=colour,
        )
    )
    rule = alt.Chart(alt.Data(values=[{across: at}])).mark_rule(
        strokeDash=[4, 4], color=styling.LOOK.muted
    )
    return lines + rule.encode(x=alt.X(f"{across}:Q", scale=log))
