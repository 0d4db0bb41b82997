/** Runs every golden vector in node. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { allChecks, GOOD, LEFT_OUT, SECOND, secondChecks } from "./vectors.js";

const own = process.env.DENIABLE_VECTORS;
const spec = new URL("../../spec/vectors/", import.meta.url);
const first = own ? pathToFileURL(`${own}/`) : new URL("v1/", spec);
const second = new URL("v2/", spec);
const names = (folder, path) => readdirSync(new URL(path, folder))
  .filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));
const from = (folder) => (name) =>
  JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf-8"));

for (const [name, check] of [...allChecks(from(first), names(first, "bad/")),
  ...secondChecks(from(second), names(second, "bad/"))]) test(name, check);

test("every file of vectors is read by a check", () => {
  assert.deepEqual(names(first, "").sort(), [...GOOD, ...LEFT_OUT].sort());
  assert.deepEqual(names(second, "").sort(), [...SECOND].sort());
});
