"""The examples in docstrings of the names that people meet first: run, and true."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from importlib import import_module

import pytest

from deniable.client.consent import DO_NOT_TRACK, VARIABLE

NAMES = """
deniable.client.client Client
deniable.protocol.domain Categories
deniable.protocol.krr KRRParameters
deniable.protocol.survey Survey
deniable.mechanisms.base Counts
deniable.mechanisms.hadamard Hadamard
deniable.mechanisms.hcms HCMS
deniable.mechanisms.krr KRR KRR.simulate KRR.accumulate
deniable.mechanisms.olh OLH
deniable.mechanisms.orr ORR
deniable.mechanisms.oue OUE
deniable.mechanisms.pgr PGR
deniable.mechanisms.pure_oracles PureOracle.estimate
deniable.mechanisms.rappor Rappor Rappor.basic
deniable.mechanisms.registry mechanism_for
deniable.mechanisms.subset Subset
deniable.decode.distribution_estimates point_estimates
deniable.decode.decoder decode
deniable.decode.simplex normalise project
deniable.associate.derived conditional hellinger
deniable.associate.independence associate independence
deniable.associate.joint estimate_joint
deniable.marginals.raw raw_table
deniable.marginals.smoothed smoothed_tables
deniable.discover.prefixes.discovery discover
deniable.plan.inverse epsilon_needed people_needed
deniable.plan.plan make_plan
deniable.plan.prediction predict
deniable.plan.collection Setting of_categories
deniable.privacy.enumeration channel enumerate_outputs worst_ratio
deniable.crafted.leverage leverage
deniable.privacy.over_time.repeated epsilon_after
deniable.privacy.shuffling.central shuffled
deniable.results.report_counts reports_text
deniable.testing.contract check_mechanism
"""
WANTED = {module: set(names) for module, *names in map(str.split, NAMES.strip().splitlines())}


def examples(module: str) -> Iterator[doctest.DocTest]:
    """Yield the examples of a module, each under its name within the module."""
    for test in doctest.DocTestFinder(exclude_empty=True).find(import_module(module)):
        test.name = test.name.removeprefix(f"{module}.")
        if test.examples:
            yield test


@pytest.mark.parametrize("module", WANTED)
def test_the_examples_of_a_module_are_true(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (DO_NOT_TRACK, VARIABLE):  # they speak for the person here
        monkeypatch.delenv(name, raising=False)
    told: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for test in examples(module):
        runner.run(test, out=told.append)
    assert not told, "".join(told)


def test_the_names_people_meet_first_have_examples() -> None:
    assert sum(map(len, WANTED.values())) >= 40
    missing = [
        f"{module}.{name}"
        for module, names in WANTED.items()
        for name in names - {test.name for test in examples(module)}
    ]
    assert not missing


def test_a_wrong_example_is_noticed() -> None:
    told: list[str] = []
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    doctest.DocTestRunner(verbose=False).run(wrong, out=told.append)
    assert "Expected:\n    3\nGot:\n    2" in "".join(told)
