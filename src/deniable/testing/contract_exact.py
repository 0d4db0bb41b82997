"""The promises of the mechanism contract that can be proven by enumeration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from deniable.client.encoders import encoder_for
from deniable.mechanisms import Mechanism, ProfileMechanism
from deniable.privacy import paths_at_most, permanent_channel, report_channel
from deniable.privacy.proof import Proof, prove_epsilon
from deniable.protocol import MECHANISMS, Answer
from deniable.protocol.domain import code_key, string_key
from deniable.protocol.profile_domain import profile_answer

_MOST_PATHS = 1_024
"""An encoder with more paths per answer is not enumerated."""


def parameters_travel(mechanism: Mechanism) -> Iterator[str]:
    """The integers survive being published, and the epsilons shown are theirs."""
    parameters = mechanism.parameters
    read = MECHANISMS[parameters.mechanism].from_published(parameters.published())
    if read != parameters or read.published() != parameters.published():
        yield "parameters: differ after they were published and read."
    shown = (mechanism.epsilon, mechanism.epsilon_forever)
    micros = (parameters.epsilon_once, parameters.epsilon_forever)
    for epsilon, integer in zip(shown, micros, strict=True):
        if (epsilon is None) != (integer is None) or round((epsilon or 0) * 1e6) != (integer or 0):
            yield "epsilon: not what the integers give."


def _answers_for(mechanism: Mechanism, candidates: Sequence[str] | None) -> list[Answer]:
    """Return the answers in the order of the columns of the likelihood."""
    if candidates is not None:
        return [Answer(string_key(candidate)) for candidate in candidates]
    # Profiles are made from levels, not listed.
    if isinstance(mechanism, ProfileMechanism):
        return [profile_answer(tuple(codes)) for codes in mechanism.every_profile().tolist()]
    count = len(mechanism.estimate(mechanism.zero()).candidates)
    return [Answer(code_key(code), code) for code in range(count)]


def channel_promises(mechanism: Mechanism, candidates: Sequence[str] | None) -> Iterator[str]:
    """The likelihood is the client's exact channel, and its worst ratio the stated epsilon.

    Nothing is said about mechanisms that are too large to enumerate.
    """
    parameters, answers = mechanism.parameters, _answers_for(mechanism, candidates)
    encoder = encoder_for(parameters)
    if not paths_at_most(
        lambda draws: encoder.encode(answers[0], draws, draws, draws), _MOST_PATHS
    ):
        return
    # Hashed strings may share bits by chance: then the claim is above what these strings need.
    hashed = candidates is not None
    channel = report_channel(encoder, answers)
    yield from _likelihood(mechanism, candidates, [channel[answer] for answer in answers])
    yield from _epsilon("epsilon", prove_epsilon(channel, parameters.epsilon_once), hashed)
    forever = prove_epsilon(permanent_channel(encoder, answers), parameters.epsilon_forever)
    yield from _epsilon("epsilon_forever", forever, hashed)


def _likelihood(
    mechanism: Mechanism,
    candidates: Sequence[str] | None,
    exact: Sequence[Mapping[bytes, Fraction]],
) -> Iterator[str]:
    outputs = sorted({output for law in exact for output in law})
    expected = np.array([[float(law.get(output, 0)) for law in exact] for output in outputs])
    records = b"".join(outputs)
    found = mechanism.likelihood(records, candidates)
    if not np.allclose(found, expected, rtol=1e-9, atol=0):
        yield "likelihood: is not the exact channel of the client's encoder."
    if not np.allclose(found.sum(axis=0), 1, rtol=1e-9):
        yield "likelihood: does not sum to 1 over all records."
    if not np.allclose(np.exp(mechanism.likelihood(records, candidates, log=True)), found):
        yield "likelihood: its logarithm disagrees with it."


def _epsilon(name: str, proof: Proof, hashed: bool) -> Iterator[str]:
    if not proof.holds:
        yield f"{name}: {proof}"
    elif not (proof.tight or hashed):
        yield f"{name}: not the smallest that is true: {proof}"
