"""The shipped encoder as a black box: many reports, and statistical tests of what they show.

`black_box` runs the audit, in `batches` and `workers`; `size` says how many devices it takes.
"""
