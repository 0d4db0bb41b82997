"""A mechanism that is not in the package, by one file and --plugin, through the whole flow.

Real processes: every verb, a client of its own, a collector with its dashboard.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deniable.cli.process import collector_process
from deniable.protocol import MECHANISMS
from deniable.testing.statistics import accept, mean, reject

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples/mechanism_of_your_own.py"
SURVEY = """
name = "own"
owner = "team@example.org"
people = 20_000

[[questions]]
id = "browser"
description = "The browser that is opened most."
expires = 2099-12-31
domain = { type = "categories", values = ["firefox", "chrome", "safari", "edge", "other"] }
mechanism = "paley"
parameters = { epsilon = 1.0 }

[[questions]]
id = "device"
description = "Browser and dark mode."
expires = 2099-12-31

[[questions.fields]]
name = "browser"
domain = { type = "categories", values = ["firefox", "chrome", "safari"] }
mechanism = "paley"
parameters = { epsilon = 2.0 }

[[questions.fields]]
name = "dark"
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 2.0 }

[[questions]]
id = "town"
description = "One of many towns: proven by its structure, not by enumeration."
expires = 2099-12-31
domain = { type = "numbers", low = 0, high = 1000, bins = 500 }
mechanism = "paley"
parameters = { epsilon = 1.0 }
"""
DEVICES = """
import sys
from deniable import Client
from deniable.protocol import load_plugin

plugin, survey, folder, address = sys.argv[1:]
load_plugin(plugin)
for device in range(12):
    client = Client(survey, f"{folder}/{device}", address)
    client.opt_in()
    client.record("browser", "chrome", wait=True)
    client.record("device", {"browser": "safari", "dark": True}, wait=True)
    assert client.flush()
    client.close()
"""
ALPHA = 1e-10


def deniable(folder: Path, *words: object, plugin: Path = PLUGIN, code: int = 0) -> str:
    """Run a command with the plugin, and return what it prints, or its message."""
    command = [sys.executable, "-m", "deniable", *map(str, words), "--plugin", str(plugin)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split()) if code else done.stdout


def told(folder: Path, *words: object) -> Any:
    return json.loads(deniable(folder, *words, "--json"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published survey, simulated reports, and those of a dozen real clients."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "survey.toml").write_text(SURVEY)
    deniable(folder, "publish", "survey.toml")
    for question in ("browser", "device"):
        deniable(folder, "simulate", question, "--people", 20_000, "--seed", 15)
    return folder


@pytest.fixture(scope="module")
def collector(project: Path) -> Iterator[str]:
    plugins = (PLUGIN,)
    with collector_process(project / "survey.json", project / "data", plugins=plugins) as running:
        yield running.address


def test_the_file_is_short_and_its_mechanism_is_not_in_the_tree() -> None:
    assert len(PLUGIN.read_text().splitlines()) <= 250
    assert "paley" not in MECHANISMS


def test_a_survey_with_it_is_checked_published_and_explained(project: Path) -> None:
    assert "3 questions, ready" in deniable(project, "check", "survey.toml")
    published = json.loads((project / "survey.json").read_text())
    assert published["questions"][0]["fields"][0]["parameters"].keys() == {"answers", "keep"}
    assert "The mechanism is paley" in deniable(project, "explain", "survey.toml")
    page = deniable(project, "explain", "survey.toml", "--public")
    assert "The report also shows which half of all answers it is about." in page
    assert "truthfully with probability 73.1%" in page


def test_without_the_file_the_name_is_unknown(project: Path) -> None:
    command = [sys.executable, "-m", "deniable", "check", "survey.toml"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "unknown mechanism 'paley'" in done.stdout
    load = [sys.executable, "-m", "deniable", "estimate", "browser", "--data", "simulated"]
    done = subprocess.run(load, cwd=project, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "Got 'paley'. Load the file that has the mechanism: --plugin FILE." in done.stderr


def test_it_is_planned(project: Path) -> None:
    rows = told(project, "plan", "--survey", "survey.json")["rows"]
    assert [row["mechanism"] for row in rows] == ["paley", "paley", "krr", "paley"]
    asked = ("--categories", 10, "--people", 10**5, "--epsilon", 1, "--mechanism", "paley")
    (alone,) = told(project, "plan", *asked)["rows"]
    assert (alone["mechanism"], alone["bytes"]) == ("paley", 5)


def test_its_encoder_runs(project: Path) -> None:
    lines = deniable(project, "encode", "browser", "edge", "--times", 200).splitlines()
    records = [bytes.fromhex(line) for line in lines]
    assert {record[0] for record in records} == set(range(7))  # 7 (6/7)^200 miss one
    assert {record[1:4] for record in records} == {bytes(3)}
    assert {record[4] for record in records} == {0, 1}


def test_real_clients_report_over_http_to_a_real_collector(project: Path, collector: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DEVICES, PLUGIN, "survey.json", "clients", collector],
        cwd=project, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for question in ("browser", "device"):
        fields = told(project, "count", question, "--data", "data")["fields"]
        assert all(counts["reports"] == [12] for counts in fields.values())
    with urllib.request.urlopen(f"{collector}/questions/browser", timeout=60) as answer:
        page = answer.read().decode()
    assert "<dt>Reports</dt><dd>12</dd>" in page
    assert "Bar chart of 5 estimated shares" in page
    assert "firefox" in page
    picture = f"{collector}/questions/browser/chart.svg?field=value"
    with urllib.request.urlopen(picture, timeout=60) as answer:
        assert b"<svg" in answer.read()


def shares(project: Path) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return the true shares of a simulation, and its estimates."""
    simulated = ("simulate", "browser", "--people", 50_000, "--seed", 151, "--data", "again")
    truth = told(project, *simulated)["truth"]["value"]
    return truth, told(project, "estimate", "browser", "--data", "again")["rows"]


def test_estimates_are_those_of_the_simulated_people(project: Path) -> None:
    truth, rows = shares(project)
    for row in rows:
        accept(mean(row["frequency"], truth[row["value"]], row["std_error"]), ALPHA)
    # The shares of the first and the last answer lie 40 standard errors apart.
    reject(mean(rows[0]["frequency"], truth["other"], rows[0]["std_error"]), ALPHA, miss=1e-12)
    counted = told(project, "count", "browser", "--data", "simulated")["fields"]["value"]
    assert counted["reports"] == [20_000]
    crafted = deniable(project, "estimate", "browser", "--data", "simulated", "--crafted", 0.01)
    assert "counts for up to 2.02 honest people" in crafted


def test_it_is_associated_with_a_field_of_k_rr(project: Path) -> None:
    words = ("associate", "device", "--fields", "browser", "dark", "--data", "simulated")
    printed = deniable(project, *words, "--crafted", "0.01")
    assert "browser by paley, dark by krr" in printed
    assert "P(dark | browser)" in deniable(project, *words)


def test_its_epsilon_is_proven_and_sampled(project: Path) -> None:
    found = told(project, "audit", "exact", "survey.json")
    arguments = {f["about"]: f.get("argument", "") for f in found["findings"]}
    assert "every draw enumerated" in arguments["browser"]
    assert "per symbol, given the shift" in arguments["town"]
    words = ("audit", "sample", "survey.json", "--trials", 400, "--processes", 2)
    assert told(project, *words)["holds"]  # in processes of their own, which load the file


def test_the_wire_shows_nothing_and_attackers_learn_what_epsilon_allows(project: Path) -> None:
    assert told(project, "audit", "wire", "survey.json")["holds"]
    found = told(project, "audit", "attack", "survey.json", "--devices", 500)
    assert found["holds"]
    assert {f["check"] for f in found["findings"] if f["about"] == "browser"} >= {
        "averaging",
        "targeting",
        "crafted reports",
    }


OWN = "Sign(2 * self.kept - 1), self._own, self.layout"
BROKEN = {
    "no own place": (
        (OWN, "Sign(2 * self.kept - 1), layout=self.layout"),
        "check",
        "'paley' has an incomplete channel: Channel needs values for: own.",
    ),
    "an own place that cannot be": (
        ("return sign(answer.code + public[0], self.prime)", "return answer.code + 2"),
        "audit exact",
        "The channel of paley gives an answer no own place",
    ),
    "another own place than the encoder has": (
        ("return sign(answer.code + public[0], self.prime)", "return 1"),
        "audit exact",
        "The channel of paley states another probability of a record than its encoder has.",
    ),
    "a public number without a law": (
        ("shift = uniform(", "from deniable.protocol.channel import Number\n"
         "        shift = Number('shift', (), False) or uniform("),
        "check",
        "The number 'shift' of a report has no law.",
    ),
    "a public number that the channel leaves out": (
        (f"Channel((shift,), {OWN}", f"Channel((), {OWN}"),
        "check",
        "The record holds 'shift', 'sign', of which the channel describes nothing",
    ),
    "another support than the channel has": (
        ("(1 - (2 * self.kept - 1) / self.prime) / 2", "Fraction(1, 2)"),
        "audit exact",
        "The support of paley is not its channel's: a report supports another answer with "
        "probability 0.46699",
    ),
    "an epsilon that is too small": (
        ("        return 1\n\n    def check", "        return Fraction(1, 2)\n\n    def check"),
        "audit exact",
        "worst ratio 2.718281828 = 6742825251438785381/2480546785415990427, ABOVE e^0.306853",
    ),
    "a record that is longer than its layout": (
        ('"sign": int(minus)})', '"sign": int(minus)}) + bytes(1)'),
        "audit exact",
        "refuses: The record must be 5 bytes long. Got 6.",
    ),
    "a layout that is too long": (
        ('number("sign", 2)))', 'number("sign", 2), packed("noise", 2**23)))'),
        "check",
        "A record of 1,048,581 bytes is too long: 524,288 are allowed.",
    ),
    "a name that is taken": (
        ('NAME = "paley"', 'NAME = "krr"'),
        "check",
        "There is a mechanism 'krr' already. Register yours under another name.",
    ),
    "a part that is missing": (
        ("    encoder=PaleyEncoder,\n", ""),
        "check",
        "The mechanism 'paley' has no encoder.",
    ),
    "a float that decides a coin": (
        ("kept = fresh.coin(parameters.keep)", "kept = fresh.coin(int(parameters.keep * 1.0))"),
        "audit exact",
        "the float 1.0",
    ),
    "randomness of its own": (
        ("kept = fresh.coin(parameters.keep)", "kept = bool(np.random.default_rng().integers(2))"),
        "audit exact",
        "uses np",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_named(fault: str, project: Path, tmp_path: Path) -> None:
    (old, new), verb, sentence = BROKEN[fault]
    text = PLUGIN.read_text()
    assert text.count(old) == 1
    text = text.replace(old, new).replace("import number\n", "import number, packed\n")
    broken = tmp_path / "broken.py"
    broken.write_text(text)
    command = [sys.executable, "-m", "deniable", *verb.split(), project / "survey.toml"]
    done = subprocess.run(
        [*command, "--plugin", broken], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert sentence in " ".join((done.stdout + done.stderr).split())
    assert "Traceback" not in done.stderr
