"""Several fields, mechanisms mixed, from the client over HTTP to table and heat map."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from deniable import Client
from deniable._distributions import chi2_sf
from deniable.authoring import read_authored
from deniable.cli.process import collector_process
from deniable.client.consent import Consent
from deniable.client.encode import encode
from deniable.client.randomness import StreamDraws
from deniable.protocol import Question, Report, Survey, batch_bytes
from deniable.protocol.epochs import day_number
from deniable.protocol.prf import Stream
from material.surveys import BOOLEAN, categories, listed, several, survey

PEOPLE = 1_500
HOSTS = ("mail.example", "news.example", "maps.example")
SURVEY = survey(
    several(
        "device",
        ("dark", BOOLEAN, "krr", "epsilon = 3.0"),
        ("host", listed("hosts.txt"), "rappor", "epsilon = 4.0, k = 32, h = 2, m = 4"),
        ("size", categories("small", "middle", "large"), "subset", "epsilon = 3.0"),
        description="What goes together?",
    )
)


def values(people: int) -> list[dict[str, object]]:
    """Return true answers: with dark mode on the first host is far more frequent."""
    rng = np.random.default_rng(11)
    answers: list[dict[str, object]] = []
    for _ in range(people):
        dark = bool(rng.random() < 0.5)
        host = HOSTS[0] if dark and rng.random() < 0.8 else HOSTS[int(rng.integers(3))]
        size = ("small", "middle", "large")[int(rng.integers(3))]
        answers.append({"dark": dark, "host": host, "size": size})
    return answers


def report(question: Question, person: int, value: dict[str, object]) -> Report:
    """Return what the encoder of a person's device makes of a value, the same in every run."""
    seed = hashlib.sha256(f"person {person}".encode()).digest()
    fresh = StreamDraws(Stream(hashlib.sha256(b"fresh" + seed).digest()))
    record = encode(question, value, seed, fresh)
    return Report(question.id, question.version, question.digest, day_number(), seed[:16], record)


def post(address: str, body: bytes) -> dict[str, int]:
    request = urllib.request.Request(
        f"{address}/v1/reports", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: dict[str, int] = json.loads(answer.read())
        return found


def get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=120) as answer:
        body: bytes = answer.read()
        return body


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "survey.toml").write_text(SURVEY)
    (tmp_path / "hosts.txt").write_text("\n".join(HOSTS) + "\n")
    survey = read_authored(tmp_path / "survey.toml").require()
    (tmp_path / "survey.json").write_bytes(survey.published())
    return tmp_path


def test_from_devices_to_what_goes_together(project: Path) -> None:
    survey = Survey.load(project / "survey.json")
    (question,) = survey.questions
    people = values(PEOPLE)
    reports = [report(question, person, value) for person, value in enumerate(people)]
    with collector_process(project / "survey.json", project / "data") as collector:
        for start in range(0, PEOPLE, 500):
            told = post(collector.address, batch_bytes(reports[start : start + 500]))
            assert told["accepted"] == 500
        with Client(
            survey, project / "state", collector.address, consent=Consent.GRANTED, strict=True,
            ceiling=16.0,
        ) as client:  # fmt: skip
            client.record("device", people[0])
            assert client.flush(timeout=60)
        page = get(f"{collector.address}/questions/device").decode()
        assert "dark and host depend on each other" in page
        picture = get(f"{collector.address}/questions/device/heat-map.svg?a=dark&b=size")
        assert picture.startswith(b"<svg")
    done = subprocess.run(
        [sys.executable, "-m", "deniable", "associate", "device", "--fields", "dark", "host",
         "--json", "-o", "heat.png"],
        cwd=project, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert read["n"] == PEOPLE + 1
    # Some answers are so rare that the test is a bootstrap: none of its 199 draws comes near, and
    # the statistic itself is as far out as ever.
    test = read["parts"]["tests"]["rows"][0]
    assert test["p_value"] == 0.005
    assert chi2_sf(test["statistic"], test["dof"]) < 1e-9
    mine = {(cell["dark"], cell["host"]): cell for cell in read["rows"]}
    true = sum(value["dark"] is True and value["host"] == HOSTS[0] for value in people) / PEOPLE
    cell = mine["true", HOSTS[0]]
    assert abs(cell["probability"] - true) < 6 * cell["std_error"] + 0.01
    assert (project / "heat.png").read_bytes().startswith(b"\x89PNG")
