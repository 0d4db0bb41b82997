"""Plans before a collection: errors, detection limits and costs of every mechanism.

Closed forms throughout, but for strings that nobody listed: their detection limit comes from a
simulation with fixed seeds (`unlisted_strings.py`).

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.plan.collection import Setting, of_attributes, of_bins, of_categories, of_strings
from deniable.plan.comparison import Comparison, plan_comparison
from deniable.plan.inverse import epsilon_needed, people_needed
from deniable.plan.plan import Needed, Plan, make_plan
from deniable.plan.prediction import Prediction, predict
from deniable.plan.reports import ReportsPlan, plan_reports
from deniable.plan.survey import Planned, SurveyPlan, plan_survey
from deniable.plan.window import WindowPlan, plan_window

__all__ = [
    "Comparison",
    "Needed",
    "Plan",
    "Planned",
    "Prediction",
    "ReportsPlan",
    "Setting",
    "SurveyPlan",
    "WindowPlan",
    "epsilon_needed",
    "make_plan",
    "of_attributes",
    "of_bins",
    "of_categories",
    "of_strings",
    "people_needed",
    "plan_comparison",
    "plan_reports",
    "plan_survey",
    "plan_window",
    "predict",
]
