"""Every level of a question is proven by itself; so are sets of strings and unknown attributes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deniable.audit.attack.crafted import shifted_estimate
from deniable.audit.exact.proofs import audit_exact
from deniable.protocol import KRRParameters, Survey
from material.segmented import SURVEY, published

MORE = """
[[questions]]
id = "names"
description = "Which programs?"
expires = 2099-12-31
domain = { type = "set", most = 3 }
mechanism = "rappor"
parameters = { k = 16, h = 2, m = 4, f = 0.5, p = 0.5, q = 0.75 }

[[questions]]
id = "words"
description = "Which words?"
expires = 2099-12-31
domain = { type = "set", most = 2, alphabet = "abc", length = 3 }
mechanism = "olh"
parameters = { epsilon = 2.0 }

[[questions]]
id = "trip"
description = "The trip?"
expires = 2099-12-31
mechanism = "marg_ps"
parameters = { epsilon = 1.1, order = 2 }
[[questions.fields]]
name = "toll"
domain = "boolean"
unknown = true
[[questions.fields]]
name = "night"
domain = "boolean"
"""


@pytest.fixture
def survey(tmp_path: Path) -> Survey:
    return published(tmp_path, SURVEY + MORE)


def test_each_level_and_each_new_domain_is_proven(survey: Survey) -> None:
    audit = audit_exact(survey)
    assert not audit.failures
    proven = {finding.about for finding in audit.findings}
    assert {"colour (strict)", "colour (open)", "names", "words", "trip"} <= proven


def test_a_level_that_spends_more_than_it_says_is_found(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: an epsilon of 0.6 is true of the strict level and false of the open one."""
    levels = replace(survey, questions=tuple(q for q in survey.questions if q.level))
    monkeypatch.setattr(KRRParameters, "epsilon_once", property(lambda _: 600_000))
    assert {finding.about for finding in audit_exact(levels).failures} == {"colour (open)"}


def test_crafted_reports_move_a_set_of_strings_within_its_leverage(survey: Survey) -> None:
    asked = survey.question("words")
    assert asked is not None
    found = shifted_estimate(asked, asked.fields[0], rng=np.random.default_rng(5))
    assert found.within
    assert found.shift > found.bound / 4
