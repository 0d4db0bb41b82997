"""The protocol: the types and integers that devices, collectors and analysts agree on.

A changed line here can break clients in the field. Standard library only: survey, domain,
parameters, hashing, pseudo-random function, record, report.

Names are imported when they are first used, so that a client loads what its survey needs.

Public are the names of `__all__`, where a module stands for its names; all other names are internal
and may change. The modules are for mechanisms of one's own (docs/mechanism.md).
"""

from typing import TYPE_CHECKING

from deniable.protocol.built_in import FOUND, PROFILES, SINGLE
from deniable.protocol.lazy import look_up

if TYPE_CHECKING:
    from deniable.protocol.coefficients import CoefficientsParameters
    from deniable.protocol.domain import (
        ABSENT,
        Answer,
        Boolean,
        Categories,
        Domain,
        Numbers,
        Sets,
        Strings,
        StringSets,
    )
    from deniable.protocol.hadamard import HadamardParameters
    from deniable.protocol.hcms import HCMSParameters
    from deniable.protocol.inp_em import InpEMParameters
    from deniable.protocol.inp_ht import InpHTParameters
    from deniable.protocol.inp_ht_cms import InpHTCMSParameters
    from deniable.protocol.inp_olh import InpOLHParameters
    from deniable.protocol.inp_ps import InpPSParameters
    from deniable.protocol.inp_rr import InpRRParameters
    from deniable.protocol.krr import KRRParameters
    from deniable.protocol.layout import Item, Layout
    from deniable.protocol.marg_ht import MargHTParameters
    from deniable.protocol.marg_ps import MargPSParameters
    from deniable.protocol.marg_rr import MargRRParameters
    from deniable.protocol.ngrams import NGramsParameters
    from deniable.protocol.olh import OLHParameters
    from deniable.protocol.orr import ORRParameters
    from deniable.protocol.oue import OUEParameters
    from deniable.protocol.parameters import KeepParameters, Parameters, answers_of
    from deniable.protocol.pgr import PGRParameters
    from deniable.protocol.prefixes import PrefixesParameters
    from deniable.protocol.profile_domain import Attribute, Profile
    from deniable.protocol.profile_parameters import ProfileParameters
    from deniable.protocol.question import Field, Question
    from deniable.protocol.rappor import RapporParameters
    from deniable.protocol.registry import (
        MECHANISMS,
        PROFILE_MECHANISMS,
        load_plugin,
        register,
    )
    from deniable.protocol.report import Report, batch_bytes
    from deniable.protocol.subset import SubsetParameters
    from deniable.protocol.survey import Survey
    from deniable.protocol.views import ViewsParameters

__all__ = [
    "ABSENT",
    "MECHANISMS",
    "PROFILE_MECHANISMS",
    "Answer",
    "Attribute",
    "Boolean",
    "Categories",
    "CoefficientsParameters",
    "Domain",
    "Field",
    "HCMSParameters",
    "HadamardParameters",
    "InpEMParameters",
    "InpHTCMSParameters",
    "InpHTParameters",
    "InpOLHParameters",
    "InpPSParameters",
    "InpRRParameters",
    "Item",
    "KRRParameters",
    "KeepParameters",
    "Layout",
    "MargHTParameters",
    "MargPSParameters",
    "MargRRParameters",
    "NGramsParameters",
    "Numbers",
    "OLHParameters",
    "ORRParameters",
    "OUEParameters",
    "PGRParameters",
    "Parameters",
    "PrefixesParameters",
    "Profile",
    "ProfileParameters",
    "Question",
    "RapporParameters",
    "Report",
    "Sets",
    "StringSets",
    "Strings",
    "SubsetParameters",
    "Survey",
    "ViewsParameters",
    "answers_of",
    "batch_bytes",
    "channel",
    "declared",
    "frozen",
    "layout",
    "load_plugin",
    "register",
]

_HOMES = {
    **{f"{stem}Parameters": name for name, stem in {**SINGLE, **PROFILES, **FOUND}.items()},
    "ABSENT": "domain",
    "Answer": "domain",
    "Attribute": "profile_domain",
    "Boolean": "domain",
    "Categories": "domain",
    "Domain": "domain",
    "Field": "question",
    "Item": "layout",
    "KeepParameters": "parameters",
    "Layout": "layout",
    "MECHANISMS": "registry",
    "Numbers": "domain",
    "Parameters": "parameters",
    "Question": "question",
    "PROFILE_MECHANISMS": "registry",
    "Profile": "profile_domain",
    "ProfileParameters": "profile_parameters",
    "Report": "report",
    "Sets": "domain",
    "StringSets": "domain",
    "Strings": "domain",
    "Survey": "survey",
    "answers_of": "parameters",
    "batch_bytes": "report",
    "load_plugin": "registry",
    "register": "registry",
}
"""The module of each name."""


def __getattr__(name: str) -> object:
    """Import a name's module when the name is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'deniable.protocol' has no attribute {name!r}")
    return look_up(f"{__name__}.{_HOMES[name]}", name)
