/** When reports leave, and together with which. */

import assert from "node:assert/strict";
import test from "node:test";
import { batches, dueAfter, outdated, release } from "../src/outbox.js";

const entry = (id, digest, more = {}) =>
  ({ id, report: { id, digest, record: "AAAA" }, due: 0, last: 10, failures: 0, stale: null, ...more });

test("delays are geometric with the wanted mean, and end at whole seconds", () => {
  // The mean of 20,000 delays has a deviation of mean/141 at most: 12 of them are passed with a
  // chance of 2 Phi(-12), below 1e-32. Without the steps the larger means would take minutes.
  const n = 20_000;
  for (const mean of [1, 60, 3600, 1_000_000]) {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      const due = dueAfter(1234, mean);
      assert.equal(due % 1000, 0);
      sum += due / 1000 - 1;
    }
    assert.ok(Math.abs(sum / n - mean) < 12 * (mean + 1) / Math.sqrt(n), `${mean}: ${sum / n}`);
  }
  assert.equal(dueAfter(7, 0), 0);
});

test("a batch holds one question", () => {
  const entries = Array.from({ length: 250 }, (_, i) => entry(`${i}`, `d${i % 2}`));
  const made = batches(entries);
  assert.deepEqual(made.map((batch) => batch.length).sort(), [100, 100, 25, 25]);
  for (const batch of made) {
    assert.equal(new Set(batch.map(({ report }) => report.digest)).size, 1);
  }
  assert.equal(new Set(made.flat().map(({ id }) => id)).size, 250);
});

test("what is held draws its time only when its epoch is over", () => {
  const held = entry("a", "d", { due: null, last: 10 });
  assert.deepEqual(release([held], 10, 1000, 60), []);
  assert.equal(held.due, null);
  assert.deepEqual(release([held], 11, 1000, 60), [held]);
  assert.ok(held.due >= 1000);
});

test("a report is too old only if a second day says so", () => {
  const old = entry("a", "d", { last: 10 });
  assert.deepEqual(outdated([old], 40), { over: [], marked: [] });
  assert.deepEqual(outdated([old], 41), { over: [], marked: [old] });
  assert.deepEqual(outdated([old], 41), { over: [], marked: [] });
  assert.deepEqual(outdated([old], 42).over, [old]);
});
