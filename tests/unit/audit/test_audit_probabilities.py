"""Every probability of every mechanism: right ones pass, and one that is 5% off is caught."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from deniable.audit.reading import bit_table, reports_of
from deniable.audit.sample import batches, black_box
from deniable.audit.sample.answer_pairs import worst_pair
from deniable.audit.sample.batches import Sampled, Task, perform
from deniable.audit.sample.black_box import Part, audit_sample
from deniable.audit.sample.permanent import LettingThrough
from deniable.audit.sample.probability_scores import Error, Tally, _chernoff, deviations, directions
from deniable.audit.sample.size import REPORTS, Plan
from deniable.audit.sample.workers import Workers, workers
from deniable.authoring import read_authored
from deniable.cli.demo_survey import publish_demo
from deniable.client.encode import encode_field, permanent_draws
from deniable.client.randomness import SystemDraws
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.protocol import (
    MECHANISMS,
    PROFILE_MECHANISMS,
    Boolean,
    KRRParameters,
    Question,
    Sets,
    Strings,
)
from deniable.protocol.unary import UnaryParameters
from deniable.testing.ledger import LEDGER
from deniable.testing.statistics import accept, goodness_of_fit
from material.audits import (
    ONCE,
    PAPER,
    RESPONSE,
    TWO_STAGES,
    a_question,
    categories,
    profile_of,
    survey,
)
from material.surveys import STARTER

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
        a_question(name, profile_of(2, 2), name, {"epsilon": 1.2} if name in BITS else STRONG)
        for name in PROFILE_MECHANISMS
        if name != "inp_olh"
    ),
    a_question("inp_olh", profile_of(2, 2), "inp_olh", {**STRONG, "g": 2}),
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
    assert "would be found" in found.words


def test_the_tally_of_batches_is_that_of_all(rng: np.random.Generator) -> None:
    """And simulated reports, which are no encoder's, have the same chances."""
    question = a_question("rappor", Strings(), "rappor", {**PAPER, "k": 16, "m": 4})
    (field,) = question.fields
    mechanism = mechanism_of(field, False)
    reports = mechanism.simulate(np.zeros(4_000, dtype=np.int64), rng, ["deniable"])
    data, size = reports.tobytes(), field.parameters.layout.size
    records = reports_of(field.parameters, [data[i : i + size] for i in range(0, len(data), size)])
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


def own_count(tally: Tally) -> int:
    """Return the number of reports of a symbol that were compared with the answer's own."""
    (own,) = [
        seen for name, seen in tally.classes.items() if isinstance(name, tuple) and "own" in name
    ]
    return own.count


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


def planned(question: Question, rng: np.random.Generator, limit: float = 1e9) -> Plan:
    """Return what would be done at the defaults, without doing it."""
    part = Part.of(question, 1e-6, 25_000)
    part.prepare(Workers(None, 1, SystemDraws(rng.bytes)), None, limit)
    return part.plan(1)


def test_as_many_devices_are_planned_as_each_probability_needs(rng: np.random.Generator) -> None:
    """Of 1/(1 + e^4), 1 in 56: of a yes or no only who answers no shows it, by one bit."""
    yes_no = a_question("q", Boolean(), "rappor", TWO_STAGES)
    plan = planned(yes_no, rng)
    needed = 1.02 * (deviations(1e-6 / 4) / 0.05) ** 2 * np.exp(4)
    assert not plan.limited
    assert plan.devices[0, 1] == pytest.approx(needed, rel=0.01)
    assert plan.devices[0, 0] < 0.05 * needed
    assert plan.devices[REPORTS, 0] == plan.devices[REPORTS, 1] < 0.1 * needed
    krr = planned(a_question("q", categories(200), "krr", ONCE), rng)
    needed = 1.02 * (deviations(1e-6) / 0.05) ** 2 * 199 / np.e
    assert krr.devices[REPORTS, 0] == pytest.approx(needed / 2, rel=0.01)


def test_surveys_that_people_start_from_need_no_more_than_some_million_reports(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of 5% is within reach of every question, in a minute or two at the most."""
    monkeypatch.setattr(black_box, "PILOT", 100)
    starter = tmp_path / "survey.toml"
    starter.write_bytes(STARTER.read_bytes())
    for one in (read_authored(starter).require(), publish_demo(tmp_path)):
        for question in one.questions:
            assert sum(planned(question, rng).devices.values()) < 200_000, question.id


def test_both_answers_show_what_both_tell(rng: np.random.Generator) -> None:
    plan = planned(a_question("q", categories(30), "oue", TWO_STAGES), rng)
    assert plan.devices[0, 0] == plan.devices[0, 1] > 0


def test_time_is_limited(rng: np.random.Generator) -> None:
    krr = a_question("q", categories(10_000), "krr", {"epsilon": 0.1})
    plan = planned(krr, rng, limit=20.0)
    assert plan.limited
    assert plan.seconds == pytest.approx(20.0, rel=0.01)
    assert "as many as there is time for" in plan.words
    free = planned(krr, rng)
    assert free.devices[REPORTS, 0] > 10**8
    assert not free.limited


def test_what_needs_too_many_devices_is_said(rng: np.random.Generator) -> None:
    question = a_question("q", Boolean(), "rappor", TWO_STAGES)
    LEDGER.add(1e-9)
    plans: list[Plan] = []
    audit = audit_sample(
        survey(question),
        draws=SystemDraws(rng.bytes),
        alpha=2e-10,
        limit=0.2,
        announce=plans.extend,
    )
    (found,) = [finding for finding in audit.findings if finding.check == "every probability"]
    assert "permanent_zero from" in found.words
    assert [(plan.question, plan.limited) for plan in plans] == [("q", True)]
    assert audit.holds, audit.failures


def test_processes_count_what_one_counts() -> None:
    """Batches of other processes are added up, none is lost and each draws by itself."""
    question = a_question("q", categories(3), "krr", {"epsilon": 2.0, "epsilon_forever": 3.0})
    part = Part.of(question, 1e-9, 300)
    assert question.fields[
        0
    ].parameters.layout.size  # what is known already does not stand in the way
    LEDGER.add(1e-9)
    with workers(2, SystemDraws()) as those:
        part.most = dict.fromkeys(part.done, 300)
        part.wanted = part.most
        part.work(those, None)
    assert part.done == dict.fromkeys(part.done, 300)
    (one,) = part.sampled
    assert [len(kept) for kept in one.kept] == [300, 300]
    assert own_count(one.tally) == 600
    assert one.tally.classes["permanent", 1, "keep"].count == 300
    assert all(error.check().p_value > 2e-10 for error in one.tally.errors().values())


@pytest.mark.parametrize("mechanism", ["krr", "oue", "rappor"])
def test_what_is_shown_is_the_permanent_response(mechanism: str, rng: np.random.Generator) -> None:
    """The report of a device is the one that the client derives from its secret, by hand."""
    question = a_question("q", categories(4), mechanism, TWO_STAGES)
    (field,) = question.fields
    shape = field.parameters
    answer = worst_pair(field)[0].answer
    for _ in range(50):
        secret = rng.bytes(32)
        sent = encode_field(question, field, answer, secret, LettingThrough(shape))
        draws = permanent_draws(secret, question, field, answer)
        if isinstance(shape, KRRParameters):
            kept = draws.coin(shape.permanent_keep)
            other = 0 if kept else draws.below(3)
            expected = answer.code if kept else other + (other >= answer.code)
            assert shape.layout.unpack(sent)["symbol"] == expected
            continue
        assert isinstance(shape, UnaryParameters)
        coins = [
            draws.coin(shape.permanent_one if i == answer.code else shape.permanent_zero)
            for i in range(shape.bits)
        ]
        ((_, value),) = reports_of(shape, [sent])
        (shown,) = bit_table(shape.bits, [value])
        assert shown.tolist() == coins


@pytest.mark.parametrize("question", ASKED, ids=lambda question: question.id)
def test_tasks_and_what_they_see_can_be_sent(question: Question, rng: np.random.Generator) -> None:
    """Also after everything was used that parameters keep once it is computed."""
    task = Task(question, 1, 5, keep=5, score=True)
    seen = perform(task, SystemDraws(rng.bytes))
    again, copies = ForkingPickler.loads(ForkingPickler.dumps((task, seen)))
    assert again == task
    for (_, one), (_, copy) in zip(seen, copies, strict=True):
        assert copy.kept == one.kept
        assert copy.tally.classes == one.tally.classes
        assert {n: e.off for n, e in copy.tally.errors().items()} == {
            n: e.off for n, e in one.tally.errors().items()
        }


def test_no_other_mechanism_shows_one() -> None:
    (field,) = a_question("q", categories(4), "krr", ONCE).fields
    with pytest.raises(InvalidParameter, match="no permanent response"):
        LettingThrough(field.parameters)


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
    assert calls[0][0] == "q"
    p = np.exp(2) / (1 + np.exp(2))
    needed = (deviations(2e-10) / 0.05) ** 2 * (1 - p) / p / 2
    assert calls[-1][1] == calls[-1][2] == pytest.approx(2 * 1.02 * needed, rel=0.01)


def test_only_the_first_reports_are_kept(rng: np.random.Generator) -> None:
    question = a_question("q", Boolean(), "krr", ONCE)
    part = Part.of(question, 1e-6, 100)
    part.done[REPORTS, 0] = batches.KEPT - 3
    first, *others = part._tasks((REPORTS, 0), 12_000)
    assert (first.keep, first.devices, [task.keep for task in others]) == (3, 5_000, [0, 0])
    ((place, seen),) = perform(Task(question, 0, 20, keep=3), SystemDraws(rng.bytes))
    assert (place, len(seen.kept[0]), len(seen.scored[0])) == (0, 3, 0)
    assert own_count(seen.tally) == 20
    whole = Sampled(question.fields[0], worst_pair(question.fields[0]))
    whole.merge(seen)
    whole.merge(seen)
    assert (len(whole.kept[0]), own_count(whole.tally)) == (6, 40)


def test_p_values_of_one_class_follow_the_binomial(rng: np.random.Generator) -> None:
    """The estimate is unbiased: half of the errors are above 0."""
    drawn = rng.binomial(1_000, 0.3, size=2_000)
    off = np.array([an_error([k], [1_000], [0.3]).off for k in drawn])
    below = float(stats.binom.cdf(299, 1_000, 0.3))
    counts = [int((off < 0).sum()), int((off >= 0).sum())]
    accept(goodness_of_fit(counts, [below, 1 - below]), 1e-9)
