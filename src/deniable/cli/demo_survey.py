"""The demo's survey: four questions, every kind of domain, both mechanisms."""

from __future__ import annotations

from pathlib import Path

from deniable.cli.output import write_file
from deniable.protocol import Survey, read_authored

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
"""

PAGES = """
news search mail weather video maps wiki music
photos shop sports games recipes travel books bank
forum jobs library museum radio garden school market
"""
HOMEPAGES = tuple(f"https://{name}.example" for name in PAGES.split())


def publish_demo(folder: Path) -> Survey:
    """Write survey.toml, its candidates and survey.json into `folder`; return the survey."""
    write_file(folder / "survey.toml", SURVEY.encode())
    write_file(folder / "homepages.txt", "".join(f"{page}\n" for page in HOMEPAGES).encode())
    survey = read_authored(folder / "survey.toml").require()
    write_file(folder / "survey.json", survey.published())
    return survey
