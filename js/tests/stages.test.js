/** What a page may show of a value's way to its report. */

import assert from "node:assert/strict";
import test from "node:test";
import { toBase64, utf8 } from "../src/bytes.js";
import { Fresh } from "../src/draws.js";
import { encode } from "../src/encode.js";
import { stagesOf } from "../src/stages.js";
import { readSurvey } from "../src/survey.js";
import { KEEPS, krrField } from "./questions.js";

const ONE = "18446744073709551616";
const [HIGH, LOW] = ["13835058055282163712", "4611686018427387904"]; // 3/4 and 1/4
const rappor = (more, domain = { type: "strings" }) => ({ name: "value", candidates: "", domain,
  mechanism: "rappor", parameters: { form: "bloom", bits: 16, hashes: 2, cohorts: 4,
    permanent_one: HIGH, permanent_zero: LOW, report_one: HIGH, report_zero: LOW, ...more } });
const asked = async (field, more = {}) => (await readSurvey(utf8(JSON.stringify({ deniable: 1,
  name: "t", owner: "t", questions: [{ id: "a", version: 1, description: "", owner: "", epoch: 1,
    expires: "2099-12-31", repeat: "epoch", send: "recorded", fields: [field], ...more }] })))).asked[0];
const secret = () => crypto.getRandomValues(new Uint8Array(32));
const made = (question, value, key) =>
  ({ record: toBase64(encode(question, question.answers(value), key, new Fresh())) });

test("where the fresh stage adds nothing, the report is the permanent bits", async () => {
  const question = await asked(rappor({ report_one: ONE, report_zero: "0" }));
  for (let i = 0; i < 50; i++) {
    const key = secret();
    const [stage] = stagesOf(question, "mail", key, made(question, "mail", key));
    assert.deepEqual(stage.permanent, stage.report);
    assert.equal(stage.truth.reduce((sum, bit) => sum + bit) <= 2, true);
  }
});

test("where the permanent stage adds nothing there are no permanent bits", async () => {
  const question = await asked(rappor({ permanent_one: ONE, permanent_zero: "0" }));
  const [stage] = stagesOf(question, "mail", secret());
  assert.deepEqual([stage.permanent, stage.report], [null, null]);
});

test("true bits are the answer's own, whatever the secret, and permanent bits are kept", async () => {
  const question = await asked(krrField(2, KEEPS));
  const seen = new Set();
  for (let i = 0; i < 100; i++) {
    const key = secret();
    const [first, second] = [1, 2].map(() => stagesOf(question, true, key, made(question, true, key))[0]);
    assert.deepEqual(first.truth, [0, 1]);
    assert.deepEqual(first.permanent, second.permanent);
    seen.add(first.permanent.join());
  }
  assert.equal(seen.size, 2); // one kind alone has a chance below 2^-44: it is kept with 0.73
});

test("an answer that is always drawn from the secret is shown, too", async () => {
  const question = await asked(krrField(), { repeat: "permanent" });
  const [stage] = stagesOf(question, false, secret());
  assert.deepEqual(stage.truth, [1, 0]);
});

test("what cannot be shown is refused", async () => {
  const question = await asked(krrField());
  assert.throws(() => stagesOf(question, true, null), RangeError);
  assert.throws(() => stagesOf(undefined, true, secret()), RangeError);
});
