"""The permanent response by itself: shown by the shipped encoder, without the fresh noise.

The client keeps no permanent response: it derives it from the secret for every report. So it can
be seen only through the encoder. Fresh draws are a parameter of the encoder, and some fresh words
let everything through: a coin is True if its word is below its threshold, so that

    k-RR        word 0: every symbol is kept,
    bits        word report_zero, and report_zero <= word < report_one: a report's bit is 1 if and
                only if the permanent one is.

With these words the report *is* the permanent response, derived by the client's own code from a
device's secret. The fresh stage shows in reports with the operating system's coins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deniable.audit.reading import Record, bit_table, held_table, number
from deniable.audit.sample.outcome_chances import Chance, Threshold
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, KRRParameters, Parameters
from deniable.protocol.unary import UnaryParameters

Outcome = tuple[str, int, int, Chance]
"""The name of a threshold, its coins that were True, all its coins, and its chance."""


class LettingThrough:
    """Fresh draws of one word, for which a report is the permanent response.

    Guarantees: each draw is one that the operating system could have made.

    Args:
        parameters: of a mechanism with a permanent stage.

    Raises:
        InvalidParameter: if the mechanism has none.
    """

    def __init__(self, parameters: Parameters) -> None:
        if not has_permanent(parameters):
            raise InvalidParameter(f"{parameters.mechanism} has no permanent response to look at.")
        self._word = parameters.report_zero if isinstance(parameters, UnaryParameters) else 0

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Return True if the word is below the threshold, as any coin does."""
        return self._word >> (64 - bits) < threshold

    def below(self, bound: int) -> int:
        """Return 0, the smallest of the integers that could be drawn."""
        return 0


def has_permanent(parameters: Parameters) -> bool:
    """Tell whether a mechanism has a permanent response that can be shown."""
    return isinstance(parameters, KRRParameters | UnaryParameters) and parameters.memoised


def permanent_outcomes(
    parameters: Parameters, answer: Answer, records: Sequence[Record]
) -> Iterator[Outcome]:
    """Yield the coins of the permanent stage of one answer, from reports that show it."""
    if isinstance(parameters, KRRParameters):
        own = sum(number(record, "symbol") == answer.code for record in records)
        yield "permanent_keep", own, len(records), Threshold("permanent_keep")
    elif isinstance(parameters, UnaryParameters):
        shown, held = bit_table(parameters, records), held_table(parameters, answer, records)
        for name, mask in (("permanent_one", held), ("permanent_zero", ~held)):
            yield name, int((shown & mask).sum()), int(mask.sum()), Threshold(name)
