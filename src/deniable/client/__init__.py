"""The device's side: a value becomes a report, and the report is sent. Standard library only.

    record -> answer -> encode -> outbox -> upload

`Client` is the public face; the other files are its parts, in that order.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.client.client import DEFAULT_CEILING, Client
from deniable.client.consent import Consent
from deniable.client.ledger import Disclosed, QuestionDisclosed
from deniable.client.limits import Limits
from deniable.client.transport import HttpTransport, Request, Response, Transport

__all__ = [
    "DEFAULT_CEILING",
    "Client",
    "Consent",
    "Disclosed",
    "HttpTransport",
    "Limits",
    "QuestionDisclosed",
    "Request",
    "Response",
    "Transport",
]
