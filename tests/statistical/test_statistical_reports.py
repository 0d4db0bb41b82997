"""Simulated reports and reports of the shipped client encoders are equal in distribution.

Each test's false-failure probability is ALPHA per check; the controls compare with a client whose
epsilon is 30% larger, which the same check must notice.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deniable.client.encoders import encoder_for
from deniable.client.randomness import StreamDraws, SystemDraws
from deniable.mechanisms import HCMS, KRR, ORR, PGR, Mechanism, NGrams, Prefixes, Rappor
from deniable.privacy import report_channel
from deniable.protocol import ABSENT, Answer
from deniable.protocol.domain import ABSENT_KEY, code_key, string_key
from deniable.protocol.prf import Stream
from deniable.testing.power import miss_chi_square
from deniable.testing.statistics import accept, goodness_of_fit, homogeneity, reject

ALPHA = 1e-9
CLIENTS = 15_000
SIMULATED = 100_000

CASES: dict[str, tuple[Mechanism, Answer, object]] = {
    "krr": (KRR(4, epsilon=1.0), Answer(code_key(2), 2), 2),
    "krr permanent": (KRR(4, epsilon=1.0, epsilon_forever=2.0), Answer(code_key(0), 0), 0),
    "basic": (Rappor.basic(3, f=0.5, p=0.5, q=0.75), Answer(code_key(1), 1), 1),
    "yes": (Rappor.basic(f=0.5, p=0.2, q=0.8), Answer(code_key(1), 1), 1),
    "no": (Rappor.basic(f=0.5, p=0.2, q=0.8), Answer(code_key(0), 0), 0),
    "bloom": (
        Rappor(bits=4, hashes=2, cohorts=2, f=0.25, p=0.3, q=0.8),
        Answer(string_key("x")),
        "x",
    ),
    "absent": (
        Rappor(bits=3, hashes=1, cohorts=3, epsilon=2.0, epsilon_forever=4.0),
        Answer(ABSENT_KEY),
        ABSENT,
    ),
    "orr": (ORR(epsilon=1.0, symbols=4, cohorts=3), Answer(string_key("x")), "x"),
    "pgr": (PGR(12, epsilon=1.0), Answer(code_key(7), 7), 7),
    "pgr, hashed": (PGR(epsilon=1.0, cohorts=3, points=13), Answer(string_key("x")), "x"),
    "prefixes": (
        Prefixes(epsilon=1.0, alphabet="xyz", length=3, lengths=[1, 3], cohorts=2, points=13),
        Answer(string_key("xy")),
        "xy",
    ),
    "ngrams": (
        NGrams(epsilon=3.0, alphabet="xyz", length=3, n=1, bits=2, cohorts=2),
        Answer(string_key("xy")),
        "xy",
    ),
    "hcms": (HCMS(epsilon=1.0, rows=2, width=8), Answer(string_key("x")), "x"),
    "hcms, closed": (HCMS(5, epsilon=1.0, rows=2, width=8), Answer(code_key(3), 3), 3),
    "permuted": (
        Rappor.permuted(6, bits=3, hashes=2, cohorts=2, f=0.25, p=0.3, q=0.8),
        Answer(code_key(4), 4),
        4,
    ),
    "orr, permuted": (
        ORR(7, epsilon=1.0, symbols=3, cohorts=5),
        Answer(code_key(2), 2),
        2,
    ),
}


def of_clients(mechanism: Mechanism, answer: Answer, rng: np.random.Generator) -> Counter[bytes]:
    """Return the records of so many devices, each with secrets of its own."""
    encoder, fresh = encoder_for(mechanism.parameters), SystemDraws(rng.bytes)
    counts: Counter[bytes] = Counter()
    for _ in range(CLIENTS):
        cohort, permanent = (StreamDraws(Stream(rng.bytes(32))) for _ in range(2))
        counts[encoder.encode(answer, cohort, permanent, fresh)] += 1
    return counts


def of_simulation(mechanism: Mechanism, value: object, rng: np.random.Generator) -> Counter[bytes]:
    reports = mechanism.simulate([value] * SIMULATED, rng)
    return Counter(report.tobytes() for report in reports)


@pytest.mark.parametrize("name", CASES)
def test_clients_and_simulation_are_equal_in_distribution(
    name: str, rng: np.random.Generator
) -> None:
    mechanism, answer, value = CASES[name]
    exact = report_channel(encoder_for(mechanism.parameters), [answer])[answer]
    clients = of_clients(mechanism, answer, rng)
    simulated = of_simulation(mechanism, value, rng)
    assert clients.keys() | simulated.keys() <= exact.keys()
    records = sorted(exact)
    first, second = ([counts[record] for record in records] for counts in (clients, simulated))
    accept(homogeneity(first, second), ALPHA)
    # Both against the exact channel, too: two wrongs could agree.
    probabilities = [float(exact[record]) for record in records]
    accept(goodness_of_fit(first, probabilities), ALPHA)
    accept(goodness_of_fit(second, probabilities), ALPHA)


@pytest.mark.parametrize(
    ("mechanism", "other"),
    [
        (KRR(4, epsilon=1.0), KRR(4, epsilon=1.3)),
        (Rappor.basic(3, epsilon=1.0), Rappor.basic(3, epsilon=1.3)),
    ],
)
def test_a_client_with_another_epsilon_is_noticed(
    mechanism: Mechanism, other: Mechanism, rng: np.random.Generator
) -> None:
    answer = Answer(code_key(1), 1)
    right, wrong = (
        report_channel(encoder_for(m.parameters), [answer])[answer] for m in (mechanism, other)
    )
    records = sorted(right)
    one, two = (np.array([float(law[r]) for r in records]) for law in (right, wrong))
    pooled = (CLIENTS * two + SIMULATED * one) / (CLIENTS + SIMULATED)
    scale = CLIENTS * SIMULATED / (CLIENTS + SIMULATED)
    shift = scale * float(((one - two) ** 2 / pooled).sum())
    miss = miss_chi_square(shift, len(records) - 1, ALPHA)
    assert miss < 1e-9
    clients, simulated = of_clients(other, answer, rng), of_simulation(mechanism, 1, rng)
    check = homogeneity([clients[r] for r in records], [simulated[r] for r in records])
    reject(check, ALPHA, miss=miss)
