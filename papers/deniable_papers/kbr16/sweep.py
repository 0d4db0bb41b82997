"""[KBR16] section 5.3, last paragraph: the effect of k, C and h on O-RR and O-RAPPOR."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable_papers.base import Figure, Options, Outcome, Rows, Value
from deniable_papers.common.charts import COLOURS, altair, data_of, facets, styled
from deniable_papers.common.scoring import mean
from deniable_papers.kbr16.grid_search import COUNTS, HASHES, SIZES, Choice, Setting
from deniable_papers.kbr16.losses import measure

EPSILONS = (1.0, 3.0, 5.0)
BEST_SIZE = {1.0: 4, 3.0: 16, 5.0: 128}
"""The k nearest to e^epsilon + 1, which the sweep over C of O-RR keeps."""
NOTES = (
    "Hashed cohorts, 256 answers, geometric. What is not swept: O-RR has C = 1,024 (sweep of k) "
    "and the k nearest to e^epsilon + 1 (sweep of C); O-RAPPOR has k = 1,024, C = 16 and h = 1.",
    "Losses of least squares on the simplex. The paper states in words which values are best.",
    "That C = 1 is much worse for O-RAPPOR holds where its cells are few: two answers that share "
    "a cell cannot be told apart then.",
)


def run(options: Options) -> Outcome:
    """Vary one parameter at a time."""
    setting = Setting(256, options.people, closed=False)
    swept = _swept(setting)
    rows: list[dict[str, Value]] = []
    seeds = np.random.SeedSequence(options.seed).spawn(len(swept))
    for (mechanism, name, choice, epsilons), seed in zip(options.steps(swept), seeds, strict=True):
        generators = [np.random.default_rng(child) for child in seed.spawn(options.runs)]
        found = measure(setting, mechanism, choice, epsilons, generators)
        for epsilon, one in found.items():
            rows.append(
                {
                    "sweep": f"{'O-RR' if mechanism == 'orr' else 'O-RAPPOR'}, {name}",
                    "value": {"k": choice.size, "C": choice.count, "h": choice.hashes}[name],
                    "epsilon": epsilon,
                    "loss": mean(one.simplex),
                    "std_error": mean([one.simplex.std() / np.sqrt(options.runs)]),
                }
            )
    paper = {
        "O-RR, k": "best k depends directly on epsilon",
        "O-RR, C": "more is better; 1 is much worse",
        "O-RAPPOR, k": "more is better, up to 4,096",
        "O-RAPPOR, C": "1 is much worse; all others are equal",
        "O-RAPPOR, h": "1 is best",
    }
    return Outcome(paper, _ours(rows), {"losses": rows}, _chart(rows), NOTES)


def _swept(setting: Setting) -> list[tuple[str, str, Choice, list[float]]]:
    most = setting.most_cohorts
    every = list(EPSILONS)
    counts = [count for count in COUNTS if count <= min(most, 4096)]
    some = min(1024, counts[-1])
    found = [("orr", "k", Choice(size, some), every) for size in SIZES if size <= 1024]
    for epsilon, size in BEST_SIZE.items():
        found += [("orr", "C", Choice(size, count), [epsilon]) for count in counts]
    few = min(16, counts[-1])
    found += [("orappor", "k", Choice(size, few), every) for size in SIZES]
    found += [("orappor", "C", Choice(1024, count), every) for count in counts if count <= 64]
    return found + [("orappor", "h", Choice(1024, few, h), every) for h in HASHES]


def _ours(rows: list[dict[str, Value]]) -> dict[str, Any]:
    """Return, per sweep and epsilon, the value with the least loss, and every loss."""
    found: dict[str, Any] = {}
    for row in rows:
        at = found.setdefault(str(row["sweep"]), {}).setdefault(f"epsilon {row['epsilon']:g}", {})
        at.setdefault("values", []).append(row["value"])
        at.setdefault("losses", []).append(row["loss"])
    for sweep in found.values():
        for at in sweep.values():
            at["best"] = at["values"][int(np.argmin(at["losses"]))]
    return found


def _chart(rows: Rows) -> Any:
    alt = altair()
    scale = alt.Scale(domain=list(EPSILONS), range=list(COLOURS[: len(EPSILONS)]))
    lines = (
        alt.Chart(data_of(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("value:Q", title=None, scale=alt.Scale(type="log", base=2)),
            y=alt.Y("loss:Q", title="mean l1 loss", scale=alt.Scale(type="log", nice=False)),
            color=alt.Color("epsilon:O", scale=scale),
        )
        .properties(width=230, height=190)
    )
    order = list(dict.fromkeys(str(row["sweep"]) for row in rows))
    panels = facets(lines, "sweep", sort=order, columns=3)
    return styled(panels.resolve_scale(x="independent"), "The effect of k, C and h")


FIGURE = Figure(
    id="kbr16-sweep",
    paper="[KBR16] section 5.3",
    title="The effect of k, C and h",
    shows="O-RR's best k follows e^epsilon; cohorts help; more hash functions than one do not.",
    run=run,
    runs=4,
    full_runs=50,
    people=1_000_000,
    full_people=1_000_000,
)
