"""Every probability of every mechanism: right ones pass, and one that is 5% off is caught."""

from __future__ import annotations

import numpy as np
import pytest
from audit_material import ONCE, PAPER, RESPONSE, a_question, categories, record, survey
from scipy import stats

from deniable.audit import sample
from deniable.audit.pairs import worst_pair
from deniable.audit.probabilities import Error, Tally, _chernoff, deviations, directions
from deniable.audit.reading import records_of
from deniable.audit.sample import Sampled, audit_sample, coins_of, most_devices
from deniable.client.randomness import SystemDraws
from deniable.mechanisms import mechanism_of
from deniable.protocol import (
    MECHANISMS,
    RECORD_MECHANISMS,
    Boolean,
    Question,
    Sets,
    Strings,
)
from deniable.testing.ledger import LEDGER
from deniable.testing.statistics import accept, goodness_of_fit

STRONG: dict[str, object] = {"epsilon": 3.0}
"""Large probabilities: few devices are needed to see an error of 5%."""
BITS = ("inp_rr", "marg_rr")
NAMES = Strings("abcd", 4)
ASKED = [
    a_question("krr", categories(3), "krr", {**STRONG, "epsilon_forever": 4.0}),
    a_question("oue", Sets(tuple("abcdefgh"), 8), "oue", {"epsilon": 2.0, "per": "bit"}),
    a_question("rappor", Strings(), "rappor", RESPONSE),
    a_question("rappor-fresh", categories(8), "rappor", {"f": 0.0, "p": 0.5, "q": 0.9}),
    a_question("orr", Strings(), "orr", {**STRONG, "k": 2, "cohorts": 8}),
    a_question("olh", Strings(), "olh", {**STRONG, "g": 2}),
    a_question("hcms", Strings(), "hcms", STRONG),
    *(a_question(name, categories(6), name, STRONG) for name in ("pgr", "hadamard", "subset")),
    a_question("prefixes", NAMES, "prefixes", {**STRONG, "points": 20, "cohorts": 2}),
    a_question("ngrams", NAMES, "ngrams", {"p": 0.4, "q": 0.9, "k": 8, "h": 1, "m": 2}),
    *(
        a_question(name, record(2, 2), name, {"epsilon": 1.2} if name in BITS else STRONG)
        for name in RECORD_MECHANISMS
        if name != "inp_olh"
    ),
    a_question("inp_olh", record(2, 2), "inp_olh", {**STRONG, "g": 2}),
]


def thresholds_of(question: Question) -> list[str]:
    return [name for name, _, _ in directions(question.fields[0].parameters)]


def test_every_mechanism_is_here() -> None:
    assert {question.fields[0].parameters.mechanism for question in ASKED} == set(MECHANISMS)
    assert all(thresholds_of(question) for question in ASKED)


@pytest.mark.parametrize("question", ASKED, ids=lambda question: question.id)
def test_right_encoders_pass(question: Question, rng: np.random.Generator) -> None:
    LEDGER.add(5e-10)
    audit = audit_sample(survey(question), trials=400, draws=SystemDraws(rng.bytes), alpha=1e-10)
    assert audit.holds, audit.failures
    (found,) = [finding for finding in audit.findings if finding.check == "every probability"]
    assert "An error of 5% would be found" in found.words


def test_the_tally_of_batches_is_that_of_all(rng: np.random.Generator) -> None:
    """And simulated reports, which are no encoder's, have the same chances."""
    question = a_question("rappor", Strings(), "rappor", {**PAPER, "k": 16, "m": 4})
    (field,) = question.fields
    mechanism = mechanism_of(field, False)
    reports = mechanism.simulate(np.zeros(4_000, dtype=np.int64), rng, ["deniable"])
    data, size = reports.tobytes(), field.parameters.layout.size
    records = records_of(field.parameters, [data[i : i + size] for i in range(0, len(data), size)])
    answer = worst_pair(field)[0].answer
    whole, parts = Tally(field.parameters), Tally(field.parameters)
    whole.add(answer, records)
    for start in range(0, 4_000, 1_500):
        parts.add(answer, records[start : start + 1_500])
    assert [(c.yes, c.count) for c in whole.classes.values()] == [
        (c.yes, c.count) for c in parts.classes.values()
    ]
    for error in whole.errors().values():
        LEDGER.add(1e-9)
        assert abs(error.off) < 6.2 * error.std_error
        assert error.check().p_value > 1e-9


def an_error(yes: list[int], counts: list[int], chances: list[float]) -> Error:
    arrays = (np.array(part, dtype=np.float64) for part in (chances, chances, yes, counts))
    return Error("x", *arrays)


def test_one_class_is_a_proportion() -> None:
    error = an_error([330], [1_000], [0.3])
    assert error.off == pytest.approx(0.1)
    assert error.std_error == pytest.approx(np.sqrt(0.7 / 0.3 / 1_000))
    assert error.seen(1e-6) == pytest.approx(deviations(1e-6) * error.std_error)
    assert an_error([300], [1_000], [0.3]).check().p_value == 1.0


@pytest.mark.parametrize(
    ("n", "p", "k"), [(50, 0.01, 9), (50, 0.3, 0), (400, 0.9, 400), (9, 0.5, 8)]
)
def test_the_bound_is_above_the_tail_and_near_it(n: int, p: float, k: int) -> None:
    """Against the exact binomial tail, also where it is skewed: within the factor of Chernoff."""
    tail = stats.binom.sf(k - 1, n, p) if k > n * p else stats.binom.cdf(k, n, p)
    bound = _chernoff(np.ones(1), np.array([p]), np.array([float(n)]), k - n * p)
    assert tail <= bound * (1 + 1e-6) <= 30 * tail


def test_the_level_holds_for_weighted_sums(rng: np.random.Generator) -> None:
    """P-values of two classes are no smaller than uniform ones, and not useless."""
    p, n = np.array([0.02, 0.6]), np.array([200.0, 300.0])
    drawn = rng.binomial(n.astype(int), p, size=(4_000, 2)).astype(np.float64)
    values = [Error("x", p, p, row, n).check().p_value for row in drawn]
    small = int(np.sum(np.array(values) < 0.05))
    assert small <= 4_000 * 0.05
    assert small >= 20
    LEDGER.add(1e-9)


def test_time_is_bounded_by_the_number_of_coins() -> None:
    krr = a_question("krr", categories(200), "krr", ONCE)
    oue = a_question("oue", categories(200), "oue", ONCE)
    assert (coins_of(krr.fields[0].parameters), coins_of(oue.fields[0].parameters)) == (1, 200)
    assert most_devices(krr) == 1_000_000
    assert most_devices(oue) == 52_380


def test_what_needs_too_many_devices_is_said(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "STEPS", 20_000)
    question = a_question("q", Boolean(), "rappor", {"epsilon": 1.0, "epsilon_forever": 4.0})
    LEDGER.add(1e-9)
    audit = audit_sample(survey(question), draws=SystemDraws(rng.bytes), alpha=2e-10)
    (found,) = [finding for finding in audit.findings if finding.check == "every probability"]
    assert "permanent_zero from" in found.words
    assert "1,818 devices per answer" in audit.notes[0]


def test_progress_and_how_many_are_enough(rng: np.random.Generator) -> None:
    question = a_question("q", Boolean(), "krr", {"epsilon": 2.0})
    calls: list[tuple[str, int, int]] = []
    LEDGER.add(1e-9)
    audit_sample(
        survey(question),
        draws=SystemDraws(rng.bytes),
        alpha=2e-10,
        least=500,
        progress=lambda *call: calls.append(call),
    )
    assert calls[0][:2] == ("q", 500)
    p = np.exp(2) / (1 + np.exp(2))
    needed = (deviations(2e-10) / 0.05) ** 2 * (1 - p) / p / 2
    assert calls[-1][1] == calls[-1][2] == pytest.approx(1.02 * needed, rel=0.2)


def test_only_the_first_reports_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "KEPT", 10)
    (field,) = a_question("q", Boolean(), "krr", ONCE).fields
    sampled = Sampled(field, worst_pair(field))
    for _ in range(3):
        sampled.add(0, [(1).to_bytes(4, "little")] * 6)
    assert len(sampled.kept[0]) == 10
    assert sum(map(len, sampled.scored[0])) == 18


def test_p_values_of_one_class_follow_the_binomial(rng: np.random.Generator) -> None:
    """The estimate is unbiased: half of the errors are above 0."""
    drawn = rng.binomial(1_000, 0.3, size=2_000)
    off = np.array([an_error([k], [1_000], [0.3]).off for k in drawn])
    below = float(stats.binom.cdf(299, 1_000, 0.3))
    counts = [int((off < 0).sum()), int((off >= 0).sum())]
    accept(goodness_of_fit(counts, [below, 1 - below]), 1e-9)
