"""A mechanism that knows of the survey around it: its number of people, and its folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.protocol.coding_model import MAX_MODEL_BYTES
from deniable.protocol.domain import Domain
from deniable.protocol.parameters import Parameters, Written


class Informed:
    """Stands where the mechanism stands while a survey is read: it knows people and folder.

    `resolve` returns the published integers; nothing of this is published.
    """

    def __init__(self, kind: type[Parameters], people: int | None, folder: Path) -> None:
        self._kind, self._people, self._folder = kind, people, folder

    @property
    def mechanism(self) -> str:
        """The mechanism's name."""
        return self._kind.mechanism

    @property
    def authored(self) -> Mapping[str, Written]:
        """The keys that people may write, each with its check."""
        return self._kind.authored

    def resolve(self, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Parameters:
        """Return the integers, for the survey's people and with the model's bytes."""
        known: dict[str, object] = {} if self._people is None else {"people": self._people}
        known |= wanted
        if "model" in known:
            known["model"] = _read_model(self._folder, known["model"])
        return self._kind.resolve(known, domain, absent)


def _read_model(folder: Path, name: object) -> bytes:
    try:
        with (folder / str(name)).open("rb") as file:
            return file.read(MAX_MODEL_BYTES + 1)
    except (OSError, ValueError):
        raise InvalidParameter(
            "There is no readable file of that name beside the survey for the 'model' of prefixes.",
            "Make it with deniable discover train LIST -o model.",
        ) from None
