/** Runs every golden vector in node. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { allChecks, GOOD, LEFT_OUT } from "./vectors.js";

const folder = process.env.DENIABLE_VECTORS
  ? pathToFileURL(`${process.env.DENIABLE_VECTORS}/`)
  : new URL("../../spec/vectors/v1/", import.meta.url);
const names = (path) => readdirSync(new URL(path, folder))
  .filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));
const load = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf-8"));

for (const [name, check] of allChecks(load, names("bad/"))) test(name, check);

test("every file of vectors is read by a check", () => {
  assert.deepEqual(names("").sort(), [...GOOD, ...LEFT_OUT].sort());
});
