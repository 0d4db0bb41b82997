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
@pytest.mark.parametrize("module", ["deniable.mechanisms", "deniable.testing.statistics"])
def test_a_missing_extra_names_the_command(missing: str, module: str) -> None:
    code = f"""
import sys
sys.modules[{missing!r}] = None
from deniable.errors import MissingExtra
try:
    import {module}
except MissingExtra as error:
    print(error.extra, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("analysis ")
    assert "pip install 'deniable[analysis]'" in done.stdout


def test_proofs_need_nothing_but_the_standard_library() -> None:
    code = """
import sys
sys.modules["numpy"] = sys.modules["scipy"] = None
from deniable.authoring import resolve
from deniable.client.encoders import encoder_for
from deniable.privacy import epsilon_after
from deniable.protocol import Answer, Boolean, KRRParameters
from deniable.privacy.proof import prove_epsilon, report_channel
parameters = resolve(KRRParameters, {"epsilon": 1.0}, Boolean(), absent=False)
channel = report_channel(encoder_for(parameters), [Answer(b"n", 0), Answer(b"y", 1)])
print(prove_epsilon(channel, parameters.epsilon_once).tight, epsilon_after(parameters, 2))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "2000000"]


def test_every_mechanism_of_the_protocol_has_a_population_form() -> None:
    assert MECHANISMS.keys() == PROTOCOL.keys()
    for name, kind in MECHANISMS.items():
        assert kind.parameters_type is PROTOCOL[name]


def test_an_unknown_mechanism_is_refused() -> None:
    class Unknown(KRRParameters):
        mechanism = "unknown"

    with pytest.raises(InvalidParameter, match="Use one of: rappor, krr"):
        mechanism_for(Unknown(2, 2**64, 2**63 + 1))
