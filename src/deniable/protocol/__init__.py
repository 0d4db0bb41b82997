"""What every party must agree on. Changing a line here can break clients in the field.

Standard library only: survey, domain, parameters, hashing, pseudo-random function, record, report.
"""

from deniable.protocol.authoring import Authored, read_authored
from deniable.protocol.domain import (
    ABSENT,
    Answer,
    Boolean,
    Categories,
    Domain,
    Numbers,
    Sets,
    Strings,
)
from deniable.protocol.hadamard import HadamardParameters
from deniable.protocol.hcms import HCMSParameters
from deniable.protocol.krr import KRRParameters
from deniable.protocol.layout import Item, Layout
from deniable.protocol.ngrams import NGramsParameters
from deniable.protocol.olh import OLHParameters
from deniable.protocol.orr import ORRParameters
from deniable.protocol.oue import OUEParameters
from deniable.protocol.parameters import Parameters
from deniable.protocol.pgr import PGRParameters
from deniable.protocol.prefixes import PrefixesParameters
from deniable.protocol.rappor import RapporParameters
from deniable.protocol.registry import MECHANISMS
from deniable.protocol.report import Report, batch_bytes
from deniable.protocol.subset import SubsetParameters
from deniable.protocol.survey import Field, Question, Survey

__all__ = [
    "ABSENT",
    "MECHANISMS",
    "Answer",
    "Authored",
    "Boolean",
    "Categories",
    "Domain",
    "Field",
    "HCMSParameters",
    "HadamardParameters",
    "Item",
    "KRRParameters",
    "Layout",
    "NGramsParameters",
    "Numbers",
    "OLHParameters",
    "ORRParameters",
    "OUEParameters",
    "PGRParameters",
    "Parameters",
    "PrefixesParameters",
    "Question",
    "RapporParameters",
    "Report",
    "Sets",
    "Strings",
    "SubsetParameters",
    "Survey",
    "batch_bytes",
    "read_authored",
]
