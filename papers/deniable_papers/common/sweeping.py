"""Precision and recall of both decoders over a grid of k, h and m."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.decode import decode, decode_lasso
from deniable.mechanisms import Rappor
from deniable.mechanisms.base import Floats
from deniable_papers.base import Options
from deniable_papers.common.crowd import design_for, drawn, reported
from deniable_papers.common.scoring import averaged, precision_and_recall

DECODERS = {"paper": "Lasso, BH 5%", "default": "default, Storey 5%"}


@dataclass(frozen=True)
class Setting:
    """One point of a sweep.

    Attributes:
        label: what varies, for the table and the chart.
        mechanism: the client.
    """

    label: dict[str, Any]
    mechanism: Rappor


def sweep(
    options: Options,
    settings: Sequence[Setting],
    names: Callable[[np.random.Generator], list[str]],
    weights: Floats,
) -> list[dict[str, Any]]:
    """Return a row per setting and decoder: mean precision and recall over the runs.

    Args:
        options: how many runs, people and which seed.
        settings: the points; every point has the same crowds.
        names: gives the candidates of a run.
        weights: their shares; 0 for those that nobody holds.
    """
    found: list[list[dict[str, Any]]] = [[] for _ in settings]
    work = [(place, run) for run in range(options.runs) for place in range(len(settings))]
    for place, run in options.steps(work):
        rng = np.random.default_rng([options.seed, run])
        strings = names(rng)
        totals = drawn(weights, options.people, rng)
        found[place].append(_one(settings[place].mechanism, strings, totals, rng))
    rows = []
    for setting, results in zip(settings, found, strict=True):
        mean = averaged(results)
        rows += [{**setting.label, "decoder": DECODERS[name], **mean[name]} for name in DECODERS]
    return rows


def _one(
    mechanism: Rappor, strings: list[str], totals: Any, rng: np.random.Generator
) -> dict[str, Any]:
    counts = reported(mechanism, design_for(mechanism, strings), totals, rng)
    truth = totals / totals.sum()
    reference = decode_lasso(mechanism, counts, strings)
    decoded = decode(mechanism, counts, strings, seed=int(rng.integers(2**32)))
    return {
        "paper": precision_and_recall(reference.bh, truth),
        "default": precision_and_recall(decoded.storey, truth),
    }


def by_label(rows: Sequence[dict[str, Any]], label: str) -> dict[str, Any]:
    """Return the numbers of a sweep over one label, as JSON: decoder, label, number."""
    return {
        name: {
            str(row[label]): {"precision": row["precision"], "recall": row["recall"]}
            for row in rows
            if row["decoder"] == shown
        }
        for name, shown in (("paper_decoder", DECODERS["paper"]), ("default", DECODERS["default"]))
    }
