"""Pages of the dashboard in real Chromium: bytes as transferred, requests, first paint.

A store of many questions with reports in some epochs, of which all but the last are closed, and the
collector's own process. Each page is opened cold (a new profile without a cache), warm (the same
page once more), and the list also before any answer was computed. Bytes are those that came over
the connection, compressed, with headers; first paint is the browser's own first-contentful-paint,
from the start of the navigation. The text of the same page, not compressed, stands beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import numpy as np
from playwright.sync_api import Browser, BrowserContext

from deniable.authoring import read_authored
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Survey
from deniable.protocol.epochs import day_number
from deniable.store import Batch, open_store
from material.cluster import in_memory
from material.surveys import asked, categories, survey
from material.web_pages import chromium, collecting

EPOCHS = 12
BAR = 150_000
"""The most bytes of the list of 500 questions, as transferred."""
_LONGEST_WAIT = 300


def main() -> int:
    """Measure and print; end with 1 if the list of 500 questions is too large."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, nargs="+", default=[10, 500])
    parser.add_argument("--reports", type=int, default=10_000_000, help="of all questions together")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    wanted = parser.parse_args()
    found = []
    with chromium() as browser:
        for questions in wanted.questions:
            # In memory where that is: thousands of commits while filling are not what is measured.
            with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
                found.append(measured(Path(folder), browser, questions, wanted))
    if wanted.json:
        print(json.dumps(found))
    else:
        for one in found:
            show(one)
    lists = [row for one in found for row in one["pages"] if row["page"] == "/"]
    return int(any(row["bytes"] > BAR for row in lists))


def measured(
    folder: Path, browser: Browser, questions: int, wanted: argparse.Namespace
) -> dict[str, Any]:
    """Fill a store, serve it, and look at its pages."""
    published = fill(folder, questions, wanted.reports, wanted.epochs)
    with collecting(folder, published.published(), []) as address:
        rows = [look(browser, address, "/", "nothing computed")]
        seconds = until_computed(browser, address)
        name = published.questions[0].id
        for page in ("/", f"/questions/{name}", "/budget", "/health"):
            context = browser.new_context()
            rows.append(look(browser, address, page, "cold", context))
            rows.append(look(browser, address, page, "warm", context))
            context.close()
    return {"questions": questions, "reports": wanted.reports, "computed": seconds, "pages": rows}


def fill(folder: Path, questions: int, reports: int, epochs: int) -> Survey:
    """Publish a survey and write its reports; close all epochs but the last."""
    kinds = ('"boolean"', categories("red", "green", "blue", "other"))
    texts = [
        asked(
            f"area{i % 20:02}.question-{i:03}",
            kinds[i % 2],
            description=f"What do people say about part {i * 7919 % 1000} of this product?",
            more='repeat = "epoch"\nepoch = 1\n',
        )
        for i in range(questions)
    ]
    (folder / "survey.toml").write_text(survey(*texts))
    published = read_authored(folder / "survey.toml").require()
    rng, today = np.random.default_rng(1), day_number()
    each = max(1, reports // (questions * epochs))
    with open_store(str(folder / "data")) as store:
        for question in published.questions:
            (field,) = question.fields
            mechanism, size = mechanism_for(field.parameters), field.domain.size or 2
            for epoch in range(today - epochs + 1, today + 1):
                codes = np.minimum(rng.geometric(0.5, each) - 1, size - 1)
                records = join_records(question, {field.name: mechanism.simulate(codes, rng)})
                batch = Batch(question.id, question.version, question.digest, epoch)
                store.append_records(batch, records, question.record_size)
            store.close_question(question.id, question.version, today - 1)
    return published


def until_computed(browser: Browser, address: str) -> float:
    """Wait until every answer of the list was computed; return the seconds."""
    start, context = time.monotonic(), browser.new_context()
    while time.monotonic() < start + _LONGEST_WAIT:
        answer = context.request.get(f"{address}/", headers={"accept": "application/json"})
        if not answer.json()["pending"]:
            break
        time.sleep(0.2)
    context.close()
    return time.monotonic() - start


def look(
    browser: Browser, address: str, path: str, how: str, kept: BrowserContext | None = None
) -> dict[str, Any]:
    """Open a page once, and return its bytes, requests and first paint."""
    context = kept or browser.new_context()
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(address + path, wait_until="load")
    paint = page.evaluate(
        "new Promise(done => { const look = () => { const [found] = "
        "performance.getEntriesByName('first-contentful-paint'); "
        "found ? done(found.startTime) : setTimeout(look, 20); }; look(); })"
    )
    plain = page.evaluate("document.documentElement.outerHTML.length")
    nodes = page.evaluate("document.querySelectorAll('*').length")
    row = {"page": path, "how": how, "bytes": int(sum(sizes)), "requests": len(sizes)}
    page.close()
    if kept is None:
        context.close()
    return {**row, "first_paint_ms": round(paint), "text_bytes": plain, "elements": nodes}


def show(found: dict[str, Any]) -> None:
    """Print what one store's pages are like."""
    print(
        f"{found['questions']:,} questions, {found['reports']:,} reports; "
        f"all answers computed in {found['computed']:.1f} s behind the list"
    )
    print(f"{'page':38}{'':18}{'bytes':>9}{'text':>10}{'requests':>9}{'first paint':>13}")
    for row in found["pages"]:
        print(
            f"{row['page']:38}{row['how']:18}{row['bytes']:9,}{row['text_bytes']:10,}"
            f"{row['requests']:9}{row['first_paint_ms']:10,} ms"
        )


if __name__ == "__main__":
    sys.exit(main())
