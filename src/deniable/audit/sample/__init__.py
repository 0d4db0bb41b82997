"""The shipped encoder as a black box: many reports, and statistical tests of their probabilities.

`black_box` runs the audit, in `batches` and `workers`; `size` plans the number of devices.
"""
