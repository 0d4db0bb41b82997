/**
 * Makes many reports of one answer, each by a new device, for the tests of their probabilities.
 *
 * Standard input: lines of JSON {"question": as published, "value": the value, "reports": n}. Standard
 * output: for each line its n records, one after the other.
 */

import { createInterface } from "node:readline";
import { Fresh } from "../src/draws.js";
import { encode } from "../src/encode.js";
import { readQuestion } from "../src/survey.js";

const fresh = new Fresh();
for await (const line of createInterface({ input: process.stdin })) {
  const { question, value, reports } = JSON.parse(line);
  const read = await readQuestion(question);
  const answers = read.answers(value);
  const secret = new Uint8Array(32);
  const records = Array.from({ length: reports }, () =>
    encode(read, answers, crypto.getRandomValues(secret), fresh));
  if (!process.stdout.write(Buffer.concat(records))) {
    await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
}
