/** Levels, segments, devices that are not asked, sets of strings: what survey and app say together. */

import assert from "node:assert/strict";
import test from "node:test";
import { utf8 } from "../src/bytes.js";
import { atLevel } from "../src/levels.js";
import * as ledger from "../src/ledger.js";
import { look } from "../src/absence.js";
import { make } from "../src/recorder.js";
import { begin, newState as emptyState } from "../src/state.js";
import { readSurvey } from "../src/survey.js";
import { krrField, ownOf } from "./questions.js";

const question = (id, more = {}) => ({ id, version: 1, description: "", owner: "", epoch: 1,
  expires: "2099-12-31", repeat: "epoch", send: "recorded", fields: [krrField()], ...more });
const survey = (questions, more = {}) =>
  readSurvey(utf8(JSON.stringify({ deniable: 1, name: "t", owner: "t", questions, ...more })));
const terms = (read, more = {}) =>
  ({ survey: read, ceiling: ledger.DEFAULT_CEILING, day: 100, now: 0, delay: 0, told: {}, ...ownOf(read), ...more });
function newState() {
  const state = emptyState();
  begin(state);
  return state;
}
function record(state, read, id, value, more = {}) {
  const asked = read.asked.find((q) => q.id === id);
  return make(state, 0, asked, asked.answers(value), 100, terms(read, more));
}
const reason = (expected) => (error) => error.reason === expected;

test("a person's level is the one that is answered, and a used epoch counts for all levels", async () => {
  const both = ["low", "high"].map((level) => question("a", { level }));
  const whole = await survey([...both, question("b")]);
  assert.deepEqual(whole.levels, ["low", "high"]);
  const levelsOf = (choice) => atLevel(whole, choice).asked.map(({ id, level }) => id + level);
  assert.deepEqual(levelsOf(""), ["alow", "b"]);
  assert.deepEqual(levelsOf("high"), ["ahigh", "b"]);
  assert.deepEqual(levelsOf("other"), ["b"]);
  const state = newState();
  record(state, atLevel(whole, ""), "a", true);
  assert.throws(() => record(state, atLevel(whole, "high"), "a", true), reason("answered"));
  state.level = "low";
  assert.throws(() => record(state, atLevel(whole, "high"), "a", true), reason("level"));
});

test("segments travel as declared, and anything else is (other)", async () => {
  const read = await survey([question("a", { segments: ["platform"] })],
    { segments: [{ name: "platform", values: ["linux", "mac"] }] });
  for (const [told, sent] of [["mac", "mac"], ["beos", "(other)"], [undefined, "(other)"]]) {
    const { report } = record(newState(), read, "a", true, { told: { platform: told } });
    assert.deepEqual(report.segments, { platform: sent });
  }
});

test("a device that is not asked says nothing, and its coin is not drawn anew", async () => {
  const read = await survey([question("a", { asked: "9223372036854775808" })]); // half of all
  const results = Array.from({ length: 200 }, () => {
    const state = newState();
    const tries = [1, 2, 3].map(() => {
      try {
        return record(state, read, "a", true) && "made";
      } catch (error) {
        return error.reason;
      }
    });
    assert.ok(["made,answered,answered", "not_asked,not_asked,not_asked"].includes(tries.join()));
    return tries[0];
  });
  // All alike has a chance of 2^-199.
  assert.equal(new Set(results).size, 2);
});

test("an epoch without a value is reported as absent, after it is over", async () => {
  const read = await survey([question("a", { send: "always", fields: [krrField(3)] })]);
  const state = newState();
  assert.deepEqual(look(state, 0, terms(read)), { made: [], counted: [] });
  const { made } = look(state, 0, terms(read, { day: 101 }));
  assert.equal(made.length, 1);
  assert.equal(made[0].report.epoch, 100);
  assert.equal(made[0].due, null);
  assert.deepEqual(look(state, 1, terms(read, { day: 101 })).made, []);
});
