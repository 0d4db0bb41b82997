"""The demo's survey: single answers, two that go together, many at once, and unlisted strings."""

from __future__ import annotations

from pathlib import Path

from deniable.authoring import read_authored
from deniable.cli.output import write_file
from deniable.protocol import Survey

SURVEY = """\
name = "demo"
owner = "demo@example.org"
people = 300_000

[[questions]]
id = "dark-mode"
description = "Is dark mode on?"
expires = 2099-12-31
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "browser"
description = "The browser that is opened most."
expires = 2099-12-31
epoch = 7
domain = { type = "categories", values = ["firefox", "chrome", "safari", "edge", "other"] }
mechanism = "rappor"
parameters = { epsilon = 1.0, epsilon_forever = 4.0 }

[[questions]]
id = "homepage"
description = "The page shown at start."
expires = 2099-12-31
epoch = 7
domain = { type = "strings", candidates = "homepages.txt" }
mechanism = "rappor"
parameters = { k = 128, h = 2, m = 16, f = 0.5, p = 0.5, q = 0.75 }

[[questions]]
id = "memory"
description = "Memory of the machine in GiB."
expires = 2099-12-31
domain = { type = "numbers", low = 1, high = 256, bins = 8, scale = "log" }
mechanism = "krr"
parameters = { epsilon = 2.0 }

[[questions]]
id = "device"
description = "Which theme goes with which browser?"
expires = 2099-12-31

[[questions.fields]]
name = "theme"
domain = { type = "categories", values = ["light", "dark", "system"] }
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions.fields]]
name = "browser"
domain = { type = "categories", values = ["firefox", "chrome", "safari", "edge", "other"] }
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "features"
description = "Which features are used?"
expires = 2099-12-31
mechanism = "auto"
parameters = { epsilon = 1.0 }

[[questions.fields]]
name = "sync"
domain = "boolean"

[[questions.fields]]
name = "sidebar"
domain = "boolean"

[[questions.fields]]
name = "reader"
domain = "boolean"

[[questions.fields]]
name = "voice"
domain = "boolean"

[[questions.fields]]
name = "private"
domain = "boolean"

[[questions]]
id = "search"
description = "The last word that was searched for, whatever it was."
expires = 2099-12-31
domain = { type = "strings", alphabet = "abcdefghijklmnopqrstuvwxyz", length = 8 }
mechanism = "prefixes"
parameters = { epsilon = 1.5 }
"""

PAGES = """
news search mail weather video maps wiki music
photos shop sports games recipes travel books bank
forum jobs library museum radio garden school market
"""
HOMEPAGES = tuple(f"https://{name}.example" for name in PAGES.split())
WORDS = tuple(PAGES.split())
"""The words that people search for. The survey lists none: discovery finds the frequent ones."""


def publish_demo(folder: Path) -> Survey:
    """Write survey.toml, its candidates and survey.json into `folder`; return the survey."""
    write_file(folder / "survey.toml", SURVEY.encode())
    write_file(folder / "homepages.txt", "".join(f"{page}\n" for page in HOMEPAGES).encode())
    survey = read_authored(folder / "survey.toml").require()
    write_file(folder / "survey.json", survey.published())
    return survey
