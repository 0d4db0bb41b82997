"""The JavaScript client in real Chromium, against a real collector process."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from deniable.store import open_store
from material.web_pages import MANY, ROOT, chromium, collecting
from material.web_world import OPEN, TALLY, World, opened

ROUNDS = 100
STATE = """() => new Promise((resolve, reject) => {
  const asked = indexedDB.open("deniable:default");
  asked.onerror = reject;
  asked.onsuccess = () => {
    const found = asked.result.transaction("state").objectStore("state").get("state");
    found.onsuccess = () => { asked.result.close(); resolve(found.result); };
  };
})"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        yield World(tmp_path_factory.mktemp("world"), stack)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def context(browser: Browser, world: World) -> Iterator[BrowserContext]:
    """A new profile, whose console must stay without errors of the page and its policy."""
    world.stage.begin()
    with browser.new_context() as made:
        yield made


def test_every_vector_runs_in_the_browser(context: BrowserContext, world: World) -> None:
    page = context.new_page()
    page.goto(f"{world.origin}/page")
    folder = ROOT / "spec" / "vectors"
    bad = [sorted(p.stem for p in (folder / v / "bad").glob("*.json")) for v in ("v1", "v2")]
    ran, failed = page.evaluate(
        """async ([bad, second]) => {
          const { allChecks, secondChecks } = await import("/js/tests/vectors.js");
          const from = (v) => async (n) => (await fetch(`/spec/vectors/${v}/${n}.json`)).json();
          let ran = 0; const failed = [];
          const all = [...allChecks(from("v1"), bad), ...secondChecks(from("v2"), second)];
          for (const [name, check] of all) {
            try { await check(); ran++; } catch (error) { failed.push(`${name}: ${error}`); }
          }
          return [ran, failed];
        }""",
        bad,
    )
    assert not failed
    assert ran > 380


def test_two_tabs_never_answer_twice(context: BrowserContext, world: World) -> None:
    tabs = [opened(context, world) for _ in range(2)]
    for tab in tabs:
        tab.evaluate(
            """() => { window.done = Promise.all(Array.from({ length: 200 }, (_, i) =>
              client.record(`q${String(i % 100).padStart(3, "0")}`, i % 3 === 0))); }"""
        )
    made = [sum(tab.evaluate("() => done")) for tab in tabs]
    assert sum(made) == 100
    assert tabs[0].evaluate("() => client.flush()")
    told = tabs[1].evaluate(TALLY)
    assert (told["pending"], told["reports"]) == (0, 100)
    assert told["counters"]["answered"] == 300
    assert told["counters"]["uploaded"] == 100
    assert len(set(world.ids())) == 100
    assert Counter(
        len({r["question"] for r in json.loads(body)["reports"]}) for _, body in world.stage.seen
    ).keys() == {1}


def test_pages_that_are_left_in_the_middle_lose_nothing(
    context: BrowserContext, world: World
) -> None:
    with open_store(world.data) as store:
        before = store.counters()
    for number in range(ROUNDS):
        page = opened(context, world)
        page.evaluate(
            """(n) => { for (let i = 0; i < 3; i++) {
              client.record(`q${String(3 * n + i).padStart(3, "0")}`, true);
            } }""",
            number,
        )
        page.wait_for_timeout(number % 10)  # so that some are in the middle of their upload
        if number % 2:
            page.close()
        else:
            page.goto("about:blank")
            page.close()
    last = opened(context, world)
    # Hundreds of requests, beside those of pages that are gone: one may last too long for a client.
    assert any(last.evaluate("() => client.flush()") for _ in range(10))
    told = last.evaluate(TALLY)
    last.close()
    with open_store(world.data) as store:
        after = store.counters()
    gained = Counter(after) - Counter(before)
    stored = sum(n for (_, reason), n in gained.items() if reason == "accepted")
    assert told["pending"] == 0
    assert stored == told["reports"] == len(set(world.ids()))
    assert 0 < stored <= MANY


def test_offline_and_back(context: BrowserContext, world: World) -> None:
    page = opened(context, world)
    context.set_offline(True)
    assert page.evaluate("() => client.record('page', 'mail.example')")
    assert page.evaluate("() => client.flush()") is False
    before = page.evaluate("() => client.pending()")
    context.set_offline(False)
    assert page.evaluate("() => client.flush()")
    ((_, body),) = world.stage.seen
    assert json.loads(body)["reports"] == before, "a retry sends the same bits"


@pytest.mark.parametrize("mode", ["down", "401", "503"])
def test_a_collector_that_cannot(context: BrowserContext, world: World, mode: str) -> None:
    page = opened(context, world)
    world.stage.mode = mode
    assert page.evaluate("() => client.record('page', 'mail.example')")
    assert page.evaluate("() => client.flush()") is False
    asked = len(world.stage.seen)
    assert asked > 0
    assert page.evaluate(TALLY)["pending"] == 1
    world.stage.mode = "pass"
    assert page.evaluate("() => client.flush()") is (mode == "down")
    # An hour was asked for: nothing leaves before it is over, in this page or the next.
    if mode != "down":
        assert len(world.stage.seen) == asked
        following = opened(context, world)
        assert following.evaluate("() => client.flush()") is False
        # Nor while that page is left, though the report is due and this page was refused nothing.
        following.goto("about:blank")
        following.wait_for_timeout(300)
        assert len(world.stage.seen) == asked
    assert len(set(world.ids())) == 1


def test_a_deleted_database_is_lost(context: BrowserContext, world: World) -> None:
    page = opened(context, world)
    assert page.evaluate("() => client.record('q000', true)")
    page.evaluate(
        """() => new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase("deniable:default");
          request.onsuccess = resolve; request.onerror = reject;
        })"""
    )
    assert page.evaluate("() => client.record('q001', true)") is False
    again = context.new_page()
    again.goto(f"{world.origin}/page")
    assert again.evaluate(OPEN, [world.between, {}]) == "lost"
    assert again.evaluate("() => client.optIn()") is False
    assert again.evaluate("() => client.record('q000', true)") is False


def test_a_clock_that_moves_repeats_no_epoch(context: BrowserContext, world: World) -> None:
    page = opened(context, world, delay=1e6)
    record = """async (days) => {
      const now = Date.now;
      Date.now = () => now() + days * 86400000;
      try { return await client.record("q000", true); } finally { Date.now = now; }
    }"""
    found = [page.evaluate(record, days) for days in (0, 0, 1, 1, 0, -1, -1, 1)]
    assert found == [True, False, True, False, False, True, False, False]


def test_a_full_disk_breaks_nothing(context: BrowserContext, world: World) -> None:
    page = context.new_page()
    page.goto(f"{world.origin}/page")
    devtools = context.new_cdp_session(page)
    devtools.send("Storage.overrideQuotaForOrigin", {"origin": world.origin, "quotaSize": 1})
    page.evaluate(OPEN, [world.between, {}])
    assert page.evaluate("() => client.optIn()") is False
    assert page.evaluate("() => client.state") == "no_consent"
    assert page.evaluate("() => client.record('q000', true)") is False
    told = page.evaluate(TALLY)
    assert (told["pending"], told["reports"]) == (0, 0)
    assert told["counters"] == {"storage": 1, "no_consent": 1}


def test_a_disk_that_fills_up_loses_no_ledger(context: BrowserContext, world: World) -> None:
    """Chromium gives an open database room in advance, so that its refusal is made here."""
    page = opened(context, world, delay=1e6)
    assert page.evaluate("() => client.record('q000', true)")
    page.evaluate(
        """() => {
          window.put = IDBObjectStore.prototype.put;
          IDBObjectStore.prototype.put = function (value) {
            const asked = put.apply(this, arguments); // the last of the writes fails
            if (value.report) throw new DOMException("", "QuotaExceededError");
            return asked;
          };
        }"""
    )
    assert page.evaluate("() => client.record('q001', true)") is False
    assert page.evaluate(TALLY)["counters"] == {"storage": 1}
    page.evaluate("() => { IDBObjectStore.prototype.put = put; }")
    assert page.evaluate(TALLY)["reports"] == 1, "nothing of the report that failed is left"
    assert page.evaluate("() => client.record('q001', true)")
    assert page.evaluate("() => client.record('q000', true)") is False
    assert page.evaluate(TALLY)["pending"] == 2


@pytest.mark.parametrize("signal", ["globalPrivacyControl: true", "doNotTrack: '1'"])
def test_a_privacy_signal_is_a_no(context: BrowserContext, world: World, signal: str) -> None:
    name, _, value = signal.partition(": ")
    context.add_init_script(f"Object.defineProperty(navigator, '{name}', {{value: {value}}})")
    page = opened(context, world)
    assert page.evaluate("() => client.state") == "signal"
    assert page.evaluate("() => client.record('q000', true)") is False
    page.evaluate("() => client.optIn({ despiteSignal: true })")
    assert page.evaluate("() => client.record('q000', true)")


def test_no_request_tells_people_apart(browser: Browser, world: World) -> None:
    world.stage.begin()
    surveys: list[dict[str, str]] = []
    for _ in range(2):
        with browser.new_context() as context:
            violations: list[str] = []
            page = context.new_page()
            page.on("console", lambda m, seen=violations: seen.append(m.text))
            page.on(
                "request",
                lambda r: surveys.append(r.all_headers()) if "survey.json" in r.url else None,
            )
            page.goto(f"{world.origin}/page?person=7")
            page.evaluate("() => { document.cookie = 'person=7'; }")
            for _ in range(2):
                page.evaluate(OPEN, [world.between, {}])
            page.evaluate("() => client.optIn()")
            page.evaluate("() => client.record('q000', true)")
            assert page.evaluate("() => client.flush()")
            assert not [text for text in violations if "Content Security" in text]
    kinds = {frozenset(headers.items()) for headers, _ in world.stage.seen}
    assert len(world.stage.seen) == 2
    assert len(kinds) == 1, "the headers of two people are the same"
    for headers in [dict(next(iter(kinds))), *surveys]:
        assert not {"cookie", "referer", "authorization", "if-none-match"} & headers.keys()
        assert "person" not in str(headers)
    assert len(surveys) == 4
    first, second = (json.loads(body)["reports"][0] for _, body in world.stage.seen)
    same = {name for name in first if first[name] == second[name]}
    assert {"digest", "epoch", "question", "version"} <= same
    assert "id" not in same


def test_a_policy_that_forbids_is_noticed(context: BrowserContext, world: World) -> None:
    """The control of the test above: without the collector in the policy nothing leaves."""
    kept, world.site.policy = world.site.policy, "default-src 'self'"
    try:
        page = context.new_page()
        said: list[str] = []
        page.on("console", lambda m: said.append(m.text))
        page.goto(f"{world.origin}/page")
        page.evaluate(OPEN, [world.between, {}])
        page.evaluate("() => client.optIn()")
        page.evaluate("() => client.record('q000', true)")
        assert page.evaluate("() => client.flush()") is False
    finally:
        world.site.policy = kept
    assert any("Content Security" in text for text in said)


def test_a_frame_of_another_site_is_refused(context: BrowserContext, world: World) -> None:
    other = world.origin.replace("127.0.0.1", "localhost")
    world.site.pages["/outer"] = f'<!doctype html><iframe src="{other}/page"></iframe>'
    kept, world.site.policy = world.site.policy, f"default-src 'self'; frame-src {other}"
    try:
        page = context.new_page()
        page.goto(f"{world.origin}/outer")
        frame = page.frames[1]
        assert frame.evaluate(OPEN, [world.between, {}]) == "frame"
        assert frame.evaluate("() => client.optIn()") is False
        assert frame.evaluate("() => client.record('q000', true)") is False
    finally:
        world.site.policy = kept
    assert not world.stage.seen


def test_a_frame_of_the_own_site_is_not(context: BrowserContext, world: World) -> None:
    world.site.pages["/outer"] = '<!doctype html><iframe src="/page"></iframe>'
    page = context.new_page()
    page.goto(f"{world.origin}/outer")
    frame = page.frames[1]
    assert frame.evaluate(OPEN, [world.between, {}]) == "no_consent"
    assert frame.evaluate("() => client.optIn()")
    assert frame.evaluate("() => client.record('q000', true)")


def test_a_key_for_writers_needs_the_preflight(
    context: BrowserContext, world: World, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("sesame-sesame-sesame")
    more = ["--write-key-file", str(tmp_path / "key")]
    with collecting(tmp_path, world.site.survey, [world.origin], more) as collector:
        kept, world.site.policy = (
            world.site.policy,
            f"default-src 'self'; connect-src 'self' {collector}",
        )
        try:
            asked: list[str] = []
            page = context.new_page()
            page.on("request", lambda r: asked.append(r.method) if collector in r.url else None)
            page.goto(f"{world.origin}/page")
            page.evaluate(OPEN, [collector, {}])
            page.evaluate("() => client.optIn()")
            assert page.evaluate("() => client.record('q000', true)")
            assert page.evaluate("() => client.flush()") is False, "a page without the key waits"
            page.evaluate("() => client.close()")
            page.evaluate(OPEN, [collector, {"writeKey": "sesame-sesame-sesame"}])
            assert page.evaluate("() => client.flush()"), "the same report, with the key"
            assert page.evaluate(TALLY)["counters"]["uploaded"] == 1
        finally:
            world.site.policy = kept


def test_storage_that_may_vanish_sends_nothing(context: BrowserContext, world: World) -> None:
    page = opened(context, world, storage="persistent")
    assert page.evaluate("() => client.state") == "not_persistent"
    assert page.evaluate("() => client.record('q000', true)") is False
    page.evaluate("() => client.flush()")
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0
    assert not world.stage.seen


def test_nothing_is_stored_before_the_person_has_spoken(
    context: BrowserContext, world: World
) -> None:
    page = context.new_page()
    page.goto(f"{world.origin}/page")
    page.evaluate(OPEN, [world.between, {}])
    assert page.evaluate("() => client.record('q000', true)") is False
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0
    page.evaluate("() => client.optIn()")
    page.evaluate("() => client.record('q000', true)")
    page.evaluate("() => client.optOut()")
    told = page.evaluate(TALLY)
    assert (told["pending"], told["reports"]) == (0, 1)
    state = page.evaluate(STATE)
    assert (state["secret"], state["tags"]) == (None, {})
    assert state["used"].keys() == {"q000 1"}
    assert state["pins"].keys() == {"q000 1 "}
    assert state["ledger"]["q000"]["micros"] == 1_000_000
    assert page.evaluate("() => client.optIn()")
    assert page.evaluate("() => client.record('q000', true)") is False, "used epochs stay"


def test_a_storage_that_is_being_made_is_not_lost(context: BrowserContext, world: World) -> None:
    """Two clients of one storage stand for two tabs: one makes it while the other looks for it."""
    page = context.new_page()
    page.goto(f"{world.origin}/page")
    states = page.evaluate(
        """async () => {
          const { Client } = await import("/js/deniable.js");
          const open = (name) => Client.open({ survey: "/survey.json", name,
            storage: "best-effort" });
          const states = new Set();
          for (let i = 0; i < 30; i++) {
            const [one, other] = [await open(`n${i}`), await open(`n${i}`)];
            await Promise.all([one.optIn(), other.flush(), open(`n${i}`).then((third) =>
              states.add(third.state) && third.close())]);
            await other.flush();
            states.add(other.state);
            await Promise.all([one.close(), other.close()]);
          }
          return [...states].sort();
        }"""
    )
    assert set(states) <= {"no_consent", "ready"}
    assert "ready" in states


def test_memory_stays_flat_over_ten_thousand_records(context: BrowserContext, world: World) -> None:
    """Ten questions a day, sent after some weeks; values that are refused come between."""
    world.stage.mode = "take"
    page = opened(context, world, ceiling=1e6, delay=1e6)
    devtools = context.new_cdp_session(page)

    def heap() -> int:
        """Return what stays: one collection leaves what the browser's own tasks still hold."""
        used = []
        for _ in range(10):
            devtools.send("HeapProfiler.collectGarbage")
            used.append(int(devtools.send("Runtime.getHeapUsage")["usedSize"]))
            page.wait_for_timeout(200)
        return min(used)

    def days(first: int, last: int) -> int:
        """Answer on every day; return the number of reports that were made."""
        return int(
            page.evaluate(
                """async ([first, last]) => {
                  let made = 0;
                  for (let day = first; day < last; day++) {
                    Date.now = () => 86400000 * day + 1000;
                    const records = Array.from({ length: 20 }, (_, i) =>
                      client.record(`q00${i % 10}`, i % 3 === 0));
                    made += (await Promise.all(records)).filter(Boolean).length;
                    if (day % 20 === 19 && !(await client.flush())) throw new Error("not sent");
                  }
                  return made;
                }""",
                [first, last],
            )
        )

    assert days(20_000, 20_100) == 1_000
    before = heap()
    assert days(20_100, 21_100) == 10_000
    assert heap() - before < 200_000
