"""Associations of two wide fields: memory and processor time of `deniable associate`.

    python benchmarks/associate_wide.py --reports 10000000

Two fields of 20 answers, by basic RAPPOR (epsilon 2) and by Bloom filters (k=128, h=2, m=16,
epsilon 3; 19 strings are listed, the others are "(other)"). Reports are written to a store and to
an archive in a temporary folder (`TMPDIR` moves it; 36 bytes per report and each). Then the command
runs on both, and `associate` of the library, which lets go of the reports that it was given. Each
run is a process of its own: printed are its processor time, with all that it starts, and the most
memory that it had (10^9 bytes), reports, interpreter and libraries included. A first run on few
reports fills the caches of compiled kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # this process stays small: a new one begins with the memory of who starts it
    from deniable.mechanisms import Mechanism
    from deniable.protocol import Question
    from deniable.store.base import Batch

ANSWERS, LISTED = 20, 19
EPOCH = 20_000
STRINGS = [f"www.example-{number}.com" for number in range(ANSWERS)]
CASES = ("basic", "bloom")
HOW = ("store", "archive", "library")
STEP = 10**6
FEW = 60_000
PARAMETERS = {"basic": "epsilon = 2.0", "bloom": "epsilon = 3.0, k = 128, h = 2, m = 16"}


def main() -> None:
    """Print a line per run, or be one of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reports", type=int, default=10_000_000, help="reports (10,000,000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--step", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        globals()[f"step_{options.step[0]}"](*options.step[1:])
        return
    rows = []
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            _spent("make", folder, case, str(options.reports))
            for how in HOW:
                _spent("ask", f"{folder}/few", case, how)
                seconds, gigabytes = _spent("ask", f"{folder}/all", case, how)
                rows.append({"case": case, "how": how, "cpu": seconds, "gigabytes": gigabytes})
                if not options.json:
                    print(f"{case:6} {how:8} {seconds:6.1f} s  {gigabytes:.2f} GB", flush=True)
    if options.json:
        print(json.dumps({"reports": options.reports, "rows": rows}))


def _spent(*step: str) -> tuple[float, float]:
    """Run a step as a process; return its processor time and the most memory that it had."""
    command = [sys.executable, __file__, "--step", *step]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"The step {' '.join(step)} failed.")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e9


def step_make(folder: str, case: str, reports: str) -> None:
    """Write a store and an archive of all reports, and of few."""
    for name, number in (("few", FEW), ("all", int(reports))):
        _write(Path(folder) / name, case, number)


def step_ask(folder: str, case: str, how: str) -> None:
    """Associate both fields."""
    place, strings = Path(folder), Path(folder) / "strings.txt"
    if how == "library":
        _in_memory(place, case)
        return
    from deniable.__main__ import main as deniable

    named = ["--candidates", str(strings)] if case == "bloom" else ["--top", str(ANSWERS)]
    source = ["--data", str(place / how), "--survey", str(place / "survey.json")]
    sys.argv = ["deniable", "associate", "wide", *source, *named]
    deniable()


def _in_memory(place: Path, case: str) -> None:
    import numpy as np

    from deniable.associate import Variable, associate
    from deniable.mechanisms.records import record_dtype

    asked = _question(place, case)
    dtype, names = record_dtype(asked), STRINGS[:LISTED] if case == "bloom" else None
    files = {field.name: place / f"{field.name}.bytes" for field in asked.fields}
    laws = _mechanisms(asked)
    variables = [
        Variable(name, laws[name], np.fromfile(path, dtype[name]), names)
        for name, path in files.items()
    ]
    associate(variables, spend=True)


def _question(place: Path, case: str) -> Question:
    from deniable.authoring import read_authored

    values = ", ".join(f'"a{number}"' for number in range(ANSWERS))
    closed = f'{{ type = "categories", values = [{values}] }}'
    domain = '"strings"' if case == "bloom" else closed
    field = f"""[[questions.fields]]
name = "NAME"
domain = {domain}
mechanism = "rappor"
parameters = {{ {PARAMETERS[case]} }}
"""
    head = """name = "t"
owner = "t"
people = 10000000
[[questions]]
id = "wide"
description = "?"
expires = 2099-12-31
"""
    path = place / "survey.toml"
    path.write_text(head + field.replace("NAME", "one") + field.replace("NAME", "two"))
    survey = read_authored(path).require()
    (place / "survey.json").write_bytes(survey.published())
    return survey.questions[0]


def _mechanisms(asked: Question) -> dict[str, Mechanism]:
    from deniable.mechanisms import mechanism_for

    return {field.name: mechanism_for(field.parameters) for field in asked.fields}


def _write(place: Path, case: str, reports: int) -> None:
    """Write the reports of people who give the same answer to both fields a little too often."""
    import numpy as np

    from deniable.mechanisms.records import join_records
    from deniable.store import open_store
    from deniable.store.base import Batch

    place.mkdir()
    (place / "strings.txt").write_text("\n".join(STRINGS[:LISTED]) + "\n")
    asked, rng = _question(place, case), np.random.default_rng(1)
    batch, mechanisms = Batch(asked.id, asked.version, asked.digest, EPOCH), _mechanisms(asked)
    held = STRINGS if case == "bloom" else None
    with open_store(place / "store") as store:
        for start in range(0, reports, STEP):
            people = min(STEP, reports - start)
            one, two = rng.integers(0, ANSWERS, (2, people))
            codes = {"one": one, "two": np.where(rng.random(people) < 0.2, one, two)}
            made = {name: m.simulate(codes[name], rng, held) for name, m in mechanisms.items()}
            for name, own in made.items():
                with (place / f"{name}.bytes").open("ab") as file:
                    file.write(own.tobytes())
            records = join_records(asked, made)
            store.append_records(batch, records, asked.record_size)
            _archive(place / "archive", asked, batch, records)


def _archive(folder: Path, asked: Question, batch: Batch, records: bytes) -> None:
    """Write a part of an archive, as large as a step."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from deniable.protocol.canonical import canonical
    from deniable.store.archive.layout import HEAD, Head, folder_of, records_sum
    from deniable.store.archive.writing import ROW_GROUP

    size = asked.record_size
    place = folder / folder_of(batch)
    place.mkdir(parents=True, exist_ok=True)
    (folder / "archive.json").write_text('{"format":1}\n')
    contract = canonical(asked.published()).decode()
    head = Head(batch, len(records) // size, size, records_sum(records), contract)
    column = pa.Array.from_buffers(
        pa.binary(size), len(records) // size, [None, pa.py_buffer(records)]
    )
    table = pa.table({"record": column}).replace_schema_metadata({HEAD: head.written()})
    path = place / f"part-{len(list(place.iterdir())):016x}.parquet"
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pq.write_table(table, path, row_group_size=ROW_GROUP, **plain)


if __name__ == "__main__":
    main()
