"""The example apps, used as a person uses them: in a terminal, in a pipe, on a screen."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.authoring import read_authored
from deniable.client import Client, Consent
from material.clients import KNOWN, collector

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TALLY = EXAMPLES / "cli_tool/tally.py"
SECONDS = 60
CLEAN = ("DO_NOT_TRACK", "DENIABLE_CONSENT", "DENIABLE_DEBUG", "CI", "GITHUB_ACTIONS")


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in CLEAN}
    (tmp_path / "text.txt").write_text("three small words\n")
    nobody = "http://127.0.0.1:9"
    return {**kept, "XDG_STATE_HOME": str(tmp_path / "state"), "TALLY_COLLECTOR": nobody}


def typed(environment: dict[str, str], folder: Path, keys: str, *words: str) -> str:
    """Run the tool in a terminal of its own, type some keys, and return what the screen shows."""
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, TALLY, *words],
        cwd=folder,
        env=environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    os.write(screen, keys.encode())
    try:
        shown, deadline = b"", time.monotonic() + SECONDS
        while time.monotonic() < deadline and select.select([screen], [], [], SECONDS)[0]:
            try:
                shown += os.read(screen, 65_536)
            except OSError:  # the other side has closed
                break
        assert process.wait(SECONDS) == 0, shown.decode()
    finally:
        process.kill()
        os.close(screen)
    return shown.decode().replace("\r\n", "\n")


def piped(environment: dict[str, str], folder: Path, *words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, TALLY, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
    )


def stored(folder: Path) -> Consent:
    with Client(TALLY.with_name("survey.json"), folder / "state/tally", strict=True) as client:
        return client.consent


@pytest.mark.parametrize("name", ["cli_tool", "desktop"])
def test_the_published_survey_is_that_of_the_text(name: str) -> None:
    written = read_authored(EXAMPLES / name / "survey.toml").require()
    assert (EXAMPLES / name / "survey.json").read_bytes() == written.published()


@pytest.mark.parametrize(
    ("keys", "consent"),
    [("y\n", "granted"), ("n\n", "denied"), ("\n", "denied"), ("maybe\nd\nyes\n", "granted")],
)
def test_the_first_run_in_a_terminal_asks_and_the_second_does_not(
    tmp_path: Path, surroundings: dict[str, str], keys: str, consent: str
) -> None:
    shown = typed(surroundings, tmp_path, keys, "words", "text.txt")
    assert "tally would like to know how it is used" in shown
    assert "DO_NOT_TRACK" in shown
    assert ("A guess of 1 in 2" in shown) == ("d\n" in keys)
    assert "3  text.txt" in shown
    assert stored(tmp_path) is Consent(consent)
    again = typed(surroundings, tmp_path, "", "words", "text.txt")
    assert again.strip() == "3  text.txt"


def test_an_end_of_input_is_no_answer(tmp_path: Path, surroundings: dict[str, str]) -> None:
    assert "May these answers" in typed(surroundings, tmp_path, "\x04", "words", "text.txt")
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("more", [{}, {"CI": "true"}, {"DO_NOT_TRACK": "1"}])
def test_a_pipe_and_a_build_service_hear_nothing_and_keep_nothing(
    tmp_path: Path, surroundings: dict[str, str], more: dict[str, str]
) -> None:
    done = piped({**surroundings, **more}, tmp_path, "words", "text.txt")
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("3  text.txt", "", 0)
    if more:
        shown = typed({**surroundings, **more}, tmp_path, "y\n", "words", "text.txt")
        assert "May these answers" not in shown
    assert not (tmp_path / "state").exists()


def test_reports_wait_are_shown_and_leave(tmp_path: Path, surroundings: dict[str, str]) -> None:
    piped(surroundings, tmp_path, "telemetry", "on")
    piped(surroundings, tmp_path, "words", "text.txt")
    told = piped(surroundings, tmp_path, "telemetry", "show").stdout
    assert "Waiting to be sent: 2 reports." in told
    assert told.count("'record': ") == 2
    with collector() as served:
        state = tmp_path / "state/tally"
        with Client(TALLY.with_name("survey.json"), state, served.url) as client:
            KNOWN.update({question.digest: question for question in client.survey.questions})
            assert client.flush(SECONDS)
    assert len(served.bodies) == 2
    assert "denied" in piped(surroundings, tmp_path, "telemetry", "off").stdout


def test_the_debug_mode_prints_and_uses_nothing_up(
    tmp_path: Path, surroundings: dict[str, str]
) -> None:
    piped(surroundings, tmp_path, "telemetry", "on")
    before = {path: path.read_bytes() for path in (tmp_path / "state/tally").iterdir()}
    for _ in range(2):
        done = piped({**surroundings, "DENIABLE_DEBUG": "1"}, tmp_path, "words", "text.txt")
        assert done.stderr.count('"record":') == 2
    assert {path: path.read_bytes() for path in (tmp_path / "state/tally").iterdir()} == before


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[str]:
    """A screen without a monitor."""
    server = shutil.which("Xvfb")
    assert server, "Install Xvfb: scripts/test does."
    reading, writing = os.pipe()
    command = [server, "-displayfd", str(writing), "-screen", "0", "800x600x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        assert select.select([reading], [], [], SECONDS)[0], "Xvfb does not start"
        yield f":{os.read(reading, 16).decode().strip()}"
    finally:
        os.close(reading)
        process.terminate()
        process.wait(SECONDS)


DRIVEN = """
import sys, tkinter as tk
sys.path.insert(0, {folder!r})
import notes
from deniable import Client
root = tk.Tk()
app = notes.Notes(root, Client(notes.SURVEY, {state!r}))
def press(label):
    [button] = [b for b in app.asking.winfo_children() if b.winfo_class() == "Button"
                and b["text"] == label]
    button.invoke()
def write(text):
    app.entry.insert(0, text)
    app.add()
write("before the answer")
print("asked", app.asking is not None, len(app.client.pending()))
press({label!r})
write("my secret note")
app.theme.set("dark")
app.choose()
app.client.flush()
print("waiting", len(app.client.pending()), app.asking is None)
window = app.show()
text = window.winfo_children()[0].get("1.0", "end")
print("shown", "secret" not in text, text.count("'record': "))
root.update()
app.close()
"""


@pytest.mark.parametrize(("label", "reports"), [("Agree", 2), ("No", 0)])
def test_the_desktop_app_asks_in_its_window_and_shows_what_waits(
    tmp_path: Path, surroundings: dict[str, str], screen: str, label: str, reports: int
) -> None:
    program = DRIVEN.format(
        folder=str(EXAMPLES / "desktop"), state=str(tmp_path / "notes"), label=label
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**surroundings, "DISPLAY": screen},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "asked True 0",
        f"waiting {reports} True",
        f"shown True {reports}",
    ]
