"""The mechanisms that surveys may name. To add one: its file in this folder, and a line here.

A mechanism's file is imported when the mechanism is first looked up, so that a client loads those
of its survey and no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deniable.protocol.lazy import look_up
from deniable.protocol.parameters import Parameters


class Mechanisms(Mapping[str, type[Parameters]]):
    """The parameters' class of each mechanism, by its name in a survey, in a fixed order."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        self._classes = classes

    def __getitem__(self, name: str) -> type[Parameters]:
        of_class = self._classes[name]
        found: type[Parameters] = look_up(f"deniable.protocol.{name}", of_class)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __contains__(self, name: object) -> bool:
        return name in self._classes


PROFILE_MECHANISMS = (
    "inp_rr",
    "inp_ps",
    "inp_ht",
    "marg_rr",
    "marg_ps",
    "marg_ht",
    "inp_em",
    "inp_olh",
    "inp_ht_cms",
    "coefficients",
    "views",
)
"""The mechanisms of profiles: they report many attributes at once, and nothing else."""

MECHANISMS = Mechanisms(
    {
        "rappor": "RapporParameters",
        "krr": "KRRParameters",
        "orr": "ORRParameters",
        "pgr": "PGRParameters",
        "hcms": "HCMSParameters",
        "oue": "OUEParameters",
        "olh": "OLHParameters",
        "hadamard": "HadamardParameters",
        "subset": "SubsetParameters",
        "inp_rr": "InpRRParameters",
        "inp_ps": "InpPSParameters",
        "inp_ht": "InpHTParameters",
        "marg_rr": "MargRRParameters",
        "marg_ps": "MargPSParameters",
        "marg_ht": "MargHTParameters",
        "inp_em": "InpEMParameters",
        "inp_olh": "InpOLHParameters",
        "inp_ht_cms": "InpHTCMSParameters",
        "coefficients": "CoefficientsParameters",
        "views": "ViewsParameters",
        "prefixes": "PrefixesParameters",
        "ngrams": "NGramsParameters",
    }
)
