"""The shapes of hashing that a search found, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from deniable._words import crowd
from deniable.plan import Setting
from deniable.plan.shapes import Shape
from deniable.results.plan.shapes_chart import listed_strings, parameters_of, shapes_picture
from deniable.results.table import About, Cell, Column, Table

_COLUMNS = (
    Column("mechanism", "label", "mechanism"),
    Column("parameters", "label", "parameters"),
    Column("bytes", "count", "bytes"),
    Column("rare_error", "share", "error"),
    Column("margin", "share", "1% ±"),
    Column("smallest_share", "share", "smallest", otherwise="none"),
    Column("answers_learned", "count", "learned"),
    Column("words", "count"),
    Column("epsilon", "number"),
)
_MEANINGS = (
    "parameters: what to write in the survey, beside epsilon. Every row is the best shape of its "
    "mechanism for so short a report (of n-grams, a split); the first is the best of all.",
    "error: of a rare string's share, one standard deviation; 1% ±: half the width of the 95% "
    "interval of a share of 1%; smallest: the detection limit; learned: how many equally "
    "frequent strings are found.",
    "Predicted in closed form, of n-grams by simulated crowds. Cohorts have 1,000 people or more, "
    "filters no more bits than the list can use, or a permanent response should have.",
)


def shapes_table(setting: Setting, shapes: Sequence[Shape]) -> Table:
    """Return shapes, the best first."""
    rows: list[tuple[Cell, ...]] = [
        (
            one.prediction.mechanism,
            parameters_of(one),
            one.prediction.size,
            one.prediction.rare_error,
            one.prediction.margin,
            one.prediction.smallest if one.prediction.smallest < 1 else None,
            one.prediction.learned,
            one.prediction.words,
            one.prediction.epsilon,
        )
        for one in shapes
    ]
    what = f"{crowd(setting.people)}, epsilon {setting.epsilon:g}, {listed_strings(setting)}"
    about = About(
        "plan",
        domain=setting.domain.kind,
        epsilon_once=setting.epsilon,
        epsilon_forever=setting.forever,
        what=(f"{what}; errors are of the {setting.of}",),
        more={"plan": {"people": setting.people, "answers": None, "tests": setting.tests}},
    )
    picture = shapes_picture(setting, shapes)
    return Table.of(about, _COLUMNS, rows, notes=_MEANINGS, picture=picture)
