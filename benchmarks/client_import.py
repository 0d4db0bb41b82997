"""The cost of importing and opening a client, against importing the standard library it uses.

Two fresh interpreters by turns: one imports the client and opens one with the demo's survey, the
other imports the modules of the standard library that the first had loaded. Both measure their own
processor time, without the interpreter's start. The fastest of some runs each counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from deniable.cli.demo_survey import publish_demo

OPEN = """
import sys, time
before, start = set(sys.modules), time.process_time()
from deniable import Client
client = Client({survey!r}, {folder!r})
spent = time.process_time() - start
loaded = sorted(set(sys.modules) - before)
client.close()
import json
print(json.dumps([spent, loaded]))
"""

IMPORT = """
import sys, time
from importlib import import_module
start = time.process_time()
for name in {names!r}:
    import_module(name)
spent = time.process_time() - start
import json
print(json.dumps([spent, []]))
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--runs", type=int, default=20, help="runs of each (20)")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        publish_demo(Path(folder))
        found = measured(Path(folder), wanted.runs)
    if wanted.json:
        print(json.dumps(found))
        return
    print(f"import and open a client        {found['client_ms']:7.1f} ms of processor")
    print(f"import its standard library     {found['library_ms']:7.1f} ms of processor")
    print(f"ratio                           {found['ratio']:7.2f}")
    print(f"modules of this package         {found['modules']:7}")


def measured(folder: Path, runs: int) -> dict[str, float | int]:
    """Return the fastest of a number of runs of either program, and their ratio."""
    client, library, ours = float("inf"), float("inf"), 0
    for run in range(runs + 1):  # the first run compiles, and does not count
        if run == 1:
            client = library = float("inf")
        state = folder / f"state-{run}"
        opened = OPEN.format(survey=str(folder / "survey.json"), folder=str(state))
        spent, loaded = _run(opened, folder)
        names = [name for name in loaded if not name.startswith("deniable")]
        ours = len(loaded) - len(names)
        client = min(client, spent)
        library = min(library, _run(IMPORT.format(names=names), folder)[0])
    return {
        "client_ms": client * 1_000,
        "library_ms": library * 1_000,
        "ratio": client / library,
        "modules": ours,
    }


def _run(program: str, folder: Path) -> tuple[float, list[str]]:
    # Installed packages come compiled; a checkout may be run without writing bytecode.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    spent, loaded = json.loads(done.stdout)
    return spent, loaded


if __name__ == "__main__":
    main()
