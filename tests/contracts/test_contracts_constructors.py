"""Every mechanism is made as people think of it, compared by value, shown in a line, and seeded."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import mechanisms as m
from deniable.errors import InvalidParameter
from deniable.mechanisms import Mechanism, Members, mechanism_for
from deniable.protocol import Sets, registry
from deniable.protocol.built_in import FOUND, PROFILES, SINGLE
from deniable.protocol.registry import load_plugin

PLUGIN = Path(__file__).parents[2] / "examples/mechanism_of_your_own.py"
MAKE: dict[str, Callable[[float], Mechanism]] = {
    "rappor": lambda e: m.Rappor(bits=32, hashes=2, cohorts=4, f=0.5, p=0.5, q=0.5 + e / 10),
    "krr": lambda e: m.KRR(3, epsilon=e),
    "oue": lambda e: m.OUE(3, epsilon=e),
    "hadamard": lambda e: m.Hadamard(3, epsilon=e),
    "subset": lambda e: m.Subset(3, epsilon=e),
    "orr": lambda e: m.ORR(epsilon=e),
    "pgr": lambda e: m.PGR(epsilon=e),
    "hcms": lambda e: m.HCMS(epsilon=e),
    "olh": lambda e: m.OLH(epsilon=e),
    "prefixes": lambda e: m.Prefixes(epsilon=e, alphabet="abcd", length=4),
    "ngrams": lambda e: m.NGrams(epsilon=e, alphabet="abcd", length=4),
    **{
        name: lambda e, kind=kind: getattr(m, kind)(attributes=4, order=2, epsilon=e)
        for name, kind in PROFILES.items()
    },
}
STRANGER = "paley"


@pytest.fixture(scope="module", autouse=True)
def _stranger() -> Iterator[None]:
    """A mechanism that this package does not know, from its one file."""
    load_plugin(PLUGIN)
    kind: Any = m.MECHANISMS[STRANGER]
    MAKE[STRANGER] = lambda e: kind(3, epsilon=e)
    yield
    del MAKE[STRANGER], registry._parts[STRANGER], registry.PLUGINS[PLUGIN]


NAMES = [*SINGLE, *PROFILES, *FOUND, STRANGER]


def values_of(made: Mechanism) -> Any:
    if isinstance(made, m.ProfileMechanism):
        return np.zeros((6, 4), dtype=np.int64)
    return ["ab", "cd"] * 3 if made.hashed else [0, 1, 2] * 2


def test_the_walk_is_over_every_mechanism_that_is_registered() -> None:
    assert set(NAMES) == set(m.MECHANISMS)
    assert set(MAKE) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_mechanisms_are_equal_by_value(name: str) -> None:
    one, same, other = MAKE[name](1.1), MAKE[name](1.1), MAKE[name](2.0)
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, same, other}) == 2
    assert one != other
    assert one != "krr"
    assert copy.copy(one) == one
    assert copy.deepcopy(one) == one


@pytest.mark.parametrize("name", NAMES)
def test_a_repr_is_short_and_says_the_epsilon(name: str) -> None:
    told = repr(MAKE[name](1.1))
    assert len(told) < 160
    assert "\n" not in told
    assert told.startswith(m.MECHANISMS[name].__name__)
    if name != "rappor":
        assert "epsilon=1.1" in told
    if name in PROFILES:
        assert "(attributes=4, order=2, " in told
    assert name == "rappor" or not re.search(r"='0?'|=0\b|form=", told)


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_is_a_generator(name: str) -> None:
    made = MAKE[name](1.1)
    values = values_of(made)
    by_seed = made.simulate(values, 7)
    again = made.simulate(values, np.random.default_rng(7))
    assert by_seed.tobytes() == again.tobytes()
    assert made.simulate(values, np.int64(7)).tobytes() == by_seed.tobytes()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [None, "now", -1, True, 1.5, np.random.RandomState(1)])
def test_a_wrong_generator_is_named(name: str, wrong: Any) -> None:
    made = MAKE[name](1.1)
    with pytest.raises(InvalidParameter, match=r"The 'rng' of a simulation must be .*default_rng"):
        made.simulate(values_of(made), wrong)


@pytest.mark.parametrize("name", NAMES)
def test_no_mechanism_is_half_built(name: str) -> None:
    kind = m.MECHANISMS[name]
    with pytest.raises((TypeError, InvalidParameter)):
        kind()  # type: ignore[call-arg]
    half = kind.__new__(kind)
    assert repr(half) == f"{kind.__name__}(<without parameters>)"


@pytest.mark.parametrize("name", NAMES)
def test_a_constructor_gives_the_integers_of_its_survey(name: str) -> None:
    made = MAKE[name](1.1)
    assert mechanism_for(made.parameters) == made or isinstance(made, m.ProfileMechanism)
    assert type(made).from_parameters(made.parameters).digest == made.digest
    signature = inspect.signature(type(made).__init__)
    assert {"epsilon", "wanted"} & signature.parameters.keys() or name == "rappor"


@pytest.mark.parametrize(
    "kind",
    [m.KRR, m.OUE, m.OLH, m.PGR, m.Subset, m.Hadamard, m.ORR, m.HCMS],
    ids=lambda k: k.__name__,
)
def test_a_closed_domain_is_named_by_its_number_of_answers(kind: Any) -> None:
    made = kind(answers=5, epsilon=4.0)
    assert made == kind(5, epsilon=4.0) != kind(6, epsilon=4.0)
    assert "answers=5" in repr(made)
    assert not made.hashed
    codes = np.repeat(np.arange(5), [5_000, 3_000, 1_500, 500, 0])
    counts = made.accumulate(made.simulate(codes, 3))
    found = made.estimate(counts)
    assert found.candidates == ("0", "1", "2", "3", "4")
    truth = np.array([0.5, 0.3, 0.15, 0.05, 0.0])
    assert np.abs(found.frequency - truth).max() < 0.05
    labels = ["a", "b", "c", "d", "e"]
    named = made.estimate(counts, labels)
    assert named.candidates == tuple(labels)
    assert np.array_equal(named.frequency, found.frequency)
    by_name = made.simulate([labels[code] for code in codes], 3, labels)
    assert by_name.tobytes() == made.simulate(codes, 3).tobytes()
    assert made.likelihood(by_name[:3]).shape == (3, 5)


@pytest.mark.parametrize("name", [*PROFILES, STRANGER])
def test_an_unknown_parameter_is_guessed(name: str) -> None:
    kind: Any = m.MECHANISMS[name]
    with pytest.raises(InvalidParameter, match=r"no parameter 'epsilom'. Did you mean 'epsilon'"):
        kind(4, epsilom=1.0)
    with pytest.raises(InvalidParameter, match="epsilon"):
        kind(4, epsilon=-1)


def test_attributes_are_named_in_four_ways() -> None:
    two = m.InpHT([2, 3], order=2, epsilon=1.0)
    named = m.InpHT({"dark": ["no", "yes"], "size": 3}, order=2, epsilon=1.0)
    assert two.answers == named.answers == (2, 3)
    assert named.profile.names == ("dark", "size")
    assert two != named
    assert m.InpHT(named.profile, order=2, epsilon=1.0) == named
    with pytest.raises(InvalidParameter, match="must be an integer from 2 to 32"):
        m.InpHT(attributes=1, epsilon=1.0)


def test_sets_with_other_names_are_other_mechanisms() -> None:
    made = m.KRR(4, epsilon=1.0)
    sets = [Members(made, Sets(values, 2), absent=False) for values in (("a", "b", "c"),) * 2]
    assert sets[0] == sets[1]
    assert sets[0] != Members(made, Sets(("a", "b", "d"), 2), absent=False)
    assert sets[0] != made
