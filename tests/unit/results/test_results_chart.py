"""The chart: what it draws, and that no string can make it do anything else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from xml.parsers import expat

import pytest

from deniable.errors import InvalidParameter
from deniable.results.charts.bars import described, key_lines, shown_rows
from deniable.results.labels import shortened
from deniable.results.table.files import chart_html, chart_png, chart_svg
from material.results import HOSTILE, UNKNOWN, hostile_result, result, row


def marks(definition: dict[str, object]) -> list[str]:
    layers = definition["layer"]
    assert isinstance(layers, list)
    return [layer["mark"]["type"] for layer in layers]


def data(definition: dict[str, object]) -> list[dict[str, object]]:
    datasets = definition["layer"]
    assert isinstance(datasets, list)
    values = datasets[0]["data"]["values"]
    assert isinstance(values, list)
    return values


def test_the_chart_has_bars_whiskers_and_ticks_of_the_truth() -> None:
    with_truth = result(row("a", 0.3, truth=0.31), row("b", 0.1)).chart().to_dict()
    assert marks(with_truth) == ["bar", "rule", "rule", "tick", "tick", "tick"]
    assert marks(result(row("a", 0.3)).chart().to_dict()) == ["bar", "rule", "rule", "tick", "tick"]


def test_the_data_are_the_rows_in_their_order() -> None:
    shown = data(result(row("a", 0.3, truth=0.31), row("b", -0.1), UNKNOWN).chart().to_dict())
    assert [point["label"] for point in shown] == ["a", "b", "unknown"]
    assert [point["share"] for point in shown] == [0.3, -0.1, None]
    assert shown[0]["low"] == pytest.approx(0.3 - 0.0196)
    assert [point["kind"] for point in shown][:2] == [
        "stands out from zero",
        "not enough evidence",
    ]


def test_the_title_has_n_and_epsilon() -> None:
    title = result(row("a", 0.3)).chart().to_dict()["title"]
    assert title["text"] == "asked"
    assert "n = 10,000 reports · epsilon 1.075 once, 4.395 for ever" in title["subtitle"]
    assert "title" not in result(row("a", 0.3)).chart(heading=False).to_dict()


def test_of_many_answers_the_most_frequent_are_drawn_and_a_line_says_so() -> None:
    many = result(*[row(f"v{i}", (i % 45) / 100) for i in range(100)], UNKNOWN)
    kept = shown_rows(many)
    assert len(kept) == 30
    assert min(r.frequency for r in kept) >= sorted(r.frequency for r in many.rows[:-1])[-30]
    assert [r for r in many.rows if r in kept] == list(kept)
    assert "the 30 most frequent of 101 answers" in key_lines(many)


def test_bins_of_numbers_are_neighbours_so_more_are_drawn() -> None:
    bins = result(*[row(f"v{i}", 0.01) for i in range(60)], domain="numbers")
    assert shown_rows(bins) == bins.rows
    more = result(*[row(f"v{i}", i / 100) for i in range(70)], domain="numbers")
    assert [r.value for r in shown_rows(more)] == [f"v{i}" for i in range(10, 70)]


def test_equal_labels_stay_apart() -> None:
    long = "x" * 500
    shown = data(result(row(f"{long}a{long}", 0.3), row(f"{long}b{long}", 0.2)).chart().to_dict())
    assert len({point["label"] for point in shown}) == 2


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="light, dark"):
        result(row("a", 0.3)).chart(theme="pink")


def test_the_description_says_what_a_reader_cannot_see() -> None:
    text = described(result(row("a", 0.3), row("b", 0.001)))
    assert "2 estimated shares" in text
    assert "Largest: a 30.0%." in text
    assert "No answer stands out" in described(result(row("b", 0.001)))


class Picture:
    """An SVG read by an XML parser: its elements, its attributes and its texts."""

    def __init__(self, data: bytes) -> None:
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: set[str] = set()
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.CharacterDataHandler = self.texts.add
        parser.Parse(data, True)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.tags.add(tag)
        self.attributes |= set(attributes)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [340, 980])
def test_svg_shows_hostile_strings_as_text(theme: str, width: int) -> None:
    picture = Picture(chart_svg(hostile_result(), theme=theme, width=width))
    assert picture.tags <= {"svg", "rect", "g", "path", "line", "text", "tspan", "defs", "clipPath"}
    assert shortened(HOSTILE[0], max(14, width // 22)) in picture.texts
    assert not any(name.startswith("on") for name in picture.attributes)


def test_svg_loads_nothing() -> None:
    data = chart_svg(result(row("https://example.com/x", 0.3))).decode()
    assert set(re.findall(r'(?:href|src)="([^"]*)"', data)) == set()
    assert "@import" not in data
    assert all(name.startswith("#") for name in re.findall(r"url\(([^)]*)\)", data))


def test_png_is_a_picture() -> None:
    data = chart_png(hostile_result())
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(data[16:20], "big") >= 760


class Page(HTMLParser):
    """Collects scripts, and everything that would be loaded."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.policy = ""
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._in_script = tag == "script"
        values = dict(attrs)
        self.loads += [v for n, v in attrs if n in ("src", "href", "data", "action") and v]
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts.append(data)


def test_the_page_of_a_chart_is_complete_and_its_strings_stay_strings() -> None:
    page = Page(chart_html(hostile_result()).decode())
    assert page.loads == []
    assert len(page.scripts) == 2
    assert "img" not in page.tags
    assert page.policy.startswith("default-src 'none';")
    assert "http" not in page.policy
    start, end = page.scripts[1].index("{"), page.scripts[1].rindex(', {"renderer"')
    definition = json.loads(page.scripts[1][start:end])
    assert data(definition)[0]["label"] == shortened(HOSTILE[0], 34)
    assert "<" not in page.scripts[1]


def test_the_renderer_survives_every_kind_of_character() -> None:
    """In a process of its own: the renderer aborts on what XML does not allow."""
    program = """
import unicodedata
from deniable.ask.estimate import answer_row, shares_table
from deniable.results.table import About
from deniable.results.table.files import chart_svg

kinds = {(unicodedata.category(chr(c)), unicodedata.bidirectional(chr(c))): chr(c)
         for c in range(0x110000)}
points = [chr(c) for c in range(0x300)] + list(kinds.values())
points += [chr(plane << 16 | end) for plane in range(17) for end in (0xFFFD, 0xFFFE, 0xFFFF)]
values = ["".join(points[i:i + 6]) for i in range(0, len(points), 6)]
for start in range(0, len(values), 30):
    rows = [answer_row(value, 0.1, 0.1, (0.0, 0.2)) for value in values[start:start + 30]]
    chart_svg(shares_table(About("estimate", question="q", domain="strings"), rows))
print("survived", len(points))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.startswith("survived"), done.stderr[-2000:]
