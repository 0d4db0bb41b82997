"""Without NumPy or SciPy, importing the mechanisms says in one sentence what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import MECHANISMS, mechanism_for
from deniable.protocol import MECHANISMS as PROTOCOL
from deniable.protocol import KRRParameters


@pytest.mark.parametrize("missing", ["numpy", "scipy"])
def test_a_missing_extra_names_the_command(missing: str) -> None:
    code = f"""
import sys
sys.modules[{missing!r}] = None
from deniable.errors import MissingExtra
try:
    import deniable.mechanisms
except MissingExtra as error:
    print(error.extra, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("analysis ")
    assert "pip install 'deniable[analysis]'" in done.stdout


def test_every_mechanism_of_the_protocol_has_a_population_form() -> None:
    assert MECHANISMS.keys() == PROTOCOL.keys()
    for name, kind in MECHANISMS.items():
        assert kind.parameters_type is PROTOCOL[name]


def test_an_unknown_mechanism_is_refused() -> None:
    class Unknown(KRRParameters):
        mechanism = "unknown"

    with pytest.raises(InvalidParameter, match="Use one of: rappor, krr"):
        mechanism_for(Unknown(2, 2**64, 2**63 + 1))
