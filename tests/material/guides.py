"""A folder in which every command of the guides runs, made once: a survey, reports, lists.

A block that is not run says why in its first line, "```sh not run: REASON", or its page says it for
all of its blocks in a comment, "<!-- not run: REASON -->". A reason is one of `REASONS`, or the
path of the test that runs the block instead.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path

from typer.testing import CliRunner

from material.commands import APP, call
from material.snippets import HIDDEN, ROOT, Block, Reader

REASONS = {
    "measurement": "it takes minutes to hours, and what it prints is one run's",
    "other system": "it names a system that the tests do not install, or somebody's own server",
    "installation": "it installs packages",
    "excerpt": "it is a part of a file, and whole ones of its kind are read",
    "the checks themselves": "it would run this very test",
}
OTHERS = ("README.md", "CONTRIBUTING.md", "docs/site/pages/index.md")
GUIDES = sorted([*ROOT.glob("docs/*.md"), *(ROOT / name for name in OTHERS)])
NOBODY = "http://127.0.0.1:9"
_PAGE_REASON = re.compile(r"^<!-- not run: (\S+)[^\n]*-->$", re.MULTILINE)

# Its ceiling has room for all questions: below their sum a device leaves some out, by chance.
SURVEY = """
name = "guides"
owner = "guides@example.org"
people = 1_000_000
ceiling = 100

[[segments]]
name = "platform"
values = ["linux", "mac", "windows"]

[[segments]]
name = "arm"
values = ["control", "new"]

[[questions]]
id = "dark-mode"
description = "Is dark mode on?"
expires = 2099-12-31
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "dark"
description = "Is dark mode on?"
expires = 2099-12-31
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "signup"
description = "Did the person sign up?"
expires = 2099-12-31
segments = ["arm"]
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "browser"
description = "Which browser?"
expires = 2099-12-31
epoch = 7
segments = ["platform"]
domain = { type = "categories", values = ["firefox", "chrome", "safari"] }
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "crash"
description = "Why did it crash?"
expires = 2099-12-31
domain = { type = "categories", values = ["out-of-memory", "bug"] }
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "colour"
description = "Which colour?"
expires = 2099-12-31
domain = { type = "categories", values = ["red", "green", "blue"] }
mechanism = "krr"
[[questions.levels]]
name = "strict"
epsilon = 0.5
[[questions.levels]]
name = "open"
epsilon = 2.0

[[questions]]
id = "memory"
description = "How much memory?"
expires = 2099-12-31
domain = { type = "numbers", low = 1, high = 256, bins = 8, scale = "log" }
mechanism = "krr"
parameters = { epsilon = 2.0 }

[[questions]]
id = "homepage"
description = "Which page?"
expires = 2099-12-31
domain = { type = "strings", candidates = "pages.txt" }
mechanism = "rappor"
parameters = { k = 128, h = 2, m = 16, f = 0.5, p = 0.5, q = 0.75 }

[[questions]]
id = "visits"
description = "Which site, in which mode?"
expires = 2099-12-31
[[questions.fields]]
name = "site"
domain = { type = "strings", alphabet = "aimnpsuwelc", length = 5 }
mechanism = "prefixes"
parameters = { epsilon = 4.0 }
[[questions.fields]]
name = "dark"
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 2.0 }

"""
SMALL = SURVEY.partition('[[questions]]\nid = "dark"')[0]
"""Of one question: audits and pages of disclosure take their time from the number of questions."""

ASKED = ("dark-mode", "dark", "signup", "browser", "memory", "homepage", "adware", "trips")
PEOPLE = 3_000


def reason_of(page: str) -> str:
    """Return why no block of a page is run here; empty if they are."""
    found = _PAGE_REASON.search(page)
    return found[1] if found else ""


def make_world(folder: Path) -> None:
    """Write the folder: the survey with the questions that pages declare, and reports to each."""
    pages = (ROOT / "docs" / f"{name}.md" for name in ("associate", "marginals", "discover"))
    declared = [
        text
        for page in pages
        for text in re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        if "expires" in text
    ]
    own = [text.partition("[[questions]]\n")[2] for text in declared]
    whole = SURVEY + "".join(f"[[questions]]\n{text}\n" for text in own)
    (folder / "survey.toml").write_text(whole.replace("2027-12-31", "2099-12-31"), "utf-8")
    for name in ("pages.txt", "extensions.txt", "list.txt"):
        (folder / name).write_text("news\nmail\nmaps\nmusic\n", "utf-8")
    rows = "\n".join(["red", "green", "blue"] * 100)
    (folder / "people.csv").write_text(f"colour\n{rows}\n", "utf-8")
    survey, data = folder / "survey.json", folder / "data"
    call("publish", folder / "survey.toml", "-o", survey)
    place = ("--survey", survey, "--data", data, "--into-real-store", "--seed", 1)
    for name in ASKED:
        call("simulate", name, "--people", PEOPLE, *place)
    for level in ("strict", "open"):
        call("simulate", "colour", "--level", level, "--people", PEOPLE, *place)
    call("simulate", "site", "--people", 20_000, "--candidates", folder / "list.txt", *place)
    call("simulate", "visits", "--people", 20_000, "--candidates", folder / "list.txt", *place)
    call("store", "close", "homepage", "--data", data)
    for city in ("berlin", "paris"):
        told = ("--survey", survey, "--data", data, "-o", folder / f"{city}.counts")
        call("count", "dark", *told)
    shutil.copytree(ROOT / "examples/cli_tool", folder, dirs_exist_ok=True, ignore=_not_survey)
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "README.md").write_text("three words here\n", "utf-8")
    (folder / "my_app.py").write_text(
        "def start(client):\n    client.record('dark-mode', True)\n", "utf-8"
    )


def _not_survey(_: str, names: list[str]) -> set[str]:
    return {name for name in names if name.startswith(("survey", "__"))}


class Guided(Reader):
    """Follows a guide: commands of one line run in this process, all others as real ones."""

    def take(self, block: Block) -> None:
        """Run a block, unless its first line says why not."""
        if not block.name.startswith("not run: "):
            text = block.text.replace("https://telemetry.example.org", NOBODY)
            super().take(block._replace(text=text))

    def _shell(self, text: str) -> None:
        lines = [line for line in text.splitlines() if line.strip()]
        if any(_needs_a_process(line) for line in lines):
            super()._shell(text)
            return
        self.printed = ""
        before, names = Path.cwd(), ("COLUMNS", *HIDDEN)
        kept = {name: os.environ.get(name) for name in names}
        os.chdir(self.folder)
        os.environ["COLUMNS"] = "100"
        try:
            for line in lines:
                self._in_process(line)
        finally:
            os.chdir(before)
            for name, value in kept.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value

    def _in_process(self, line: str) -> None:
        words = shlex.split(line, comments=True)
        target = words[-1] if ">" in words else None
        words = words[1 : words.index(">")] if target else words[1:]
        result = CliRunner().invoke(APP, words)
        assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"
        if target:
            (self.folder / target).write_text(result.stdout, "utf-8")
        self.printed += result.output


def _needs_a_process(line: str) -> bool:
    """Tell whether a line is more than a call of this program that leaves nothing behind."""
    plain = re.match(r"deniable (?!serve|audit wire)", line) and "&&" not in line
    return not plain or "--plugin" in line or "--engine" in line or "|" in line


def has_shape(shown: object, printed: object) -> bool:
    """Tell whether every member of a shown JSON is one of the printed JSON, however deep."""
    if isinstance(shown, dict):
        return isinstance(printed, dict) and all(
            name in printed and has_shape(value, printed[name]) for name, value in shown.items()
        )
    if isinstance(shown, list) and shown:
        return isinstance(printed, list) and has_shape(shown[0], printed[0])
    return True


def loads(text: str) -> object:
    """Read JSON in which … and ... stand for anything."""
    return json.loads(re.sub(r"\[\s*(?:\.\.\.|…)\s*\]", "[]", text))
