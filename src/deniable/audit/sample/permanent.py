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

from deniable.audit.reading import Report, said
from deniable.audit.sample.outcome_chances import Chance, Coin
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Parameters
from deniable.protocol.channel import Bits, Rest, Symbol, unknown_kind
from deniable.protocol.thresholds import ONE

Outcome = tuple[str, int, int, Chance]
"""The name of a coin, how often it was True, how often it was tossed, and its chance."""


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
        self._word = _letting(parameters.channel.typical)

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Return True if the word is below the threshold, as any coin does."""
        return self._word >> (64 - bits) < threshold

    def below(self, bound: int) -> int:
        """Return 0, the smallest of the integers that could be drawn."""
        return 0


def has_permanent(parameters: Parameters) -> bool:
    """Tell whether a mechanism has a permanent response that can be shown."""
    return parameters.memoised


def _letting(rest: Rest) -> int:
    """Return the fresh word that lets a permanent response through."""
    match rest, rest.stages:
        case Bits(), (_, Bits() as then):
            return int(then.zero * ONE)
        case Symbol(), (_, Symbol()):
            return 0
    raise unknown_kind("look at a permanent response", rest)


def permanent_outcomes(
    parameters: Parameters, answer: Answer, reports: Sequence[Report]
) -> Iterator[Outcome]:
    """Yield the coins of the permanent stage of one answer, from reports that show it."""
    for group in said(parameters.channel, answer, reports):
        coins = {name: Coin(name, group.part, group.public, permanent=True) for name in COINS}
        match group.rest:
            case Symbol():
                yield "keep", group.supported(), len(reports), coins["keep"]
            case Bits():
                shown, held = group.tables()
                for name, mask in (("one", held), ("zero", ~held)):
                    yield name, int((shown & mask).sum()), int(mask.sum()), coins[name]
            case rest:
                raise unknown_kind("look at a permanent response", rest)


COINS = ("keep", "one", "zero")
