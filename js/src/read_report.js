/** Reading reports: what collectors do; the client itself only writes them. */

import { hasExactly } from "./answers.js";
import { fromBase64 } from "./bytes.js";
import { must } from "./refused.js";
import { isCombination } from "./segments.js";

const isWhole = (value, least) =>
  Number.isInteger(value) && value >= least && value <= 2 ** 31 - 1;

/** Return a report that was read from elsewhere, refusing anything but a report. */
export function readReport(data) {
  const isHex = (text, digits) =>
    typeof text === "string" && text.length === digits && /^[0-9a-f]*$/.test(text);
  const segments = Object.hasOwn(Object(data), "segments") ? ["segments"] : [];
  must(hasExactly(data, "digest", "epoch", "id", "question", "record", "version", ...segments) &&
    segments.every((name) => isCombination(data[name])) &&
    typeof data.question === "string" && /^[a-z][a-z0-9_.-]{0,63}$/.test(data.question) &&
    isWhole(data.version, 1) && isWhole(data.epoch, 0) && isHex(data.digest, 64) &&
    isHex(data.id, 32) && typeof data.record === "string" && fromBase64(data.record) !== null,
  "schema", "A report must have exactly its members.");
  return data;
}
