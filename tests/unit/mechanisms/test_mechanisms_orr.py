"""O-RR for populations: the fast design against a dense one, and what cannot be learned."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms import ORR, Counts
from deniable.mechanisms.orr_cohorts import Cohorts
from deniable.protocol import Answer
from deniable.protocol.domain import code_key, string_key

STRINGS = [f"string {i}" for i in range(6)]


def design(mechanism: ORR, answers: list[Answer]) -> np.ndarray:
    """The slow twin: a row per cohort and symbol, a column per answer."""
    shape = mechanism.parameters
    x = np.zeros((shape.cohorts * shape.symbols, len(answers)))
    for cohort in range(shape.cohorts):
        for column, answer in enumerate(answers):
            x[cohort * shape.symbols + shape.symbol(answer, cohort), column] = 1
    return x


def expected_counts(mechanism: ORR, x: np.ndarray, frequencies: list[float], each: int) -> Counts:
    shape = mechanism.parameters
    share = mechanism.symbol.q + mechanism.symbol.gap * (x @ np.array(frequencies))
    table = np.rint(each * share).astype(np.int64).reshape(shape.cohorts, shape.symbols)
    return Counts(table.sum(axis=1), table)


@pytest.mark.parametrize("symbols", [3, 40])
def test_blocks_are_the_dense_design(symbols: int, rng: np.random.Generator) -> None:
    mechanism = ORR(epsilon=1.0, symbols=symbols, cohorts=5)
    x = design(mechanism, [Answer(string_key(text)) for text in STRINGS])
    rows = np.stack([x.reshape(5, symbols, 6)[j].argmax(axis=0) for j in range(5)])
    table = rng.integers(1, 50, size=(5, symbols))
    cohorts = Cohorts(rows.astype(np.uint16), table, symbols, mechanism.symbol, closed=False)
    full = np.column_stack([x, np.ones(5 * symbols)])
    weights, theta = rng.random((5, symbols)), rng.random(7)
    assert cohorts.normal(weights) == pytest.approx(full.T @ np.diag(weights.ravel()) @ full)
    assert cohorts.fitted(theta).ravel() == pytest.approx(full @ theta)
    assert cohorts.against(weights) == pytest.approx(full.T @ weights.ravel())


def test_against_least_squares_in_the_space_of_the_constraint(rng: np.random.Generator) -> None:
    """The slow twin: unknowns without the last one, full multinomial covariance, pseudo-inverse."""
    mechanism = ORR(5, epsilon=1.5, symbols=3, cohorts=6)
    counts = mechanism.accumulate(mechanism.simulate([0, 0, 0, 1, 1, 2, 3, 4] * 500, rng))
    found = mechanism.estimate(counts)
    x = design(mechanism, [Answer(code_key(code), code) for code in range(5)])
    people = np.repeat(counts.reports, 3)
    observed = (counts.table.ravel() / people - mechanism.symbol.q) / mechanism.symbol.gap
    free = x[:, :-1] - x[:, -1:]  # f_4 = 1 - the others

    def fit(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inverse = np.linalg.pinv(covariance, rcond=1e-10)
        spread = np.linalg.inv(free.T @ inverse @ free)
        return spread @ free.T @ inverse @ (observed - x[:, -1]), spread

    centre = np.kron(np.eye(6), np.eye(3) - 1 / 3)
    first, _ = fit(centre @ np.diag(1 / people) @ centre)
    theta = np.append(first, 1 - first.sum())
    r = mechanism.symbol.q + mechanism.symbol.gap * (x @ theta)
    r = (people * np.clip(r, mechanism.symbol.q, mechanism.symbol.p) + 0.5) / (people + 1)
    blocks = np.zeros((18, 18))
    for j in range(6):
        part = slice(3 * j, 3 * j + 3)
        share = r[part] / r[part].sum()
        blocks[part, part] = (np.diag(share) - np.outer(share, share)) / people[3 * j]
    second, spread = fit(blocks / mechanism.symbol.gap**2)
    assert found.frequency[:-1] == pytest.approx(second, abs=2e-4)
    assert found.covariance is not None
    excess = found.covariance[0, 0] / spread[0, 0]
    assert 0.99 < excess < 3
    assert found.covariance[:-1, :-1] == pytest.approx(excess * spread, rel=0.02, abs=1e-7)


def test_expected_counts_give_the_frequencies_back() -> None:
    hashed = ORR(epsilon=3.0, symbols=5, cohorts=16)
    x = design(hashed, [Answer(string_key(text)) for text in STRINGS])
    true = [0.4, 0.3, 0.2, 0.1, 0.0, 0.0]
    estimate = hashed.estimate(expected_counts(hashed, x, true, 10**9), STRINGS)
    assert estimate.frequency == pytest.approx(true, abs=1e-6)
    closed = ORR(6, epsilon=3.0, symbols=3, cohorts=16)
    x = design(closed, [Answer(code_key(code), code) for code in range(6)])
    estimate = closed.estimate(expected_counts(closed, x, true, 10**9))
    assert estimate.frequency == pytest.approx(true, abs=1e-6)
    assert estimate.frequency.sum() == pytest.approx(1)
    assert estimate.covariance is not None
    assert estimate.covariance.sum(axis=0) == pytest.approx(np.zeros(6), abs=1e-12)


def test_too_few_cohorts_to_tell_all_answers_apart() -> None:
    mechanism = ORR(10, epsilon=1.0, symbols=2, cohorts=2)
    table = np.full((2, 2), 500)
    estimate = mechanism.estimate(Counts(table.sum(axis=1), table))
    assert np.isnan(estimate.frequency).any()
    assert "set symbols that cannot be told" in estimate.notes[-1]


def test_cohorts_without_reports_are_left_out() -> None:
    mechanism = ORR(epsilon=3.0, symbols=5, cohorts=16)
    x = design(mechanism, [Answer(string_key(text)) for text in STRINGS[:2]])
    counts = expected_counts(mechanism, x, [0.6, 0.4], 10**8)
    counts.table[3], counts.reports[3] = 0, 0
    estimate = mechanism.estimate(counts, STRINGS[:2])
    assert estimate.frequency == pytest.approx([0.6, 0.4], abs=1e-6)
    assert estimate.notes == ("1 of 16 cohorts have no reports.",)


def test_unlisted_strings_are_noticed() -> None:
    mechanism = ORR(epsilon=3.0, symbols=5, cohorts=64)
    x = design(mechanism, [Answer(string_key(text)) for text in STRINGS])
    counts = expected_counts(mechanism, x, [0.5, 0.5, 0, 0, 0, 0], 10**5)
    estimate = mechanism.estimate(counts, STRINGS[1:])
    assert estimate.frequency[0] == pytest.approx(0.5, abs=4 * estimate.std_error[0])
    assert any("symbols vary more than the noise" in note for note in estimate.notes)


def test_what_is_refused() -> None:
    mechanism = ORR(epsilon=1.0, symbols=3, cohorts=4)
    for bad in (None, [], ["a", "a"]):
        with pytest.raises(InvalidParameter):
            mechanism.estimate(mechanism.zero(), bad)
    for field, value in (("cohort", 4), ("symbol", 3)):
        record = np.zeros(1, dtype=mechanism.dtype)
        record[field] = value
        with pytest.raises(InvalidReport, match=f"{field} must be below {value}"):
            mechanism.accumulate(record)
    with pytest.raises(InvalidParameter, match="same parameters"):
        mechanism.estimate(ORR(epsilon=1.0, symbols=4, cohorts=4).zero(), ["a"])


def test_more_strings_than_symbols_can_tell_apart_are_refused_at_once() -> None:
    mechanism = ORR(epsilon=1.0)
    many = [f"string {i}" for i in range(770)]
    with pytest.raises(InvalidParameter, match=r"at most 769 strings apart\. Got 770 candidates"):
        mechanism.estimate(mechanism.zero(), many)
    assert len(mechanism.estimate(mechanism.zero(), many[:769]).candidates) == 769


def test_few_cohorts_with_reports_tell_few_strings_apart() -> None:
    mechanism = ORR(epsilon=1.0, symbols=4, cohorts=16)
    reports, table = np.zeros(16, dtype=np.int64), np.zeros((16, 4), dtype=np.int64)
    reports[3], table[3] = 100, 25
    found = mechanism.estimate(Counts(reports, table), STRINGS)
    assert np.isnan(found.frequency).all()
    assert "tell at most 4 candidates apart" in found.notes[0]


def test_the_symbols_of_candidates_are_those_of_their_reports() -> None:
    mechanism = ORR(epsilon=2.0, symbols=5, cohorts=7)
    found = mechanism.symbols_of(STRINGS)
    for row, text in enumerate(STRINGS):
        answer = Answer(string_key(text))
        expected = [mechanism.parameters.symbol(answer, cohort) for cohort in range(7)]
        assert found[row].tolist() == expected
