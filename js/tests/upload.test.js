/** Requests: what they carry, and how much may be under way while a page is left. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { Uploader } from "../src/upload.js";

const entries = (count, digests = count) => Array.from({ length: count }, (_, i) => ({ id: `${i}`,
  due: 0, report: { digest: `${i % digests}`.padStart(64, "0"), epoch: 1, question: "q", version: 1,
    id: `${i}`.padStart(32, "0"), record: "A".repeat(3000) } }));

/** Run work with a network that answers when it is told to; return the requests. */
async function watched(work) {
  const requests = [];
  const before = globalThis.fetch;
  globalThis.fetch = (address, options) => new Promise((resolve) => {
    requests.push({ address, options, answer: () => resolve(new Response("{}", { status: 503 })) });
  });
  try {
    await work(requests);
  } finally {
    globalThis.fetch = before;
  }
  return requests;
}

const bytes = (requests) => requests.reduce((sum, { options }) => sum + options.body.length, 0);

test("while a page is left, all bodies together stay below 60 kB", async () => {
  await watched(async (requests) => {
    const uploader = new Uploader("https://t.example/v1/reports");
    uploader.sendLast(entries(100));
    assert.ok(bytes(requests) <= 60_000 && bytes(requests) > 50_000, `${bytes(requests)}`);
    const first = requests.length;
    uploader.sendLast(entries(100));
    assert.equal(requests.length, first, "nothing more fits beside what is under way");
    for (const { answer } of requests) answer();
    await new Promise((resolve) => setTimeout(resolve, 20));
    uploader.sendLast(entries(1));
    assert.equal(requests.length, first + 1, "what was answered makes room");
  });
});

test("a request holds one question, and no body is too large for a page that is left", async () => {
  await watched(async (requests) => {
    new Uploader("https://t.example/v1/reports").sendLast(entries(60, 2));
    for (const { options: { body } } of requests) {
      assert.ok(body.length < 60_000);
      assert.equal(new Set(JSON.parse(body).reports.map(({ digest }) => digest)).size, 1);
    }
  });
});

test("a request says nothing but its reports", async () => {
  const [{ options }] = await watched(async () => {
    new Uploader("https://t.example/v1/reports").sendLast(entries(1));
  });
  const { body, signal, ...rest } = options;
  assert.deepEqual(rest, { method: "POST", headers: { "Content-Type": "text/plain;charset=UTF-8" },
    keepalive: true, credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store",
    redirect: "manual" });
  assert.ok(signal instanceof AbortSignal);
});

test("no module sends beacons, evaluates text, or draws from anything but getRandomValues", () => {
  const folder = new URL("../src/", import.meta.url);
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js"));
  assert.ok(names.length > 50);
  for (const name of names) {
    const text = readFileSync(new URL(name, folder), "utf-8");
    assert.doesNotMatch(text, /sendBeacon|Math\.random|\beval\(|new Function|localStorage|\bsubtle\b/, name);
  }
});
