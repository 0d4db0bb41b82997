/**
 * The client of a web page: the person's word, and the way to everything else.
 *
 * It never breaks the page. What records and sends is imported when a client opens.
 */

import { Device } from "./device.js";
import { begin, roundUp, totalOf, wipe } from "./state.js";

const MICRO = 1_000_000;
const MOST_DAYS = 1_000_000;
const MOST_DELAY = 1_000_000;

/** Records values as randomised reports and sends them. */
export class Client {
  #device;
  #engine = null;
  #fixed = null;
  /** The person's word while it is being stored; a no that could not be stored, too. */
  #said = null;
  #closed = false;

  /**
   * Open a client.
   *
   * @param {object} options
   * @param {string|Uint8Array} options.survey the address of survey.json, or its text or bytes
   * @param {string} [options.collector] the collector's address; without one, reports wait
   * @param {string} [options.name] the name of this client's storage
   * @param {number} [options.ceiling] the most epsilon that is ever disclosed; else the survey's
   * @param {{epsilon: number, days: number}} [options.window] the most within any so many days
   * @param {Record<string, string>} [options.segments] the device's segments, which travel in clear
   * @param {"persistent"|"best-effort"} [options.storage] the app's word on storage that may vanish
   * @param {number} [options.delay] seconds, on average, from a value to its report's leaving
   * @param {string} [options.writeKey] the key that the collector asks of writers
   * @param {boolean|string[]} [options.trustSurveys] the app's word for what `refresh` fetches
   * @returns {Promise<Client>}
   */
  static async open(options = {}) {
    check(options);
    const client = new Client();
    client.#device = new Device(options.name ?? "default");
    client.#fixed = await client.#prepare(options.storage ?? "persistent");
    const page = { state: () => client.state, denied: () => client.#said?.word === "denied",
      look: async () => { client.#fixed ??= await client.#device.look(); } };
    try {
      const { Engine } = await import("./engine.js");
      client.#engine = await Engine.open(client.#device, page, options);
    } catch (error) {
      client.#device.close();
      throw error;
    }
    return client;
  }

  /** Look at the storage; return the reason for which nothing is collected, or null. */
  async #prepare(wanted) {
    if (isInForeignFrame()) return "frame";
    try {
      if (wanted === "persistent" && !(await navigator.storage.persisted())) {
        return "not_persistent";
      }
    } catch {
      return "storage";
    }
    return this.#device.look();
  }

  /** Why nothing is collected: "frame", "storage", "not_persistent", "lost", "no_consent",
   * "signal", "closed"; else "ready". */
  get state() {
    if (this.#closed) return "closed";
    if (this.#fixed !== null) return this.#fixed;
    if (this.consent !== "granted") return "no_consent";
    return hasSignal() && !this.#word.despiteSignal ? "signal" : "ready";
  }

  /** The consent that holds: "unknown", "granted" or "denied". */
  get consent() {
    return this.#word.word;
  }

  get #word() {
    return this.#said ?? this.#device.consent;
  }

  /** Whether the browser says Global Privacy Control or Do Not Track. */
  get signal() {
    return hasSignal();
  }

  /** The names of the levels that the survey offers, and the one that holds ("" is the first). */
  get levels() {
    return { offered: this.#engine.levels, chosen: this.#device.level };
  }

  /**
   * Grant consent: the person agreed.
   *
   * Where the browser sends Global Privacy Control or Do Not Track, that is a no until the person
   * says yes knowing of it: `despiteSignal`.
   */
  async optIn({ despiteSignal = false } = {}) {
    const level = this.#device.level;
    const done = await this.#say({ word: "granted", despiteSignal }, (state) => {
      state.level = level;
      begin(state);
    });
    if (done) this.#engine.soon();
    return done;
  }

  /** Deny consent, and wipe secret, tags and outbox; what was disclosed stays counted. */
  optOut() {
    return this.#say({ word: "denied", despiteSignal: false }, (state, waiting) => {
      wipe(state);
      return waiting.map(({ id }) => id);
    });
  }

  /** Store the person's word. It holds for this page at once; a no does whatever the storage does. */
  async #say(said, change) {
    if (this.#fixed === null || said.word === "denied") this.#said = said;
    const done = await this.#keep((state, waiting) => {
      state.consent = said;
      return change(state, waiting);
    });
    if (this.#said === said && (done || said.word === "granted")) this.#said = null;
    return done;
  }

  /**
   * Set the person's level for all questions: their own choice of epsilon, never one by a value,
   * since it travels in clear. It is kept as soon as there is consent.
   */
  async choose(level) {
    this.#engine.choose(level);
    return this.consent !== "granted" || this.#keep((state) => {
      state.level = level;
    });
  }

  /** Change what is stored of the person's choices. */
  async #keep(change) {
    if (this.#fixed !== null) return false;
    try {
      await this.#device.change((state, waiting) => ({ drop: change(state, waiting) ?? [] }),
        { make: true });
      return true;
    } catch {
      this.#device.count("", "storage");
      return false;
    }
  }

  /**
   * Report a value as the answer to a question, if all the rules allow it. Never throws.
   *
   * @returns {Promise<boolean>} whether a report is stored; a page need not wait for it
   */
  record(id, value) {
    return this.#engine.record(id, value);
  }

  /** What this device has disclosed: epsilon by question and in all, and the ceiling. */
  async disclosed() {
    const state = await this.#device.read();
    const questions = Object.entries(state.ledger).map(([question, line]) => ({
      question, reports: line.reports, answers: line.answers, epsilon: roundUp(line.micros),
    }));
    const window = this.#engine.window(state);
    return { epsilon: roundUp(totalOf(state)), ceiling: this.#engine.ceiling / MICRO, questions,
      ...(window && { window: { ...window, spent: roundUp(window.spent) } }) };
  }

  /** The reports that wait to be sent, exactly as they will be. */
  async pending() {
    await this.#device.read();
    return [...this.#device.outbox.values()].map(({ report }) => ({ ...report }));
  }

  /**
   * What becomes of a value on this device, in bits, for a page that shows it to the person.
   *
   * Of each field the true bits, the permanent ones (null if the mechanism has none) and those of a
   * report, by default the newest that waits (null if none does). Nothing is recorded. Rejects with
   * RangeError for other mechanisms than krr, oue and rappor, and without consent.
   */
  async stages(id, value, report = undefined) {
    const { secret } = await this.#device.read();
    const waiting = (await this.pending()).filter(({ question }) => question === id);
    const newest = waiting.sort((a, b) => a.epoch - b.epoch).at(-1);
    return this.#engine.stages(id, value, secret, report ?? newest);
  }

  /** Refusals and uploads, counted by question and reason. */
  async counters() {
    return Object.entries(await this.#device.counters()).map(([name, number]) => {
      const [question, reason] = name.split(" ");
      return { question, reason, number };
    });
  }

  /** Send all that waits now, due or not. True if nothing that may be sent is left. */
  async flush() {
    await this.#device.idle;
    await this.#engine.turn(true);
    return ![...this.#device.outbox.values()].some((entry) => entry.due !== null);
  }

  /**
   * Fetch the collector's survey and follow it as far as it asks for less than the page's own.
   *
   * @returns {Promise<boolean>} whether one was fetched; none is without consent
   */
  refresh() {
    return this.#engine.refresh();
  }

  /** End the client; what waits goes with the next one. */
  async close() {
    this.#closed = true;
    this.#engine.close();
    await this.#device.idle;
    this.#device.close();
  }
}

/** Refuse options that are not what they must be, with a sentence for developers. */
function check({ survey, storage, delay, ceiling, window, trustSurveys }) {
  const must = (condition, sentence) => {
    if (!condition) throw new TypeError(sentence);
  };
  must(typeof survey === "string" || survey instanceof Uint8Array,
    "The 'survey' option is an address, or the text or bytes of survey.json.");
  must([undefined, "persistent", "best-effort"].includes(storage),
    "The 'storage' option is 'persistent' or 'best-effort'.");
  must(delay === undefined || (delay >= 0 && delay <= MOST_DELAY),
    "The 'delay' option is a number of seconds from 0 to a million.");
  const isEpsilon = (value) => value > 0 && value <= MICRO;
  must(ceiling === undefined || isEpsilon(ceiling), "The 'ceiling' option is an epsilon above 0.");
  must(window === undefined || (isEpsilon(window?.epsilon) && Number.isInteger(window.days) &&
    window.days >= 1 && window.days <= MOST_DAYS),
  "The 'window' option is {epsilon, days}: an epsilon above 0, and a whole number of days.");
  must(["undefined", "boolean"].includes(typeof trustSurveys) || (Array.isArray(trustSurveys) &&
    trustSurveys.every((sum) => /^[0-9a-f]{64}$/.test(sum))),
  "The 'trustSurveys' option is true, false, or a list of SHA-256 of canonical survey.json.");
}

/**
 * Tell whether a page of another origin is around this one: browsers split the storage of such frames
 * by the page around them, so that one person would be several devices.
 */
function isInForeignFrame() {
  try {
    for (let page = globalThis.window; page && page.parent !== page; page = page.parent) {
      if (page.parent.location.origin !== globalThis.location.origin) return true;
    }
    return false;
  } catch {
    return true; // what is of another origin may not be looked at
  }
}

/** Tell whether the browser says Global Privacy Control or Do Not Track. */
function hasSignal() {
  const { globalPrivacyControl, doNotTrack } = globalThis.navigator ?? {};
  return globalPrivacyControl === true || doNotTrack === "1";
}
