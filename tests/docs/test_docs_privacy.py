"""docs/privacy.md and docs/plan.md say what the code does."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from deniable.plan import Setting, make_plan, of_categories
from deniable.privacy.shuffling import CONDITIONS

ROOT = Path(__file__).parents[2]
PRIVACY, PLAN = (ROOT / f"docs/{name}.md" for name in ("privacy", "plan"))


def test_the_budgets_of_the_page_are_what_its_example_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PRIVACY.read_text(), re.DOTALL)
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
