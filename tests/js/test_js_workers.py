"""The client where there is no window: in a worker, and in the background of an extension."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Worker, sync_playwright

from material.web_pages import FLAGS, ROOT, chromium, executable
from material.web_world import World

WORK = """([entry, collector]) => new Promise((resolve, reject) => {
  const worker = new Worker("/js/tests/in_worker.js", { type: "module" });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage({ entry, collector });
})"""

BACKGROUND = """
import { Client } from "./js/deniable.bundle.js";
import { Client as Modules } from "./js/deniable.js";
Object.assign(globalThis, { Client, Modules });
"""

LOADED = """async () => {
  for (let i = 0; i < 1500 && !globalThis.Client; i++) await new Promise((r) => setTimeout(r, 20));
}"""

SEND = """async ([survey, collector]) => {
  const client = await Client.open({ survey, collector, storage: "best-effort", ceiling: 1000,
    delay: 0 });
  client.optIn();
  const made = await client.record("page", "mail.example");
  return [typeof window, made, await client.flush(), await client.counters()];
}"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        yield World(tmp_path_factory.mktemp("world"), stack)


@pytest.mark.parametrize("entry", ["/js/deniable.js", "/js/deniable.bundle.js"])
def test_a_worker_records_and_sends(world: World, entry: str) -> None:
    world.stage.seen.clear()
    with chromium() as browser, browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{world.origin}/page")
        told = page.evaluate(WORK, [entry, world.between])
    assert told == {
        "window": "undefined",
        "before": "no_consent",
        "made": True,
        "sent": True,
        "state": "ready",
    }
    assert len(world.ids()) == 1


@contextmanager
def extension(folder: Path) -> Iterator[Worker]:
    """Load an extension with the client in it; return its background."""
    shutil.copytree(ROOT / "js", folder / "js", ignore=shutil.ignore_patterns("node_modules"))
    (folder / "background.js").write_text(BACKGROUND)
    background = {"service_worker": "background.js", "type": "module"}
    about = {"manifest_version": 3, "name": "t", "version": "1", "background": background}
    (folder / "manifest.json").write_text(json.dumps(about))
    loaded = [f"--disable-extensions-except={folder}", f"--load-extension={folder}"]
    with sync_playwright() as playwright:
        context: BrowserContext = playwright.chromium.launch_persistent_context(
            folder.parent / "profile", executable_path=executable(), args=[*FLAGS, *loaded]
        )
        try:
            known = context.service_workers
            background = known[0] if known else context.wait_for_event("serviceworker")
            background.evaluate(LOADED)
            yield background
        finally:
            context.close()


def test_the_background_of_an_extension_records_and_sends(world: World, tmp_path: Path) -> None:
    """Service workers forbid `import()`: there the one file is imported."""
    with extension(tmp_path / "extension") as background, ExitStack() as stack:
        origin = background.evaluate("() => location.origin")
        own = World(tmp_path, stack, world.site.survey, origins=[origin])
        survey = world.site.survey.decode()
        window, made, sent, counters = background.evaluate(SEND, [survey, own.between])
        assert (window, made, sent) == ("undefined", True, True)
        assert counters == [{"question": "page", "reason": "uploaded", "number": 1}]
        assert len(own.ids()) == 1
        refused = "() => Modules.open({ survey: '{}' }).catch((error) => error.message)"
        assert "import() is disallowed" in background.evaluate(refused)
