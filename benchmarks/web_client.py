"""The time that a record takes from a web page's main thread, against one empty transaction.

RAPPOR of 128 bits in real Chromium: a survey of 40 such questions, answered day after day with new
values, so that every record derives its keys, draws 128 permanent and 128 fresh coins, and commits.
Reports wait; in the last row hundreds do. The system counts the nanoseconds that the main thread of
the page's process runs (Linux: /proc/PID/schedstat), whatever else the machine does. All that
follows from a record is in it, and so is being asked for it from outside, twice; the others are
asked in the same way. The empty one writes a small object in a strict transaction over two stores.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import numpy as np
from playwright.sync_api import Browser, Page

from deniable.authoring import read_authored
from material.web_pages import Site, chromium, serving

QUESTIONS = 40
RECORDS = 440
TRIED_FIRST = 40
OPEN = """async () => {
  const { Client } = await import("/js/deniable.js");
  window.client = await Client.open({ survey: "/survey.json", storage: "best-effort",
    ceiling: 1e6 });
  await client.optIn();
}"""
RECORD = f"""async (number) => {{
  const day = 20000 + Math.floor(number / {QUESTIONS});
  Date.now = () => 86400000 * day;
  const now = performance.now();
  const made = client.record(`page${{number % {QUESTIONS}}}`, `value ${{number}}`);
  const call = performance.now() - now;
  if (!(await made)) throw new Error("not recorded");
  return call;
}}"""
EMPTY = """async (number) => {
  window.base ??= await new Promise((resolve, reject) => {
    const asked = indexedDB.open("empty", 1);
    asked.onupgradeneeded = () => {
      for (const name of ["a", "b"]) asked.result.createObjectStore(name);
    };
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = reject;
  });
  const now = performance.now();
  const done = new Promise((resolve, reject) => {
    const change = base.transaction(["a", "b"], "readwrite", { durability: "strict" });
    change.objectStore("a").put({ number }, "state");
    Object.assign(change, { oncomplete: resolve, onabort: reject });
  });
  const call = performance.now() - now;
  await done;
  return call;
}"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        origin = stack.enter_context(serving(Site(_survey(Path(folder))).handler()))
        browser = stack.enter_context(chromium())
        page = stack.enter_context(browser.new_context()).new_page()
        page.goto(f"{origin}/page")
        page.evaluate(OPEN)
        found = {
            "nothing": measured(page, browser, "() => 0", 0),
            "empty transaction": measured(page, browser, EMPTY, 0),
            "record": measured(page, browser, RECORD, 0),
            "record, many waiting": measured(page, browser, RECORD, RECORDS),
        }
    ratio = found["record"]["p50_ms"] / found["empty transaction"]["p50_ms"]
    own = found["record"]["p99_ms"] - found["nothing"]["p50_ms"]
    if wanted.json:
        print(json.dumps({**found, "own_p99_ms": own, "ratio": ratio}))
        return
    print(f"{'milliseconds of the main thread':34}{'p50':>8}{'p99':>8}{'call p99':>10}")
    for name, times in found.items():
        print(f"{name:34}{times['p50_ms']:8.2f}{times['p99_ms']:8.2f}{times['call_p99_ms']:10.2f}")
    print(f"{'record, less being asked':34}{own:16.2f}")
    print(f"{'record / empty transaction':34}{ratio:8.2f}")


def _survey(folder: Path) -> bytes:
    """Return a published survey of RAPPOR with 128 bits."""
    asked = (
        f'[[questions]]\nid = "page{number}"\ndescription = "?"\nexpires = 2099-12-31\n'
        'domain = "strings"\nmechanism = "rappor"\n'
        "parameters = { k = 128, h = 2, m = 16, f = 0.5, p = 0.5, q = 0.75 }\n"
        for number in range(QUESTIONS)
    )
    (folder / "survey.toml").write_text('name = "t"\nowner = "t"\n' + "".join(asked))
    return read_authored(folder / "survey.toml").require().published()


def main_thread(page: Page, browser: Browser) -> Path:
    """Return the file in which the system counts the run of the page's main thread."""
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    found = [Path(f"/proc/{p['id']}/schedstat") for p in processes if p["type"] == "renderer"]
    before = {path: counted(path) for path in found}
    page.evaluate("() => { const end = performance.now() + 500; while (performance.now() < end); }")
    return max(found, key=lambda path: counted(path) - before[path])


def counted(path: Path) -> float:
    """Return the milliseconds that a thread has run."""
    return int(path.read_text().split()[0]) / 1e6


def measured(page: Page, browser: Browser, script: str, first: int) -> dict[str, float]:
    """Return quantiles of the main thread's time for each run of a script, in milliseconds."""
    thread = main_thread(page, browser)

    def spent() -> float:
        page.evaluate("() => 0")  # what came before is done when this is
        return counted(thread)

    tasks, calls = [], []
    for number in range(first, first + RECORDS):
        before = spent()
        calls.append(page.evaluate(script, number))
        tasks.append(spent() - before)
    # The first ones compile, and do not count.
    times, called = (np.quantile(each[TRIED_FIRST:], (0.5, 0.99)) for each in (tasks, calls))
    return {"p50_ms": times[0], "p99_ms": times[1], "call_p99_ms": called[1]}


if __name__ == "__main__":
    main()
