"""A site with the JavaScript client, a collector, and the stage between them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page

from material.web_pages import Site, Stage, collecting, serving, survey_bytes

OPEN = """async ([collector, { entry = "/js/deniable.js", ...more }]) => {
  const { Client } = await import(entry);
  window.client = await Client.open({ survey: "/survey.json", collector,
    storage: "best-effort", ceiling: 1000, delay: 0, ...more });
  return window.client.state;
}"""
TALLY = """async () => {
  const counters = {};
  for (const { reason, number } of await client.counters()) {
    counters[reason] = (counters[reason] ?? 0) + number;
  }
  const reports = (await client.disclosed()).questions.reduce((sum, q) => sum + q.reports, 0);
  return { pending: (await client.pending()).length, reports, counters };
}"""


class World:
    """A site, a collector, and the stage between them."""

    def __init__(
        self,
        folder: Path,
        stack: ExitStack,
        survey: bytes | None = None,
        origins: Sequence[str] = (),
    ) -> None:
        survey = survey or survey_bytes(folder)
        self.site, self.stage, self.data = Site(survey), Stage(), folder / "data"
        self.origin = stack.enter_context(serving(self.site.handler()))
        self.stage.collector = stack.enter_context(
            collecting(folder, survey, [self.origin, *origins])
        )
        self._stage = stack.enter_context(serving(self.stage.handler()))
        self.site.policy = f"default-src 'self'; connect-src 'self' {self._stage}"

    @property
    def between(self) -> str:
        """The collector's address for pages of the present scene."""
        return f"{self._stage}/{self.stage.scene}"

    def ids(self) -> list[str]:
        """Return the ids of all reports that arrived in requests, repeated ones too."""
        batches = [json.loads(body)["reports"] for _, body in self.stage.seen]
        return [report["id"] for batch in batches for report in batch]


def opened(context: BrowserContext, world: World, **more: Any) -> Page:
    """Open a page with a client that has consent."""
    page = context.new_page()
    page.goto(f"{world.origin}/page")
    page.evaluate(OPEN, [world.between, more])
    page.evaluate("() => client.optIn()")
    return page
