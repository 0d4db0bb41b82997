"""A mechanism that knows of the survey around it: its number of people, and its folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deniable.authoring.resolving import authoring_of
from deniable.authoring.written import Authoring
from deniable.errors import InvalidParameter
from deniable.protocol.coding_model import MAX_MODEL_BYTES
from deniable.protocol.domain import Domain
from deniable.protocol.parameters import Parameters


def informed(people: int | None, folder: Path) -> Authoring:
    """Return how prefixes are authored in a survey that expects `people`, in a folder."""
    keys, plain = authoring_of("prefixes")

    def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> Parameters:
        known: dict[str, object] = {} if people is None else {"people": people}
        known |= wanted
        if "model" in known:
            known["model"] = _read_model(folder, known["model"])
        return plain(known, domain, absent)

    return Authoring(keys, resolve)


def _read_model(folder: Path, name: object) -> bytes:
    try:
        with (folder / str(name)).open("rb") as file:
            return file.read(MAX_MODEL_BYTES + 1)
    except (OSError, ValueError):
        raise InvalidParameter(
            "There is no readable file of that name beside the survey for the 'model' of prefixes.",
            "Make it with deniable discover train LIST -o model.",
        ) from None
