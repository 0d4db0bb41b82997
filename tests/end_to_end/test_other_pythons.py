"""Every newer Python that this machine has makes the same reports, with nothing installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from deniable.authoring import read_authored
from material.surveys import STARTER

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
FLOW = """
import sys
sys.path.insert(0, sys.argv[1])
from deniable import Client
from deniable.protocol import Survey

survey = Survey.load(sys.argv[2])
client = Client(sys.argv[2], sys.argv[3], None)
client.opt_in()
client.record("dark-mode", True, wait=True)
print([q.digest.hex() for q in survey.questions], client.disclosed())
client.close()
"""


def candidates(version: str) -> list[str]:
    """Return where an interpreter of a version may be: on the path, or among pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    placed = map(str, pyenv.glob(f"versions/{version}.*/bin/python3"))
    return [each for each in (shutil.which(f"python{version}"), *placed) if each]


def found() -> dict[str, str]:
    """Return the interpreters that start, by version; this one is among them."""
    pythons = {}
    for version in VERSIONS:
        for path in candidates(version):
            started = subprocess.run([path, "-V"], capture_output=True, text=True)
            if started.returncode == 0 and f" {version}." in started.stdout:
                pythons[version] = path
    return {**pythons, "{}.{}".format(*sys.version_info[:2]): sys.executable}


def test_the_client_runs_on_every_python_that_is_here(tmp_path: Path) -> None:
    survey = tmp_path / "survey.json"
    shutil.copy(STARTER, tmp_path / "survey.toml")
    survey.write_bytes(read_authored(tmp_path / "survey.toml").require().published())
    said = {}
    for version, python in found().items():
        state = tmp_path / version
        words = [python, "-I", "-S", "-W", "error", "-c", FLOW, ROOT / "src", survey, state]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{version}: {done.stderr}"
        said[version] = done.stdout
    assert len(set(said.values())) == 1, said
