"""`pip install 'deniable[cli,server]'` alone serves, collects and keeps house."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from material.bare import bare_python, packages_of
from material.collector_process import JSON, SURVEY, batch
from material.served import Serving, ask


def test_a_collector_needs_no_package_of_the_analysis(tmp_path: Path) -> None:
    heavy = {"scipy", "numba", "pyarrow", "altair", "scikit-learn", "llvmlite", "psycopg"}
    assert heavy & set(packages_of("cli", "server")) == set()
    assert {"scipy", "numba", "llvmlite"} <= set(packages_of("analysis"))  # the lists are true
    deniable = bare_python(tmp_path, "cli", "server")

    def run(*words: str) -> tuple[int, str]:
        done = subprocess.run([*deniable, *words], cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    assert run("init")[0] == 0
    assert run("publish", "survey.toml")[0] == 0
    assert run("keys", "make", "desktop")[0] == 0
    (tmp_path / "survey.json").write_bytes(SURVEY.published())
    with Serving(tmp_path, before=deniable) as serving:
        sent = ask(serving.port, "POST", "/v1/reports", batch(range(40)), JSON)
        assert (sent.status, json.loads(sent.body)["accepted"]) == (200, 40)
        assert ask(serving.port, "GET", "/v1/survey").body == SURVEY.published()
        for path in ("/healthz", "/readyz", "/v1/counters", "/metrics", "/openapi.json"):
            assert ask(serving.port, "GET", path).status == 200, path
        for path in ("/", "/questions/words", "/health"):
            page = ask(serving.port, "GET", path)
            assert page.status == 501
            assert b"The dashboard needs the 'analysis' extra." in page.body
            assert b"pip install 'deniable[analysis]'" in page.body
        assert serving.hang_up() == {"taken": []}
    assert run("store", "check")[0] == 0
    assert run("store", "close", "words")[0] == 0
    assert run("backup", "copy")[0] == 0
    assert run("restore", "copy", "--data", "again")[0] == 0
    assert run("delete", "words", "--data", "again")[0] == 0
    code, said = run("estimate", "words")
    assert code == 3
    assert "needs the 'analysis' extra" in said


def test_the_command_line_alone_names_what_a_collector_needs(tmp_path: Path) -> None:
    done = subprocess.run(
        [*bare_python(tmp_path, "cli"), "serve"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert "needs the 'server' extra" in done.stderr
