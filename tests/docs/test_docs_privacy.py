"""docs/privacy.md and docs/plan.md say what the code does."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from deniable._words import epsilon_text
from deniable.mechanisms import KRR, OUE
from deniable.plan import Setting, make_plan, of_categories, plan_reports, plan_window
from deniable.privacy.shuffling.central import CONDITIONS, shuffled

ROOT = Path(__file__).parents[2]
PRIVACY, PLAN = (ROOT / f"docs/{name}.md" for name in ("privacy", "plan"))


def test_the_budgets_of_the_page_are_what_its_example_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(from fractions.*?)```", PRIVACY.read_text(), re.DOTALL)
    script = tmp_path / "example.py"
    script.write_text(example)
    runpy.run_path(str(script))
    printed = capsys.readouterr().out.splitlines()
    said = re.findall(r"print\(.*#(.*)", example)
    assert [printed[0], printed[-1]] == [text.strip() for text in said]


def test_the_conditions_of_shuffling_stand_on_the_page() -> None:
    text = PRIVACY.read_text()
    for condition in CONDITIONS:
        assert f"- {condition}\n" in text


def test_the_table_of_the_plan_is_the_one_that_is_printed() -> None:
    plan = make_plan(Setting(100_000, 1.0, of_categories(100)), error=0.005)
    text = " ".join(PLAN.read_text().split())
    for prediction in plan.predictions:
        cells = (
            f"{prediction.mechanism} {100 * prediction.mean_error:.3g}% "
            f"{100 * prediction.margin:.3g}% {100 * prediction.smallest:.3g}% "
            f"{prediction.learned} {plan.needed[prediction.mechanism].people:,}"
        )
        assert cells in text
    assert plan.reason in text


def test_the_budgets_of_the_plan_are_what_is_printed() -> None:
    text = " ".join(PLAN.read_text().split())
    windowed = plan_window(Setting(1_000_000, 1.0, of_categories(100)), 7)
    assert windowed.reason in text
    for way in windowed.ways:
        assert f"{100 * way.error:.3g}% {100 * way.window_error:.3g}%" in text
    scheduled = plan_reports(Setting(100_000, 2.0, of_categories(10)), 6)
    for row in scheduled.rows:
        assert f"{row.number} {row.epsilon:.6g} {row.q:.6g} {100 * row.error:.3g}%" in text
    assert f"Useful reports: {scheduled.useful}" in text
    assert f"epsilon {epsilon_text(scheduled.spent)}" in text


def test_the_central_epsilons_of_the_page_are_those_that_are_computed() -> None:
    text = PRIVACY.read_text()
    for mechanism in (KRR(3, epsilon=1.0743), KRR(100, epsilon=1.0743), KRR(2, epsilon=1.0743)):
        found = shuffled(mechanism.parameters, 10**6, 1e-8)
        assert f"{found.epsilon:.6f}" in text
        assert f"{found.at_least:.6f}" in text
    unary = shuffled(OUE(100, epsilon=1.0743).parameters, 10**6, 1e-8)
    assert f"encoding of 100 answers {unary.epsilon:.6f}" in text
    for people in (10, 30, 60):
        exact = shuffled(KRR(3, epsilon=1.0).parameters, people, 1e-6)
        assert f"| {people} | {exact.epsilon:.6f} | {exact.crowds:,} |" in text
    some = shuffled(KRR(10, epsilon=1.0).parameters, 60, 1e-6)
    assert f"between {some.at_least:.6f} and {some.epsilon:.6f}" in " ".join(text.split())
