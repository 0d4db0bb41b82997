/** Sending: one question per request, bit-identical retries, back-off, and a last try at pagehide. */

import { judge, retryAfter } from "./acknowledgement.js";
import { batches, backOff } from "./outbox.js";
import { batchOf } from "./report.js";

const TIMEOUT = 10_000;
/** Browsers refuse more than 64 KiB of bodies that outlive their page, all together. */
const MOST_IN_FLIGHT = 60_000;

/** Return the address of a path at a collector, which may itself stand below a path. */
export const addressOf = (collector, path) =>
  new URL(collector.replace(/\/*$/, path), globalThis.location?.href).href;

/** Sends batches of entries to a collector. */
export class Uploader {
  #address;
  #headers;
  #inFlight = 0;
  #failures = 0;
  /** The time before which nothing is sent. */
  notBefore = 0;

  constructor(address, writeKey) {
    this.#address = address;
    // A page's plain text needs no preflight; a key makes one necessary.
    this.#headers = writeKey === undefined
      ? { "Content-Type": "text/plain;charset=UTF-8" }
      : { "Content-Type": "application/json", Authorization: `Bearer ${writeKey}` };
  }

  /** Post a body; the answer, or null if there was none. */
  async #post(body) {
    this.#inFlight += body.length;
    try {
      const response = await fetch(this.#address, {
        method: "POST",
        body,
        headers: this.#headers,
        keepalive: true,
        credentials: "omit",
        referrerPolicy: "no-referrer",
        cache: "no-store",
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT),
      });
      const { status, headers } = response;
      return { status, type: headers.get("content-type"), retry: headers.get("retry-after"),
        body: await response.text() };
    } catch {
      return null;
    } finally {
      this.#inFlight -= body.length;
    }
  }

  /**
   * Send entries, and return the outcome of each that the collector answered for.
   *
   * Stops at the first request that must wait as a whole.
   *
   * @returns {Promise<{settled: [object, {counter: string, leaves: boolean}][], waits: string|null}>}
   */
  async send(entries, now) {
    const settled = [];
    const waiting = batches(entries);
    while (waiting.length) {
      const batch = waiting.shift();
      const body = batchOf(batch.map(({ report }) => report));
      if (this.#inFlight + body.length > MOST_IN_FLIGHT) return { settled, waits: null };
      const answer = await this.#post(body);
      const verdict = answer === null ? "wait" : judge(answer, batch.length);
      if (verdict === "split") {
        const middle = batch.length >> 1;
        waiting.unshift(batch.slice(0, middle), batch.slice(middle));
      } else if (verdict === "wait") {
        const asked = answer === null ? 0 : retryAfter(answer.retry, now);
        this.notBefore = Date.now() + asked + backOff(this.#failures++);
        return { settled, waits: reasonOf(answer), asked };
      } else {
        this.#failures = 0;
        this.notBefore = 0;
        settled.push(...batch.map((entry, i) => [entry, verdict[i]]));
      }
    }
    return { settled, waits: null };
  }

  /** Send what fits while the page is left; answers are not waited for, ids make it harmless. */
  sendLast(entries) {
    for (const batch of batches(entries)) {
      const body = batchOf(batch.map(({ report }) => report));
      if (this.#inFlight + body.length <= MOST_IN_FLIGHT) this.#post(body);
    }
  }
}

function reasonOf(answer) {
  if (answer === null) return "unreachable";
  return answer.status === 200 ? "bad_response" : `status_${answer.status}`;
}
