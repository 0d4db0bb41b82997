"""Prefix growth for populations: simulated as clients send, counted by group, estimated."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.errors import InvalidAnswer, InvalidParameter, InvalidReport
from deniable.mechanisms import Prefixes
from deniable.protocol import ABSENT, Answer
from deniable.protocol.coding_model import CharacterModel
from deniable.protocol.domain import ABSENT_KEY, string_key

MODEL = CharacterModel("ab", 24, {(): ((0, 9), (1, 3), (2, 1))}).to_bytes()
SMALL = Prefixes(epsilon=3.0, alphabet="ab", length=6, lengths=[2, 4, 6], cohorts=2, points=100)
CODED = Prefixes(epsilon=3.0, alphabet="ab", length=6, model=MODEL, lengths=[4, 9], points=100)


@pytest.mark.parametrize("mechanism", [SMALL, CODED])
def test_true_points_are_the_clients(mechanism: Prefixes) -> None:
    texts = ["", "a", "abba", "bbbbbb"]
    words = mechanism._words([*map(string_key, texts), ABSENT_KEY])
    answers = [*(Answer(string_key(t)) for t in texts), Answer(ABSENT_KEY)]
    for group in range(mechanism.parameters.groups):
        for cohort in range(2):
            count = np.full(len(answers), group), np.full(len(answers), cohort)
            found = mechanism._points(words[group], *count)
            expected = [mechanism.parameters.point(a, group, cohort) for a in answers]
            assert found.tolist() == expected


def test_groups_have_their_shares(rng: np.random.Generator) -> None:
    reports = SMALL.simulate(["ab"] * 20_000, rng)
    sizes = np.bincount(reports["group"], minlength=4)
    shares = np.array(SMALL.parameters.weights) / SMALL.parameters.total_weight
    assert np.all(np.abs(sizes / 20_000 - shares) < 0.05)
    counts = SMALL.accumulate(reports)
    assert [SMALL.group(counts, g).n for g in range(4)] == sizes.tolist()
    assert counts.table.sum() == 20_000


def test_only_verification_is_estimated(rng: np.random.Generator) -> None:
    reports = SMALL.simulate(["ab"] * 4_000, rng)
    growers = reports[reports["group"] < SMALL.parameters.verification]
    nothing = SMALL.estimate(SMALL.accumulate(growers), ["ab"])
    assert np.isnan(nothing.frequency).all()
    assert nothing.notes
    found = SMALL.estimate(SMALL.accumulate(reports), ["ab", "ba"])
    assert found.n == np.count_nonzero(reports["group"] == 3)
    assert abs(found.frequency[0] - 1) < 6 * found.std_error[0]
    assert "verification group" in found.notes[0]


def test_absent_is_simulated(rng: np.random.Generator) -> None:
    reports = SMALL.simulate([ABSENT] * 3_000, rng)
    found = SMALL.estimate(SMALL.accumulate(reports), [ABSENT, "a"])
    assert found.frequency[0] > 0.5 > found.frequency[1]


def test_strings_that_cannot_be_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InvalidParameter, match="at most 6 characters"):
        SMALL.simulate(["a" * 7], rng)
    with pytest.raises(InvalidAnswer):
        CODED.simulate(["x"], rng)


@pytest.mark.parametrize(("item", "value"), [("group", 4), ("cohort", 2), ("point", 10**6)])
def test_reports_that_cannot_be_are_refused(
    rng: np.random.Generator, item: str, value: int
) -> None:
    reports = SMALL.simulate(["ab"] * 3, rng)
    reports[item][1] = value
    with pytest.raises(InvalidReport, match=item):
        SMALL.accumulate(reports)


def test_the_variance_counts_the_people_of_verification_only() -> None:
    share = SMALL.parameters.weights[-1] / SMALL.parameters.total_weight
    assert SMALL.variance(1_000) == pytest.approx(
        float(SMALL.pure.variance(1, 0.0)) / 1_000 / share
    )
    assert SMALL.variance(1_000, 0.5) > SMALL.variance(1_000)
