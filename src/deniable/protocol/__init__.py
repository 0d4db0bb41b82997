"""What every party must agree on. Changing a line here can break clients in the field.

Standard library only: survey, domain, parameters, hashing, pseudo-random function, record, report.
"""

from deniable.protocol.authoring import Authored, read_authored
from deniable.protocol.domain import ABSENT, Answer, Boolean, Categories, Domain, Numbers, Strings
from deniable.protocol.krr import KRRParameters
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters
from deniable.protocol.rappor import RapporParameters
from deniable.protocol.registry import MECHANISMS
from deniable.protocol.report import Report, batch_bytes
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
    "Item",
    "KRRParameters",
    "Layout",
    "Numbers",
    "Parameters",
    "Question",
    "RapporParameters",
    "Report",
    "Strings",
    "Survey",
    "batch_bytes",
    "read_authored",
]
