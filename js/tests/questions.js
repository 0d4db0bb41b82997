/** Parts of surveys that several tests ask with. */

import { hex } from "../src/bytes.js";

const ONE = "18446744073709551616";
const KEEP = "13485650502877570762"; // e/(1 + e), rounded down: epsilon 1 of two answers

/** Return a boolean field by k-RR, with as many answers as there are. */
export const krrField = (answers = 2, keeps = {}) => ({ name: "value", candidates: "",
  domain: { type: "boolean" }, mechanism: "krr",
  parameters: { answers, permanent_keep: ONE, report_keep: KEEP, ...keeps } });

/** The threshold that keeps an answer with the odds e. */
export const KEEPS = { permanent_keep: KEEP };

/** The terms of an app that bundles a survey, as the engine sets them. */
export const ownOf = (survey) =>
  ({ own: new Set(survey.known.map(({ digest }) => hex(digest))), base: "app" });
