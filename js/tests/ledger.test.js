/** Charges, used epochs, pins and the ceiling, on plain states. */

import assert from "node:assert/strict";
import test from "node:test";
import * as ledger from "../src/ledger.js";
import { make } from "../src/recorder.js";
import { begin, newState as emptyState, totalOf, wipe } from "../src/state.js";
import { readSurvey } from "../src/survey.js";
import { utf8 } from "../src/bytes.js";
import { KEEPS, krrField, ownOf } from "./questions.js";

const question = (id, more = {}) => ({ id, version: 1, description: "", owner: "", epoch: 1,
  expires: "2099-12-31", repeat: "epoch", send: "recorded", fields: [krrField()], ...more });
const survey = (...questions) =>
  readSurvey(utf8(JSON.stringify({ deniable: 1, name: "t", owner: "t", questions })));
const terms = (read, more = {}) =>
  ({ survey: read, ceiling: ledger.DEFAULT_CEILING, day: 100, now: 0, delay: 0, ...ownOf(read), ...more });

function record(state, read, id, value, more = {}) {
  const asked = read.asked.find((q) => q.id === id);
  const all = terms(read, more);
  return make(state, 0, asked, asked.answers(value), Math.floor(all.day / asked.epoch), all);
}
const newState = () => {
  const state = emptyState();
  begin(state);
  return state;
};
const reason = (expected) => (error) => error.reason === expected;

test("one report per epoch, and each is charged", async () => {
  const read = await survey(question("a"));
  const state = newState();
  record(state, read, "a", true);
  assert.throws(() => record(state, read, "a", false), reason("answered"));
  record(state, read, "a", true, { day: 101 });
  assert.equal(totalOf(state), 2_000_000);
});

test("a permanent answer is charged once for each value, and its records are the same", async () => {
  const read = await survey(question("a", { repeat: "permanent" }));
  const state = newState();
  const first = record(state, read, "a", true).report;
  const second = record(state, read, "a", true, { day: 101 }).report;
  assert.equal(first.record, second.record);
  assert.notEqual(first.id, second.id);
  assert.equal(totalOf(state), 1_000_000);
  record(state, read, "a", false, { day: 102 });
  assert.equal(totalOf(state), 2_000_000);
});

test("a changed question under the same version is refused for ever", async () => {
  const state = newState();
  record(state, await survey(question("a")), "a", true);
  const changed = await survey(question("a", { fields: [krrField(2, KEEPS)] }));
  assert.throws(() => record(state, changed, "a", true, { day: 101 }), reason("changed"));
});

test("which questions the ceiling leaves out follows from the secret, not from the calls", async () => {
  const names = Array.from({ length: 10 }, (_, i) => `q${i}`);
  const read = await survey(...names.map((name) => question(name, { repeat: "once" })));
  for (let round = 0; round < 20; round++) {
    const secret = crypto.getRandomValues(new Uint8Array(32));
    const answered = [names, [...names].reverse()].map((order) => {
      const state = { ...emptyState(), secret };
      return order.filter((name) => {
        try {
          return record(state, read, name, true, { ceiling: 4_000_000 });
        } catch (error) {
          assert.equal(error.reason, "ceiling");
          return false;
        }
      }).sort();
    });
    assert.deepEqual(answered[0], answered[1]);
    assert.equal(answered[0].length, 4);
  }
});

test("opting out forgets the secret, not what was spent", async () => {
  const read = await survey(question("a", { repeat: "once" }));
  const state = newState();
  record(state, read, "a", true);
  wipe(state);
  assert.equal(state.secret, null);
  assert.throws(() => record(state, read, "a", true), reason("answered"));
  assert.equal(totalOf(state), 1_000_000);
});
