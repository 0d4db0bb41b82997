"""[BJ18] table 6.4 and figure 6: the counts of the most frequent words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.decode import Design, decode, decode_lasso
from deniable.decode.reading import REPORTERS
from deniable.mechanisms.base import Floats
from deniable.results.labels import printable
from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.bj18 import experiment as bj18
from deniable_papers.common.charts import altair, colours, data_of, styled
from deniable_papers.common.crowd import Totals, design_for, drawn, reported
from deniable_papers.common.limits import std_error_of_count
from deniable_papers.common.populations import words
from deniable_papers.common.scoring import averaged
from deniable_papers.common.sweeping import DECODERS

MECHANISM = bj18.client()
TOP = 10
VOCABULARY = 4_999
ABSENT = np.arange(bj18.PRESENT, bj18.PRESENT + bj18.ABSENT)
# Word, true count, estimate, as printed.
PRINTED = (
    ("of", 37436, 35874), ("and", 29366, 25143), ("to", 26603, 21019), ("a", 23654, 30465),
    ("in", 21928, 18008), ("that", 10687, 14046), ("he", 9598, 11596), ("for", 9592, 10458),
    ("with", 7561, 8939), ("as", 7394, 5216),
)  # fmt: skip


@dataclass(frozen=True)
class _Found:
    """The people who hold each word, and the frequencies by decoder."""

    totals: Totals
    frequency: dict[str, Floats]

    @property
    def errors(self) -> dict[str, dict[str, float]]:
        truth = self.totals[: bj18.PRESENT + bj18.ABSENT] / self.totals.sum()
        return {name: errors(found, truth) for name, found in self.frequency.items()}


def run(options: Options) -> Outcome:
    """Estimate the counts with both decoders, also where people hold words that nobody listed."""
    names, weights = bj18.population(options)
    strings, counts = words(options.data, VOCABULARY)
    all_weights = np.where(np.isin(np.arange(VOCABULARY), ABSENT), 0.0, counts)
    all_weights /= all_weights.sum()
    # As many people that the listed words keep their counts.
    everybody = int(options.people / all_weights[: bj18.PRESENT].sum())
    closed, opened = design_for(MECHANISM, names), design_for(MECHANISM, strings)
    runs: list[_Found] = []
    unlisted: list[_Found] = []
    for rng in options.steps(options.generators()):
        runs.append(_decoded(names, closed, drawn(weights, options.people, rng), rng))
        unlisted.append(_decoded(names, opened, drawn(all_weights, everybody, rng), rng))
    ours = {
        **averaged([one.errors for one in runs]),
        "unlisted_words": averaged([one.errors for one in unlisted]),
        "std_error_closed_form_of_a_count": std_error_of_count(MECHANISM, options.people),
    }
    rows = _rows(names, runs[0])
    return Outcome(PAPER_NUMBERS, ours, {"words": rows}, _chart(rows), NOTES)


def _decoded(names: list[str], design: Design, totals: Totals, rng: np.random.Generator) -> _Found:
    counts = reported(MECHANISM, design, totals, rng)
    reference = decode_lasso(MECHANISM, counts, names)
    decoded = decode(MECHANISM, counts, names, seed=int(rng.integers(2**32)), reading=REPORTERS)
    return _Found(
        totals, {"paper_decoder": reference.frequency, "default": np.asarray(decoded.likely)}
    )


def errors(estimate: Floats, truth: Floats) -> dict[str, float]:
    """Return the mean relative error of the most frequent ten and the median of all.

    Only words that people hold count; what cannot be identified counts as estimated at 0.
    """
    held = truth > 0
    relative = np.abs(np.nan_to_num(estimate)[held] - truth[held]) / truth[held]
    return {
        "top10_mean_relative_error": float(relative[:TOP].mean()),
        "top90_median_relative_error": float(np.median(relative)),
    }


def _rows(names: list[str], found: _Found) -> Rows:
    people = int(found.totals.sum())
    return [
        {
            "rank": rank + 1,
            "word": names[rank],
            "truth": int(found.totals[rank]),
            DECODERS["paper"]: float(found.frequency["paper_decoder"][rank] * people),
            DECODERS["default"]: float(found.frequency["default"][rank] * people),
        }
        for rank in range(bj18.PRESENT)
    ]


def _chart(rows: Rows) -> Any:
    alt = altair()
    series = ["truth", *DECODERS.values()]
    long = [
        {"rank": row["rank"], "word": printable(str(row["word"])), "series": name, "n": row[name]}
        for row in rows
        for name in series
    ]
    base = alt.Chart(data_of(long), width=680, height=300).encode(
        x=alt.X("rank:Q", title="word, by true rank"),
        y=alt.Y("n:Q", title="people"),
        color=alt.Color("series:N", scale=colours(series), title=None),
    )
    lines = base.transform_filter("datum.series == 'truth'").mark_line()
    points = base.transform_filter("datum.series != 'truth'").mark_point(size=28)
    return styled(alt.layer(lines, points), "Counts of the 90 most frequent words", "first run")


_RELATIVE = [abs(found - true) / true for _, true, found in PRINTED]
PAPER_NUMBERS = {
    "paper_decoder": {"top10_mean_relative_error": float(np.mean(_RELATIVE))},
    "printed": {word: [true, found] for word, true, found in PRINTED},
}
NOTES = (
    "Standard errors and intervals are of the reporters, as in the paper: the error of a sample "
    "is not in them.",
    bj18.CHOICES,
    "k = 48, h = 2, m = 8, f = 0.73. The paper's mean error of 20% is three times what noise of "
    "these parameters explains; it names over-dispersion as the reason.",
    "unlisted_words: people also hold the words beyond the 180 candidates, half of all prose, in a "
    "crowd larger by as much. Such words set bits too, and the errors come close to the paper's.",
)
FIGURE = Figure(
    id="bj18-words",
    paper="[BJ18] table 6.4, figure 6",
    title="Counts of the most frequent words",
    shows="How close the estimated counts of common words come.",
    run=run,
    runs=10,
    full_runs=50,
    people=bj18.PEOPLE,
    full_people=bj18.PEOPLE,
)
