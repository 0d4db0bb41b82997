/** The collector's answer is never trusted: only its own final word ends a report. */

import assert from "node:assert/strict";
import test from "node:test";
import { judge, retryAfter } from "../src/acknowledgement.js";

const json = "application/json";
const problem = "application/problem+json";
const answer = (status, body, type = json) => ({ status, type, body: JSON.stringify(body) });
const uploaded = { counter: "uploaded", leaves: true };

test("an answer accounts for every report exactly once", () => {
  const body = { accepted: 1, duplicates: 1, problems: [{ index: 1, reason: "digest" }] };
  assert.deepEqual(judge(answer(200, body), 3),
    [uploaded, { counter: "refused_digest", leaves: true }, uploaded]);
  assert.equal(judge(answer(200, body), 4), "wait");
  const twice = { accepted: 0, duplicates: 0, problems: [body.problems[0], body.problems[0]] };
  assert.equal(judge(answer(200, twice), 2), "wait");
});

test("what waits and what ends, by reason", () => {
  for (const reason of ["schema", "record", "digest", "expired", "too_late", "oversize"]) {
    const [outcome] = judge(answer(422, { reason }, problem), 1);
    assert.deepEqual(outcome, { counter: `refused_${reason}`, leaves: true });
  }
  for (const reason of ["unknown_question", "unknown_version", "too_early", "batch_size"]) {
    const [outcome] = judge(answer(422, { reason }, problem), 1);
    assert.deepEqual(outcome, { counter: `waiting_${reason}`, leaves: false });
  }
});

test("statuses, pages and strange bodies make all reports wait", () => {
  for (const status of [0, 204, 301, 400, 401, 403, 404, 405, 410, 421, 451, 500, 503]) {
    assert.equal(judge({ status, type: "text/html", body: "<p>Log in</p>" }, 1), "wait");
    assert.equal(judge(answer(status, { reason: "digest" }), 1), "wait", "not a problem document");
  }
  for (const body of ["", "null", "[]", "{}", '{"accepted":-1,"duplicates":0,"problems":[]}',
    '{"accepted":true,"duplicates":0,"problems":[]}']) {
    assert.equal(judge({ status: 200, type: json, body }, 1), "wait");
  }
  assert.equal(judge(answer(422, { reason: "made up" }, problem), 1), "wait");
});

test("a batch that is too large is halved", () => {
  assert.equal(judge({ status: 413, type: "text/html", body: "" }, 2), "split");
  assert.deepEqual(judge({ status: 413, type: "text/html", body: "" }, 1),
    [{ counter: "waiting_other", leaves: false }]);
  assert.equal(judge(answer(422, { reason: "record" }, problem), 2), "split");
});

test("Retry-After in seconds or as a date, at most a day", () => {
  assert.equal(retryAfter("120", 0), 120_000);
  assert.equal(retryAfter("Thu, 01 Jan 1970 00:01:00 GMT", 0), 60_000);
  assert.equal(retryAfter("99999999", 0), 86_400_000);
  for (const nothing of [null, "", "soon", "-5", "1e9"]) assert.equal(retryAfter(nothing, 5e12), 0);
});
