"""The mechanisms that come with this package, as the registry registers them.

To add one: its file in `protocol/`, `client/encoders/`, `mechanisms/` and `authoring/mechanisms/`,
all of its name, and a line here.
"""

from __future__ import annotations

SINGLE = {
    "rappor": "Rappor",
    "krr": "KRR",
    "orr": "ORR",
    "pgr": "PGR",
    "hcms": "HCMS",
    "oue": "OUE",
    "olh": "OLH",
    "hadamard": "Hadamard",
    "subset": "Subset",
}
PROFILES = {
    "inp_rr": "InpRR",
    "inp_ps": "InpPS",
    "inp_ht": "InpHT",
    "marg_rr": "MargRR",
    "marg_ps": "MargPS",
    "marg_ht": "MargHT",
    "inp_em": "InpEM",
    "inp_olh": "InpOLH",
    "inp_ht_cms": "InpHTCMS",
    "coefficients": "Coefficients",
    "views": "Views",
}
FOUND = {"prefixes": "Prefixes", "ngrams": "NGrams"}
"""Those that find strings nobody listed. All values are names of the classes for populations."""
