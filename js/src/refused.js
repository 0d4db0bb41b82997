/**
 * A value, survey or report that is refused, with a reason of the protocol.
 *
 * No message ever holds the value that was refused.
 */
export class Refused extends Error {
  /**
   * @param {string} reason one of the closed set of reasons of the protocol
   * @param {string} message a sentence for people
   */
  constructor(reason, message) {
    super(message);
    this.name = "Refused";
    this.reason = reason;
  }
}

/** Throw a refusal unless a condition holds. */
export function must(condition, reason, message) {
  if (!condition) throw new Refused(reason, message);
}
