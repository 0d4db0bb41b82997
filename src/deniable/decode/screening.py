"""More candidates than cells can tell apart: choose on one half of the cohorts, test on the other.

With too many candidates for one regression, a model must be chosen, and data that chose a model
cannot test it. So the cohorts are split. Each half chooses the strings that explain it (marginal
correlation, then a non-negative elastic net); on the *other* half these are the model, and every
candidate, chosen or not, is scored as one more column beside it. The halves swap, and the two
scores of each candidate add up: each comes from data that had no say in its model.

Guarantees: given the half that chose the model, the score of an absent candidate on the other half
has mean 0 and the stated variance, also if the candidate itself was chosen. What the model leaves
out counts as strings that nobody listed: intercept, dispersion and decoys take care of it. That the
two scores of a candidate are also independent of each other is exact for fixed models only; the
statistical tests measure the variance of their sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.decode.design import Design, Places
from deniable.decode.nonnegative import nonnegative_least_squares
from deniable.decode.observed import Observed
from deniable.decode.regression import Evidence, Regression
from deniable.mechanisms.base import Floats

FULL = 0.5
"""The most candidates per equation that are all fitted at once: of more, models are chosen."""
_SHORTLIST = 0.5
"""Candidates that enter the elastic net, as a share of the half's cells."""
CHOSEN = 0.2
"""Candidates that may enter the model, as a share of the half's cells."""
PENALTY = 2.0
"""The l1 penalty of each column in standard errors of its score: noise rarely passes two."""
_RIDGE = 0.01
"""The ridge of each column as a share of its information: columns that overlap stay apart."""
_ROUNDS = 2
"""Rounds of screening: the second one looks at the residuals of the first."""


@dataclass(frozen=True)
class Screened:
    """The evidence of both halves.

    Attributes:
        parts: the two fits, each on one half with what the other half chose.
        chosen: the places of the candidates in each part's model.
        evidence: about every candidate.
    """

    parts: tuple[Regression, Regression]
    chosen: tuple[Places, Places]
    evidence: Evidence


def split_cohorts(observed: Observed, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return two halves of the cohorts that have reports, as 0/1 weights of the cells.

    Cohorts are paired by their number of reports and each pair is split by a coin, so that the
    halves are equally large and neither is chosen by what was reported.
    """
    people = observed.people[:: observed.shape.bits]
    order = np.argsort(-people, kind="stable")
    order = order[: np.count_nonzero(people)]
    first = np.zeros(people.size)
    for start in range(0, order.size, 2):
        pair = rng.permutation(order[start : start + 2])
        first[pair[0]] = 1.0
    second = (people > 0) - first
    bits = observed.shape.bits
    return np.repeat(first, bits), np.repeat(second, bits)


def screen(observed: Observed, design: Design, rng: np.random.Generator) -> Screened:
    """Score every candidate on both halves.

    Cost: O(S^2) per candidate for S chosen strings (at most a fifth of a half's cells), in blocks;
    a few numbers per candidate are kept. Time is linear in the number of candidates.
    """
    halves = split_cohorts(observed, rng)
    parts, places = [], []
    for choosing, testing in (halves, halves[::-1]):
        chosen, share = choose(observed, design, choosing)
        weights = observed.weights(share) * testing
        parts.append(_regression(observed, weights, design.take(chosen)))
        places.append(chosen)
    evidence = _scored(parts[0], places[0], design) + _scored(parts[1], places[1], design)
    return Screened((parts[0], parts[1]), (places[0], places[1]), evidence)


def _regression(observed: Observed, weights: Floats, design: Design) -> Regression:
    return Regression.of(observed.y, weights, design, observed.tied(weights))


def _scored(part: Regression, chosen: Places, design: Design) -> Evidence:
    evidence, inside = part.evidence(design), part.fitted_evidence
    evidence.score[chosen] = inside.score
    evidence.information[chosen] = inside.information
    return evidence


def choose(observed: Observed, design: Design, half: Floats) -> tuple[Places, Floats]:
    """Return the candidates that explain one half, and the share of people they put in each cell.

    Args:
        observed: all counts; only the cells of the half are looked at.
        design: all candidates.
        half: 1 for the cells of the half, 0 for the others.
    """
    y = observed.y
    weights = (
        observed.weights(np.full_like(y, np.average(y, weights=half * observed.people))) * half
    )
    cells = int(np.count_nonzero(weights))
    chosen: Places = np.empty(0, dtype=np.intp)
    model = _regression(observed, weights, design.take(chosen))
    for _ in range(_ROUNDS):
        shortlist = _shortlist(model, design, chosen, max(1, int(_SHORTLIST * cells)))
        chosen = _elastic_net(y, weights, design, shortlist, max(1, int(CHOSEN * cells)))
        model = _regression(observed, weights, design.take(chosen))
    share = y - model.residual  # the fit, also in the cells of the other half
    return chosen, np.clip(share, 0.0, 1.0)


def _shortlist(model: Regression, design: Design, chosen: Places, size: int) -> Places:
    """Return the candidates that correlate most with the residual, and those chosen before."""
    score, plain = design.sums(model.pull, model.weights)
    # d'Wr / sqrt(d'Wd): up to one factor the z of a column by itself, as if it shared no cell
    # with the model.
    marginal = score / np.sqrt(np.maximum(plain, 1e-300))
    marginal[chosen] = np.inf
    size = min(size, len(design))
    return np.sort(np.argpartition(marginal, len(design) - size)[len(design) - size :])


def _elastic_net(
    y: Floats, weights: Floats, design: Design, shortlist: Places, most: int
) -> Places:
    """Return the members of the shortlist with positive coefficients, at most `most` of them."""
    columns = design.take(shortlist).matrix()
    shared = columns @ weights
    gram = (columns.multiply(weights[None, :]).tocsr() @ columns.T).toarray()
    # An intercept without penalty: what is left of each column when its weighted mean is removed.
    gram -= np.outer(shared, shared) / weights.sum()
    right = columns @ (weights * (y - np.average(y, weights=weights)))
    information = np.maximum(gram.diagonal(), 0.0)
    gram[np.diag_indices_from(gram)] += _RIDGE * information
    # Elastic net: the ridge stands in the diagonal, and the l1 penalty is taken off c; sqrt of
    # the information is the standard error of a column's score.
    found = nonnegative_least_squares(gram, right - PENALTY * np.sqrt(information))
    strength = found * np.sqrt(information)
    strongest = np.argsort(-strength, kind="stable")[: min(most, np.count_nonzero(found))]
    return np.sort(shortlist[strongest])
