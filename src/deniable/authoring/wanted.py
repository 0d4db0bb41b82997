"""Parameters that people wrote, as several mechanisms read them: epsilons, answers, letters."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.written import Written
from deniable.errors import InvalidParameter
from deniable.protocol import epsilon
from deniable.protocol.domain import Domain
from deniable.protocol.parameters import answers_of

EPSILON: Mapping[str, Written] = {"epsilon": Written(epsilon.wanted, "1.0")}
EPSILONS: Mapping[str, Written] = {
    **EPSILON,
    "epsilon_forever": Written(epsilon.wanted, "4.0"),
}


def wanted_epsilon(owner: str, wanted: Mapping[str, object], instead: str = "") -> int:
    """Return the micros of `epsilon`; `instead` says what may be given in its place.

    Raises:
        InvalidParameter: if it is missing, or no epsilon.
    """
    if "epsilon" not in wanted:
        raise InvalidParameter(f"{owner} needs 'epsilon'{instead}.", "Add epsilon = 1.0.")
    return epsilon.wanted("epsilon", owner, wanted["epsilon"])


def wanted_forever(owner: str, wanted: Mapping[str, object]) -> int | None:
    """Return the micros of `epsilon_forever`; None if there is to be no permanent stage."""
    name = "epsilon_forever"
    return epsilon.wanted(name, owner, wanted[name]) if name in wanted else None


def check_longer(owner: str, once: int, forever: int) -> None:
    """Raise InvalidParameter unless all reports together may spend more than one of them."""
    if not once < forever:
        raise InvalidParameter(
            f"The 'epsilon_forever' parameter of {owner} must be greater than 'epsilon'.",
            "Raise it, or leave it out for a question that is answered once.",
        )


def share_of(name: str, owner: str, micros: int, parts: int, what: str, fix: str) -> int:
    """Return the micros of each of the equal parts of an epsilon, rounded down.

    Raises:
        InvalidParameter: if a part would have less than a millionth; `what` names the parts.
    """
    if micros < parts:
        least = f"{epsilon.as_float(parts):f}"
        raise InvalidParameter(
            f"The '{name}' parameter of {owner} must be at least {least} for {parts} {what}.", fix
        )
    return micros // parts


def closed_answers(owner: str, domain: Domain, absent: bool) -> int:
    """Return the number of answers of a closed domain, an absent one included.

    Raises:
        InvalidParameter: if it is an open domain.
    """
    count = answers_of(domain, absent)
    if count is None:
        raise InvalidParameter(
            f"{owner} needs a closed domain: boolean, categories, numbers or set.",
            'Use mechanism = "rappor" or "olh" for strings.',
        )
    return count


def spelled_out(
    owner: str, wanted: Mapping[str, object], letters: Mapping[str, str]
) -> dict[str, object]:
    """Return what people wrote with the papers' letters replaced by words.

    Raises:
        InvalidParameter: if somebody wrote both a letter and its word.
    """
    named = {letters.get(name, name): value for name, value in wanted.items()}
    if len(named) < len(wanted):
        either = f"{', '.join(letters)} or {', '.join(letters.values())}"
        raise InvalidParameter(f"{owner} takes {either}, not both.", "Remove one of each.")
    return named
