/**
 * Encodes values for the comparison with Python, whose names these are.
 *
 * Standard input: lines of JSON {question, secret, fresh_key, values}, spelled as in the vectors. Standard
 * output: for each line {digest, costs, records}, `costs` of each field the epsilons once and for ever.
 */

import { createInterface } from "node:readline";
import { hex, unhex } from "../src/bytes.js";
import { Stream } from "../src/draws.js";
import { encode } from "../src/encode.js";
import { readQuestion } from "../src/survey.js";
import { valueOf } from "./vectors.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { question, secret, fresh_key: key, values } = JSON.parse(line);
  const read = await readQuestion(question);
  const records = values.map((value) => {
    const record = encode(read, read.answers(valueOf(value)), unhex(secret), new Stream(unhex(key)));
    read.checkRecord(record);
    return hex(record);
  });
  const costs = read.fields.map(({ mechanism: { once, forever } }) => [once, forever]);
  console.log(JSON.stringify({ digest: hex(read.digest), costs, records }));
}
