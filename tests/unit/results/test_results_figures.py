"""Figures of pages: every picture has one, every mark says its value, and strings stay strings."""

from __future__ import annotations

import math
from html.parser import HTMLParser

import pytest

from deniable.errors import InvalidParameter
from deniable.results.figures import figure_caption, figure_html
from deniable.results.figures.figure import FIGURES
from deniable.results.figures.marks import Scale, scale_of
from deniable.results.table import About, Column, Table
from material.results import HOSTILE, hostile_result, result, row


class Marks(HTMLParser):
    """The marks of a figure: their words, and all places in per cent."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.places: list[float] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.add(tag)
        if tag == "g":
            assert values["tabindex"] == "0"
            self.words.append(str(values["aria-label"]))
        assert not any(name.startswith("on") or name == "style" for name in values)
        for value in values.values():
            if value and value.endswith("%") and value[:-1].replace(".", "").isdigit():
                self.places.append(float(value[:-1]))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_bars_say_their_values_and_stay_inside() -> None:
    marks = Marks(figure_html(result(row("a", 0.25), row("b", -0.01), row("c", 0.6))))
    assert [one.partition(":")[0] for one in marks.words] == ["a", "b", "c"]
    assert marks.words[0].startswith("a: 25")
    assert all(0 <= place <= 100 for place in marks.places)


def test_yes_and_no_are_one_bar_out_of_all_people() -> None:
    table = result(row("false", 0.7), row("true", 0.3), domain="boolean")
    marks = Marks(figure_html(table))
    assert [one.partition(":")[0] for one in marks.words] == ["yes"]
    assert "100%" in marks.text
    # An absent answer is a third part: then all three stand there.
    three = result(row("false", 0.5), row("true", 0.3), row("(absent)", 0.2), domain="boolean")
    names = [one.partition(":")[0] for one in Marks(figure_html(three)).words]
    assert names == ["no", "yes", "(absent)"]


def test_an_interval_of_everything_has_no_bar_beyond_it() -> None:
    noise = row("noise", 41.04, 82.2)
    noise = (*noise[:3], (0.0, 1.0), *noise[4:])
    marks = Marks(figure_html(result(row("a", 0.25), noise)))
    assert [one.partition(":")[0] for one in marks.words] == ["a"]
    assert "noise" in marks.text
    assert "4104" not in marks.text
    drawn = result(row("a", 0.25), noise).chart().to_dict()["layer"][0]["data"]["values"]
    assert [one["share"] for one in drawn] == [0.25, None]


def test_what_was_not_learned_has_a_name_and_no_mark() -> None:
    table = result(row("a", 0.5), row("b", math.nan, math.nan))
    html = figure_html(table)
    assert len(Marks(html).words) == 1
    assert ">b<" in html
    assert "nan" not in html.lower()


def test_nothing_at_all_is_no_crash() -> None:
    empty = figure_html(result(n=0))
    assert "nan" not in empty.lower()
    assert Marks(empty).words == []


def test_many_answers_say_that_some_are_left_out() -> None:
    table = result(*(row(f"answer {i}", (50 - i) / 2_000) for i in range(50)))
    html = figure_html(table)
    assert len(Marks(html).words) == 30
    assert "… and 20 more, in the table below" in html


def test_hostile_strings_are_text() -> None:
    marks = Marks(figure_html(hostile_result()))
    assert not marks.tags & {"script", "img", "b", "i"}
    assert any(text in marks.text for text in HOSTILE if text.isprintable())


def test_every_picture_has_a_figure_and_others_say_so() -> None:
    """Whatever a table can be drawn as in a file, a page can show."""
    names = {"bars", "lines", "number_lines", "cumulative_picture", "heat_map"}
    names |= {"correlations", "dependency_tree", "beginnings"}
    assert {one.__name__ for one in FIGURES} == names
    nothing = Table.of(About("plan"), [Column("value", "label", "value")], [("x",)])
    with pytest.raises(InvalidParameter, match="no figure of a table of the kind 'plan'"):
        figure_html(nothing)
    assert figure_caption(nothing) == ""
    assert "whisker" in figure_caption(result(row("a", 0.5)))


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.0, 0.33, [0.0, 0.1, 0.2, 0.3]),
        (-0.2, 0.2, [-0.2, -0.1, 0.0, 0.1, 0.2]),
        (5.0, 5.0, [5.0]),
        (0.0, 1e-9, [0.0, 2.5e-10, 5e-10, 7.5e-10, 1e-9]),
    ],
)
def test_ticks_are_round_and_inside(low: float, high: float, ticks: list[float]) -> None:
    found = Scale(low, high).ticks()
    assert all(low - 1e-12 <= tick <= high + 1e-12 for tick in found)
    if ticks[-1] < 1e-6:
        assert 2 <= len(found) <= 7
    else:
        assert found == pytest.approx(ticks)


def test_scales_hold_every_number_with_some_room() -> None:
    scale = scale_of([0.2, 0.4, math.inf, math.nan], zero=True)
    assert scale.low == 0.0
    assert scale.high > 0.4
    assert 0 < scale.at(0.2) < scale.at(0.4) < 100
    assert scale.at(9.0) == 100.0
    assert Scale(1.0, 100.0, log=True).at(10.0) == pytest.approx(50.0)
    assert scale_of([]).low < scale_of([]).high
