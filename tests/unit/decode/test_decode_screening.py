from __future__ import annotations

from dataclasses import replace

import numpy as np

from deniable.decode.design import design_of
from deniable.decode.observed import observe
from deniable.decode.screening import CHOSEN, choose, screen, split_cohorts
from deniable.mechanisms import Counts, Rappor

RAPPOR = Rappor(bits=32, hashes=2, cohorts=8, p=0.25, q=0.75)
STRINGS = [f"s{i}" for i in range(1_500)]
PEOPLE = [40_000, 30_000, 20_000, 10_000]


def test_the_halves_share_no_cohort_and_leave_out_the_empty_ones(counts_of, rng):
    counts = counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng)
    reports = counts.reports.copy()
    reports[3] = 0
    table = counts.table * (reports > 0)[:, None]
    observed = observe(RAPPOR, Counts(reports, table))
    first, second = split_cohorts(observed, rng)
    assert np.array_equal(first + second, observed.live.astype(float))
    assert {first.sum(), second.sum()} == {4 * 32, 3 * 32}
    assert (first.reshape(8, 32).std(axis=1) == 0).all()  # whole cohorts


def test_the_split_depends_on_the_generator_not_on_what_was_reported(counts_of, rng):
    observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng))
    other = replace(observed, counts=observed.people - observed.counts)
    first = split_cohorts(observed, np.random.default_rng(3))[0]
    assert np.array_equal(first, split_cohorts(other, np.random.default_rng(3))[0])
    assert any(
        not np.array_equal(first, split_cohorts(observed, np.random.default_rng(seed))[0])
        for seed in range(4, 9)
    )


def test_a_half_chooses_what_people_hold_and_not_much_else(counts_of, rng):
    observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng))
    half = split_cohorts(observed, rng)[0]
    chosen, share = choose(observed, design_of(observed.shape, STRINGS), half)
    assert {0, 1, 2} <= set(chosen)
    assert len(chosen) <= CHOSEN * 4 * 32
    assert share.min() >= 0
    assert share.max() <= 1


def test_the_choice_does_not_look_at_the_other_half(counts_of, rng):
    observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng))
    design = design_of(observed.shape, STRINGS)
    half, rest = split_cohorts(observed, rng)
    noise = rng.integers(0, observed.people.astype(int) + 1)
    changed = replace(observed, counts=np.where(rest > 0, noise, observed.counts))
    first, second = (choose(each, design, half) for each in (observed, changed))
    assert np.array_equal(first[0], second[0])
    assert np.allclose(first[1], second[1])


def test_every_candidate_has_evidence_of_both_halves(counts_of, rng):
    observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng))
    design = design_of(observed.shape, STRINGS)
    screened = screen(observed, design, rng)
    z = screened.evidence.z
    assert np.isfinite(z).all()
    truth = np.zeros(len(STRINGS))
    truth[:4] = np.array(PEOPLE) / sum(PEOPLE)
    assert set(np.argsort(-z)[:3]) == {0, 1, 2}
    errors = (screened.evidence.estimate - truth) / screened.evidence.std_error
    assert np.abs(errors).max() < 6  # 1,500 of them, and a few thousandths are beyond 3
    assert 0.8 < errors.std() < 1.2


def test_each_part_is_tested_on_cells_that_did_not_choose_it(counts_of, rng):
    observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS[:4], PEOPLE, rng))
    design = design_of(observed.shape, STRINGS)
    screened = screen(observed, design, np.random.default_rng(5))
    halves = split_cohorts(observed, np.random.default_rng(5))
    for part, chosen, choosing in zip(screened.parts, screened.chosen, halves, strict=True):
        assert (part.weights[choosing > 0] == 0).all()
        assert np.array_equal(chosen, choose(observed, design, choosing)[0])
        assert np.array_equal(part.design.cells, design.cells[chosen])
