"""The epsilon of optimised local hashing, proven from the shipped encoder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import count

import pytest

from deniable.client.encoders import encoder_for
from deniable.mechanisms import OLH
from deniable.privacy.proof import permanent_channel, prove_epsilon, report_channel
from deniable.protocol import Answer, OLHParameters
from deniable.protocol.domain import ABSENT_KEY, code_key, string_key
from deniable.protocol.olh import symbol_of
from deniable.protocol.thresholds import ONE
from deniable.testing.contract_exact import channel_promises


def two_that_differ(parameters: OLHParameters) -> list[Answer]:
    """Return two strings with different symbols under some seed: the worst that can be."""
    first = Answer(string_key("first"))
    for i in count():
        other = Answer(string_key(f"other {i}"))
        shape = (0, parameters.symbols)
        if symbol_of(first.words, *shape) != symbol_of(other.words, *shape):
            return [first, other]
    raise AssertionError("unreachable: count() does not end")


@pytest.mark.parametrize(("symbols", "seeds"), [(2, 2), (3, 5), (4, 8), (40, 3)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_one_report(symbols: int, seeds: int, epsilon: float) -> None:
    parameters = OLH(epsilon=epsilon, symbols=symbols, seeds=seeds).parameters
    encoder, pair = encoder_for(parameters), two_that_differ(parameters)
    channel = report_channel(encoder, pair)
    proof = prove_epsilon(channel, parameters.epsilon_once)
    assert proof.holds, str(proof)
    assert proof.tight
    assert epsilon * 1e6 - 2 <= parameters.epsilon_once <= epsilon * 1e6
    assert all(sum(distribution.values()) == 1 for distribution in channel.values())
    assert not prove_epsilon(permanent_channel(encoder, pair), 10**9).holds


def test_any_answers_of_any_domain_stay_within_the_promise() -> None:
    parameters = OLH(epsilon=1.0, seeds=7).parameters
    every = [Answer(string_key(text)) for text in ("", "a", "firefox")]
    every += [Answer(ABSENT_KEY), Answer(code_key(0), 0), Answer(code_key(5), 5)]
    channel = report_channel(encoder_for(parameters), every)
    assert prove_epsilon(channel, parameters.epsilon_once).holds


def test_the_likelihood_of_a_small_pool_is_the_exact_channel() -> None:
    mechanism = OLH(epsilon=1.0, symbols=3, seeds=6)
    assert list(channel_promises(mechanism, ["firefox", "chrome", ""])) == []


def test_the_seed_says_nothing() -> None:
    parameters = OLH(epsilon=2.0, seeds=3).parameters
    (distribution,) = report_channel(encoder_for(parameters), [Answer(string_key("x"))]).values()
    for seed in range(3):
        shown = [p for record, p in distribution.items() if record[0] == seed]
        assert sum(shown) == Fraction(1, 3)


def test_a_wrong_threshold_fails() -> None:
    right = OLH(epsilon=1.0, seeds=4).parameters
    wrong = replace(right, keep=right.keep + ONE // 1_000)
    channel = report_channel(encoder_for(wrong), two_that_differ(wrong))
    assert not prove_epsilon(channel, right.epsilon_once).holds
