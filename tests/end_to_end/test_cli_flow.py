"""The whole command line, as a new user goes through it: real processes, a real store."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from deniable.cli.process import collector_process
from material.surveys import STARTER


def run(folder: Path, *arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `deniable` in a folder and expect an exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "deniable", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published survey with simulated reports to every question."""
    folder = tmp_path_factory.mktemp("project")
    run(folder, "init")
    (folder / "survey.toml").write_bytes(STARTER.read_bytes())  # with Bloom filters, too
    run(folder, "publish", "survey.toml")
    (folder / "pages.txt").write_text("news\nmail\nmaps\n")
    for question in ("dark-mode", "browser", "memory"):
        run(folder, "simulate", question, "--people", 20_000, "--seed", 1)
    run(folder, "simulate", "homepage", "--people", 20_000, "--candidates", "pages.txt")
    return folder


def test_estimate_agrees_with_the_truth_that_simulate_printed(project: Path) -> None:
    truth = json.loads(
        run(project, "simulate", "dark-mode", "--people", 200_000, "--json", "--seed", 7).stdout
    )["truth"]["value"]
    rows = json.loads(
        run(project, "estimate", "dark-mode", "--data", "simulated", "--json").stdout
    )["rows"]
    for row in rows:  # 6 standard errors: fails by chance once in 10^8 runs of a fresh seed
        assert abs(row["frequency"] - truth[row["value"]]) < 6 * row["std_error"] + 0.02


def test_estimate_writes_every_kind_of_file(project: Path) -> None:
    names = [f"out/result.{suffix}" for suffix in ("csv", "json", "parquet", "png", "svg", "html")]
    outputs = [part for name in names for part in ("-o", name)]
    asked = ("estimate", "homepage", "--data", "simulated", "--candidates", "pages.txt")
    printed = run(project, *asked, *outputs).stdout
    assert "95% interval" in printed
    with (project / "out/result.csv").open() as file:
        values = {row["value"] for row in csv.DictReader(file)}
    assert values == {"news", "mail", "maps"}
    rows = json.loads((project / "out/result.json").read_text())["rows"]
    assert {row["value"] for row in rows} == values
    assert pq.read_table(project / "out/result.parquet").num_rows == 3
    assert (project / "out/result.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (project / "out/result.svg").read_text()
    assert "<html" in (project / "out/result.html").read_text().lower()


def test_count_and_export_hold_every_report(project: Path) -> None:
    where = ("browser", "--data", "simulated", "--json")
    counts = json.loads(run(project, "count", *where).stdout)["fields"]["value"]
    assert counts["reports"] == [20_000]
    for name in ("reports.parquet", "reports.ndjson"):
        told = json.loads(run(project, "export", *where, "-o", name).stdout)
        assert told["reports"] == 20_000
    assert pq.read_table(project / "reports.parquet").num_rows == 20_000
    assert len((project / "reports.ndjson").read_text().splitlines()) == 20_000


def test_encode_shows_reports_of_the_declared_size_and_keeps_the_cohort(project: Path) -> None:
    secret = project / "secret"
    secret.write_bytes(os.urandom(32))
    lines = run(
        project, "encode", "homepage", "news", "--secret-file", secret, "--times", 5
    ).stdout.splitlines()
    records = [bytes.fromhex(line) for line in lines]
    assert {len(record) for record in records} == {18}
    assert len({record[:2] for record in records}) == 1
    assert len({record[2:] for record in records}) == 5
    report = json.loads(run(project, "encode", "dark-mode", "yes", "--json").stdout)
    assert sorted(report) == ["digest", "epoch", "id", "question", "record", "version"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("estimate", "nothing"), 1, "The survey has: browser, dark-mode, homepage, memory."),
        (("estimate", "browser", "--survey", "other.json"), 1, "deniable publish"),
        (("estimate", "browser", "--data", "empty"), 4, "There is no store"),
        (("encode", "dark-mode", "maybe"), 1, "A boolean is one of"),
        (("encode", "memory", "lots"), 1, "must be a number"),
        (("explain", "survey.toml", "--people", "0"), 2, "people"),
        (("estimate", "homepage", "--candidates", "absent.txt"), 1, "absent.txt"),
        (("publish", "absent.toml"), 1, "absent.toml"),
        (("nonsense",), 2, "nonsense"),
    ],
)
def test_mistakes_get_one_clear_message_and_the_documented_exit_code(
    project: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = run(project, *arguments, code=code)
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_serve_announces_a_working_address_and_ends_when_told(project: Path) -> None:
    data = project / "simulated"
    with collector_process(project / "survey.json", data, simulated=True) as collector:
        with urllib.request.urlopen(f"{collector.address}/v1/survey", timeout=10) as answer:
            assert answer.read() == (project / "survey.json").read_bytes()
        with urllib.request.urlopen(f"{collector.address}/questions/browser", timeout=60) as page:
            assert "firefox" in page.read().decode()
        process = collector.process
    assert process.returncode == -signal.SIGTERM  # after finishing what it had begun


def test_a_new_token_opens_the_dashboard_and_nothing_else_does(project: Path) -> None:
    made = json.loads(run(project, "serve", "--new-token", "--json").stdout)
    environment = {**os.environ, "DENIABLE_ANALYST_TOKEN_HASH": made["hash"]}
    command = [sys.executable, "-m", "deniable", "serve", "--json", "--port", "0"]
    with subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            address = json.loads(process.stdout.readline())["address"]
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(f"{address}/", timeout=10)
            request = urllib.request.Request(f"{address}/")
            request.add_header("Authorization", f"Bearer {made['token']}")
            with urllib.request.urlopen(request, timeout=10) as page:
                assert page.status == 200
        finally:
            process.terminate()


@pytest.mark.parametrize(
    ("missing", "arguments", "extra"),
    [
        (("typer", "rich"), (), "cli"),
        (("numpy",), ("estimate", "browser"), "analysis"),
        (("starlette", "uvicorn"), ("serve",), "server"),
    ],
)
def test_a_missing_extra_is_one_sentence_with_the_command_that_installs_it(
    project: Path, missing: tuple[str, ...], arguments: tuple[str, ...], extra: str
) -> None:
    done = run_without(project, missing, arguments)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert f"needs the '{extra}' extra. Install" in done.stderr
    assert "pip install 'deniable[" in done.stderr


def test_checking_a_survey_needs_neither_analysis_nor_server(project: Path) -> None:
    missing = ("numpy", "scipy", "pyarrow", "altair", "starlette", "uvicorn", "msgspec", "jinja2")
    done = run_without(project, missing, ("check", "survey.toml"))
    assert done.returncode == 0, done.stderr
    assert "ready to be published" in done.stdout


def run_without(
    folder: Path, missing: tuple[str, ...], arguments: tuple[str, ...]
) -> subprocess.CompletedProcess[str]:
    """Run `deniable` where some packages cannot be imported."""
    script = (
        "import sys\n"
        f"for name in {missing!r}: sys.modules[name] = None\n"
        f"sys.argv[1:] = {list(arguments)!r}\n"
        "from deniable.__main__ import main; main()"
    )
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
