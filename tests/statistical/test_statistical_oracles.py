"""What is random about oue, hadamard, subset, olh and sets: reports, bias, variance, pools.

ALPHA is the false-failure probability of each check; every check has a negative control.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.client.encode import encode_drawn
from deniable.client.encoders import Draws, Encoder
from deniable.client.randomness import StreamDraws, SystemDraws
from deniable.mechanisms import OLH, mechanism_of, members_matrix
from deniable.mechanisms.candidates import every_code
from deniable.privacy import report_channel
from deniable.protocol import ABSENT, Answer, Categories, Domain, Field, Sets, Strings
from deniable.protocol.prf import Stream
from deniable.testing.power import miss_mean, miss_spread
from deniable.testing.statistics import accept, goodness_of_fit, homogeneity, mean, reject, spread

ALPHA = 1e-10
CLIENTS = 10_000
SIMULATED = 60_000

FOUR, TOOLS = Categories(tuple("abcd")), Sets(tuple("abc"), 2)
TWO_STAGES = {"epsilon": 1.0, "epsilon_forever": 2.0}
CASES: dict[str, tuple[Domain, str, dict[str, object], object]] = {
    "oue": (FOUR, "oue", {"epsilon": 1.0}, "b"),
    "oue with a permanent stage": (FOUR, "oue", TWO_STAGES, "b"),
    "oue, absent": (FOUR, "oue", {"epsilon": 1.0}, ABSENT),
    "hadamard": (FOUR, "hadamard", {"epsilon": 1.0}, "d"),
    "subset": (FOUR, "subset", {"epsilon": 1.0, "d": 2}, "c"),
    "olh": (Strings(), "olh", {"epsilon": 1.0, "seeds": 5}, "x"),
    "olh of a closed domain": (FOUR, "olh", {"epsilon": 1.0, "seeds": 5}, "c"),
    "olh, absent": (FOUR, "olh", {"epsilon": 1.0, "seeds": 5}, ABSENT),
    "a set, sampled": (TOOLS, "krr", {"epsilon": 1.0}, ["a", "c"]),
    "a set, sampled for ever": (TOOLS, "krr", TWO_STAGES, ["b"]),
    "a set, a bit per name": (TOOLS, "oue", {**TWO_STAGES, "per": "bit"}, ["a", "c"]),
    "a set, a bit per name, rappor": (TOOLS, "rappor", {**TWO_STAGES, "per": "bit"}, ["c"]),
    "a set, absent": (TOOLS, "oue", {"epsilon": 1.0, "per": "bit"}, ABSENT),
}


class Whole(Encoder):
    """What the client does with a field's answer, sampling included."""

    def __init__(self, field: Field) -> None:
        self._field = field

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        return encode_drawn(self._field, answer, cohort, permanent, fresh)


def field_of(domain: Domain, mechanism: str, wanted: dict[str, object]) -> Field:
    return Field("value", domain, resolve(mechanism, wanted, domain, absent=True))


def of_clients(field: Field, value: object, rng: np.random.Generator) -> Counter[bytes]:
    answer, fresh = field.answer(value, absent=True), SystemDraws(rng.bytes)
    counts: Counter[bytes] = Counter()
    for _ in range(CLIENTS):
        cohort, permanent = (StreamDraws(Stream(rng.bytes(32))) for _ in range(2))
        counts[encode_drawn(field, answer, cohort, permanent, fresh)] += 1
    return counts


def of_simulation(field: Field, value: object, rng: np.random.Generator) -> Counter[bytes]:
    mechanism, domain = mechanism_of(field, absent=True), field.domain
    if isinstance(domain, Sets):
        reports = mechanism.simulate(members_matrix(domain, [value] * SIMULATED), rng)
    elif domain.size is None:
        reports = mechanism.simulate([str(value)] * SIMULATED, rng)
    else:
        code = field.answer(value, absent=True).code
        listed = every_code(domain.size, absent=True) if mechanism.hashed else None
        reports = mechanism.simulate(np.full(SIMULATED, code), rng, listed)
    return Counter(report.tobytes() for report in reports)


@pytest.mark.parametrize("name", CASES)
def test_clients_and_simulation_are_equal_in_distribution(
    name: str, rng: np.random.Generator
) -> None:
    domain, mechanism, wanted, value = CASES[name]
    field = field_of(domain, mechanism, wanted)
    answer = field.answer(value, absent=True)
    exact = report_channel(Whole(field), [answer])[answer]
    clients, simulated = of_clients(field, value, rng), of_simulation(field, value, rng)
    assert clients.keys() | simulated.keys() <= exact.keys()
    records = sorted(exact)
    first, second = ([counts[record] for record in records] for counts in (clients, simulated))
    probabilities = [float(exact[record]) for record in records]
    accept(homogeneity(first, second), ALPHA)
    accept(goodness_of_fit(first, probabilities), ALPHA)
    accept(goodness_of_fit(second, probabilities), ALPHA)


@pytest.mark.parametrize(
    ("mechanism", "wanted"),
    [
        ("krr", {"epsilon": 2.0}),
        ("hadamard", {"epsilon": 2.0}),
        ("subset", {"epsilon": 1.0}),
        ("olh", {"epsilon": 2.0}),
        ("rappor", {"epsilon": 2.0}),
        ("oue", {"epsilon": 6.0, "per": "bit"}),
        ("rappor", {"epsilon": 6.0, "epsilon_forever": 12.0, "per": "bit"}),
    ],
)
def test_sets_are_estimated_without_bias_and_with_the_stated_variance(
    mechanism: str, wanted: dict[str, object], rng: np.random.Generator
) -> None:
    """A frequent name, a rare one and absence, over the people's draws and noise.

    Controls: a bias of half a standard error, and a variance twice as large, are rejected.
    """
    domain = Sets(tuple("abcde"), 3)
    field = field_of(domain, mechanism, wanted)
    population = mechanism_of(field, absent=True)
    people = [["a", "b", "c"], ["a", "b"], ["a"], ["a", "e"], [], ABSENT, ["d", "a"], ["b"]] * 50
    rows = members_matrix(domain, people)
    held = {"a": 5 / 8, "e": 1 / 8, "(absent)": 1 / 8}
    found, stated = [], []
    for _ in range(1500):
        estimate = population.estimate(population.accumulate(population.simulate(rows, rng)))
        places = [estimate.candidates.index(label) for label in held]
        found.append(estimate.frequency[places])
        stated.append(estimate.variance[places])
    deviations = np.array(found) - np.array(list(held.values()))
    variances = np.mean(stated, axis=0)
    closed = population.variance(len(people), np.array(list(held.values())))
    assert variances[:2] == pytest.approx(closed[:2], rel=0.02)
    for place in range(len(held)):
        error = float(np.sqrt(variances[place] / len(found)))
        middle = float(deviations[:, place].mean())
        accept(mean(middle, 0.0, error), ALPHA)
        accept(spread(deviations[:, place], variances[place], 0.02), ALPHA)
        shift = 0.5 * len(found) ** 0.5
        reject(mean(middle, shift * error, error), ALPHA, miss=miss_mean(shift, ALPHA))
        wrong = spread(deviations[:, place], 2 * variances[place], 0.02)
        reject(wrong, ALPHA, miss=miss_spread(1.02 / (2 * 0.98), len(found), ALPHA))


def test_a_pool_of_seeds_adds_its_variance(rng: np.random.Generator) -> None:
    """Over hash functions (new strings in every run) the error is the stated one.

    Control: without the pool's term the stated variance is far too small.
    """
    mechanism = OLH(epsilon=4.0, symbols=8, seeds=64)
    shares = np.array([0.5, 0.3, 0.2, 0.0])
    people = np.repeat(np.arange(4), (shares * 5000).astype(int))
    deviations, stated = np.empty(600), np.empty(600)
    for run in range(600):
        name = rng.bytes(8).hex()
        texts = [f"{name} {i}" for i in range(4)]
        counts = mechanism.accumulate(mechanism.simulate(people, rng, texts))
        estimate = mechanism.estimate(counts, texts)
        deviations[run], stated[run] = estimate.frequency[3], estimate.variance[3]
    noise = float(mechanism.variance(people.size, 0.0))
    shared = float((shares**2).sum()) / (7 * 64)
    assert stated.mean() == pytest.approx(noise + shared, rel=0.03)
    accept(mean(float(deviations.mean()), 0.0, float(np.sqrt((noise + shared) / 600))), ALPHA)
    accept(spread(deviations, noise + shared, 0.05), ALPHA)
    ratio = (noise + shared) / noise
    assert ratio > 2
    reject(spread(deviations, noise, 0.05), ALPHA, miss=miss_spread(ratio / 1.05, 600, ALPHA))
