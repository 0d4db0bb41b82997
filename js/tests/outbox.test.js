/** When reports leave, and together with which. */

import assert from "node:assert/strict";
import test from "node:test";
import { batches, dueAfter, outdated, release } from "../src/outbox.js";

const entry = (id, digest, more = {}) =>
  ({ id, report: { id, digest, record: "AAAA" }, due: 0, last: 10, failures: 0, stale: null, ...more });

test("delays are geometric with the wanted mean", () => {
  // The mean of 20,000 delays of mean 59 and deviation 59.5 is within 5 of it but for a chance of
  // 2 Phi(-11.9), below 1e-31.
  const n = 20_000;
  let sum = 0;
  for (let i = 0; i < n; i++) sum += dueAfter(0, 60) / 1000;
  assert.ok(Math.abs(sum / n - 59) < 5, `${sum / n}`);
  assert.equal(dueAfter(7, 0), 7);
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
