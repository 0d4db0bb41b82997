"""From counts to estimates whose error statements hold.

    decode            the default: open and closed domains, tests, intervals, decisions
    decode_cells      the same for any linear design, without a mechanism
    decode_lasso      the paper's decoder, as a reference
    point_estimates   closed domains: every point estimate of the distribution side by side
    smooth            binned numbers: a smooth distribution beside the raw one

Everything works from a mechanism's numbers; no mechanism's formula stands in this folder.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.decode.bayes import Posterior, posterior_mean
from deniable.decode.decoded import Decoded, DecodedRow
from deniable.decode.decoder import decode, decode_cells
from deniable.decode.design import Design, Shape, design_of
from deniable.decode.distribution_estimates import PointEstimates, point_estimates
from deniable.decode.lasso import LassoDecoded, decode_lasso
from deniable.decode.mixture import Mixture, expectation_maximisation, fit_mixture, fit_rows
from deniable.decode.mixture.em import run_em, run_squarem
from deniable.decode.mixture.packed import PackedProduct
from deniable.decode.mixture.rows import Product, Table
from deniable.decode.observed import Observed, observe
from deniable.decode.simplex import base_cut, normalise, project
from deniable.decode.smoothing import Smoothed, smooth
from deniable.decode.unlisted import Other

__all__ = [
    "Decoded",
    "DecodedRow",
    "Design",
    "LassoDecoded",
    "Mixture",
    "Observed",
    "Other",
    "PackedProduct",
    "PointEstimates",
    "Posterior",
    "Product",
    "Shape",
    "Smoothed",
    "Table",
    "base_cut",
    "decode",
    "decode_cells",
    "decode_lasso",
    "design_of",
    "expectation_maximisation",
    "fit_mixture",
    "fit_rows",
    "normalise",
    "observe",
    "point_estimates",
    "posterior_mean",
    "project",
    "run_em",
    "run_squarem",
    "smooth",
]
