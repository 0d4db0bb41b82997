"""100,000 reports of each mechanism, made by the JavaScript encoders, against exact probabilities.

Each check fails correct code with probability ALPHA. Each has a control: the same counts against
the law of another value, whose `miss` follows from the two laws.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from deniable.mechanisms import mechanism_for
from deniable.mechanisms.profile_base import ProfileMechanism
from deniable.protocol import Question, Survey
from deniable.testing.power import miss_chi_square
from deniable.testing.statistics import accept, goodness_of_fit, mean, reject
from material.js_reports import QUESTIONS, authored_survey, law_of, published
from material.node import node

ALPHA = 1e-9
REPORTS = 100_000
EXACT = 1_000_000
ORACLES = ("krr", "oue", "subset", "hadamard", "pgr", "orr", "olh", "hcms", "basic", "bloom")
ORACLES += ("prefixes",)
PROFILES = tuple(name for name in QUESTIONS if name not in (*ORACLES, "ngrams"))
HASHED = ("inp_olh", "inp_ht_cms")


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    return authored_survey(tmp_path_factory.mktemp("survey"))


@pytest.fixture(scope="module")
def made(survey: Survey) -> dict[str, bytes]:
    """Return the records of every question, one after the other."""
    lines = [
        json.dumps({"question": q, "value": QUESTIONS[q["id"]][3], "reports": REPORTS})
        for q in published(survey)
    ]
    done = node("tests/make_reports.js", given="\n".join(lines).encode())
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    records, at = {}, 0
    for question in survey.questions:
        size = sum(field.parameters.layout.size for field in question.fields) * REPORTS
        records[question.id] = done.stdout[at : at + size]
        at += size
    assert at == len(done.stdout)
    return records


def counts_of(question: Question, records: bytes) -> Counter[bytes]:
    size = len(records) // REPORTS
    return Counter(records[at : at + size] for at in range(0, len(records), size))


def claimed(cells: list[bytes], law: Mapping[bytes, Fraction]) -> np.ndarray:
    return np.array([float(law.get(cell, 0)) for cell in cells])


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_records_have_their_exact_probabilities(
    survey: Survey, made: dict[str, bytes], name: str
) -> None:
    question = survey.question(name)
    assert question is not None
    true, other = (law_of(question, value) for value in QUESTIONS[name][3:])
    counts = counts_of(question, made[name])
    assert counts.keys() <= true.keys()
    cells = list(true)
    observed = [counts[cell] for cell in cells]
    accept(goodness_of_fit(observed, claimed(cells, true)), ALPHA)
    wrong = claimed(cells, other)
    shift = REPORTS * float(((claimed(cells, true) - wrong) ** 2 / wrong).sum())
    miss = miss_chi_square(shift, len(cells) - 1, ALPHA)
    reject(goodness_of_fit(observed, wrong), ALPHA, miss=miss)


@pytest.mark.parametrize("name", ORACLES)
def test_python_decodes_them(survey: Survey, made: dict[str, bytes], name: str) -> None:
    question = survey.question(name)
    assert question is not None
    (field,) = question.fields
    value, other = QUESTIONS[name][3:]
    open_domain = field.domain.size is None
    candidates = [other, value] if open_domain else None
    place = 1 if open_domain else question.answers(value)[0].code
    mechanism = mechanism_for(field.parameters)
    counts = mechanism.accumulate(made[name])
    assert counts.n == REPORTS
    estimate = mechanism.estimate(counts, candidates)
    error = float(estimate.std_error[place])
    accept(mean(float(estimate.frequency[place]), 1.0, error), ALPHA)
    assert error < 0.5


@pytest.mark.parametrize("name", PROFILES)
def test_python_decodes_profiles(survey: Survey, made: dict[str, bytes], name: str) -> None:
    """The share of one attribute's answer, against what the exact probabilities decode to.

    Without hashes that is 1, everybody's answer. Of few hash functions collisions move it: no crowd
    averages them out, so that the same decoder is given the records in their exact proportions.
    """
    question = survey.question(name)
    assert question is not None
    mechanism = mechanism_for(question.fields[0].parameters)
    assert isinstance(mechanism, ProfileMechanism)
    place = mechanism.one_way_labels.index("a2=2")  # the third hue
    law = law_of(question, QUESTIONS[name][3])
    exact = b"".join(record * round(EXACT * share) for record, share in law.items())
    wanted = float(mechanism.estimate(mechanism.accumulate(exact)).frequency[place])
    if name not in HASHED:
        assert wanted == pytest.approx(1.0, abs=1e-3)
    estimate = mechanism.estimate(mechanism.accumulate(made[name]))
    assert estimate.n == REPORTS
    error = float(estimate.std_error[place])
    accept(mean(float(estimate.frequency[place]), wanted, error), ALPHA)
    assert error < 0.5


def test_python_counts_ngrams(survey: Survey, made: dict[str, bytes]) -> None:
    """N-grams are decoded by a search over pairs; two bits for each are too few for one."""
    question = survey.question("ngrams")
    assert question is not None
    mechanism = mechanism_for(question.fields[0].parameters)
    assert mechanism.accumulate(made["ngrams"]).n == REPORTS
