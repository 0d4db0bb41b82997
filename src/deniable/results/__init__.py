"""Estimates as people read them: table, chart, words, files.

from deniable.results import estimate_question, save
result, = estimate_question(store, question)
save(result, "result.csv")
"""

from deniable.results.associate import associate_question
from deniable.results.associate_chart import association_chart
from deniable.results.associate_files import save_association, to_arrow
from deniable.results.associate_result import Association
from deniable.results.associate_table import association_as_text
from deniable.results.candidates import Candidates, candidates_for, read_candidates
from deniable.results.chart import chart
from deniable.results.chart_files import save_chart
from deniable.results.estimate import estimate_question, result_of
from deniable.results.files import as_arrow, as_csv, as_json, as_parquet, save
from deniable.results.result import Epochs, Result, Row
from deniable.results.table import as_text
from deniable.results.words import Words, in_words

__all__ = [
    "Association",
    "Candidates",
    "Epochs",
    "Result",
    "Row",
    "Words",
    "as_arrow",
    "as_csv",
    "as_json",
    "as_parquet",
    "as_text",
    "associate_question",
    "association_as_text",
    "association_chart",
    "candidates_for",
    "chart",
    "estimate_question",
    "in_words",
    "read_candidates",
    "result_of",
    "save",
    "save_association",
    "save_chart",
    "to_arrow",
]
