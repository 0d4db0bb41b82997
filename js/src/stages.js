/**
 * What becomes of a value, stage by stage, for a page that shows it to the person.
 *
 * A coin falls if its word is below its threshold, so that some words let everything through: of k-RR
 * the word 0, of bits the threshold of a zero, which is below that of a one. Draws of such a word in
 * both stages show the true bits, in the second stage alone the permanent ones.
 */

import { fromBase64 } from "./bytes.js";
import { encodeField } from "./encode.js";
import { sizeOf, unpack } from "./layout.js";
import { coinOf } from "./parameters.js";

const SHOWN = ["krr", "oue", "rappor"];

class LettingThrough {
  #word;

  constructor(text = "0") {
    this.#word = coinOf(BigInt(text));
  }

  coin({ high, low }) {
    return this.#word.high < high || (this.#word.high === high && this.#word.low < low) ? 1 : 0;
  }

  below() {
    return 0;
  }
}

/** Return {field, cohort, truth, permanent, report} of each field, the last three as bits. */
export function stagesOf(question, value, secret, report) {
  const shown = question?.data.fields.every((field, i) =>
    SHOWN.includes(field.mechanism) && question.fields[i].domain.kind !== "set");
  if (!shown || secret === null) {
    throw new RangeError(`Stages are shown with consent, of ${SHOWN.join(", ")}, of no sets.`);
  }
  const answers = question.answers(value);
  const record = report ? fromBase64(report.record) : null;
  let at = 0;
  return question.fields.map((field, i) => {
    const { parameters } = question.data.fields[i];
    const { items, memoised } = field.mechanism;
    const draws = { permanent: new LettingThrough(parameters.permanent_zero),
      report: new LettingThrough(parameters.report_zero) };
    const made = (given) => encodeField(question, field, answers[i], secret, given);
    const own = record?.subarray(at, (at += sizeOf(items)));
    return {
      field: field.name,
      cohort: items[0].bound > 1 && items.length > 1 ? unpack(items, made(draws))[0] : null,
      truth: bitsOf(items, made(draws)),
      permanent: memoised ? bitsOf(items, made({ report: draws.report })) : null,
      report: own ? bitsOf(items, own) : null,
    };
  });
}

/** Return the bits of a record; of a symbol one bit per answer. */
function bitsOf(items, record) {
  const last = unpack(items, record).at(-1);
  const { bound, width } = items.at(-1);
  return Array.from({ length: bound ?? width }, (_, i) =>
    bound ? Number(i === last) : (last[i >> 3] >> (i & 7)) & 1);
}
