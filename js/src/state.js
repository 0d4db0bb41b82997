/**
 * What is stored of a device, as one plain object:
 *
 *     consent   the person's word, {word, despiteSignal}
 *     level     the person's level, "" before a choice
 *     secret    32 bytes, or null without consent
 *     pins      { "id version level": digest in hexadecimal }
 *     used      { "id version": [epochs with a report] }
 *     seen      { "id version": [epochs that await an absent report] }
 *     tags      { hexadecimal: 1 } of values and questions that were paid for
 *     ledger    { id: { reports, answers, micros } }
 *     charges   { "first last": micros } by the days to which reports belong
 *     taken     { id: base } of questions that were answered as fetched
 *     retryAt   the time that a collector asked for
 *     counters  { "id reason": number }
 *
 * Beside it, since it is large and seldom read: { base, body }, a survey that was fetched, and the hash
 * of the app's own.
 */

/** Return the state of a device that has disclosed nothing. */
export const newState = () => ({
  secret: null, pins: {}, used: {}, seen: {}, tags: {}, ledger: {}, charges: {}, taken: {},
  counters: {}, level: "",
});

/** Draw the device's secret, if it has none: when the person agrees, so that no refusal undoes it. */
export function begin(state) {
  state.secret ??= globalThis.crypto.getRandomValues(new Uint8Array(32));
}

/** Wipe what would still be sent or recognised; what was spent or used stays. */
export function wipe(state) {
  Object.assign(state, { secret: null, tags: {}, seen: {} });
}

/** Return the micros that were disclosed so far, over all questions. */
export const totalOf = (state) =>
  Object.values(state.ledger).reduce((sum, { micros }) => sum + micros, 0);

/** Return micros as an epsilon of at most three decimals, never below the true one. */
export const roundUp = (micros) => Math.ceil(micros / 1000) / 1000;
