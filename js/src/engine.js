/**
 * What a client does with a survey: recording values, and rounds in which reports leave.
 *
 * Imported when a client opens, with all that the survey needs, so that a page may go offline then.
 */

import { hex, same, utf8 } from "./bytes.js";
import * as ledger from "./ledger.js";
import { backOff, outdated, release } from "./outbox.js";
import { make } from "./recorder.js";
import { Refused } from "./refused.js";
import { sha256 } from "./sha256.js";
import { readSurvey } from "./survey.js";

const CYCLE = 60_000;
const DAY = 86_400_000;
const LAST_DAY = 2 ** 31 - 1;
const MICRO = 1_000_000;
const MOST_WAITING = 1000;
const TIMEOUT = 10_000;
/** The states that may change while a page is open. */
const MAY_CHANGE = ["ready", "no_consent", "signal"];

/** Answers a survey on a device. */
export class Engine {
  #device;
  #page;
  #bundled;
  #whole;
  #survey;
  #level = null;
  #newest = new Map();
  #terms;
  #ceiling;
  #trusted;
  #address = null;
  #uploader = null;
  #levels = null;
  #absence = null;
  #window = null;
  #timer = null;
  #waiting = 0;
  /** Of each question the last epoch that is known to have its report: it costs no transaction. */
  #answered = new Map();
  #leave = () => this.#sendLast();

  /**
   * Read the survey and import what it needs.
   *
   * @param {import("./device.js").Device} device
   * @param {object} page {state(), denied(), look()}: what the page knows of the person
   * @param {object} options those of `Client.open`
   */
  static async open(device, page, options) {
    const engine = new Engine();
    const body = await bytesOf(options.survey);
    engine.#device = device;
    engine.#page = page;
    engine.#bundled = { ...(await readSurvey(body)), body };
    const own = new Set(engine.#bundled.known.map(({ digest }) => hex(digest)));
    engine.#terms = { own, base: hex(sha256(body)), told: { ...options.segments },
      delay: options.delay ?? 60 };
    engine.#ceiling = options.ceiling === undefined ? null : Math.floor(options.ceiling * MICRO);
    engine.#trusted = options.trustSurveys ?? false;
    await engine.#prepare(options);
    globalThis.addEventListener?.("pagehide", engine.#leave);
    globalThis.document?.addEventListener("visibilitychange", engine.#leave);
    engine.soon();
    return engine;
  }

  async #prepare({ collector, writeKey, window }) {
    if (collector !== undefined) {
      const { addressOf, Uploader } = await import("./upload.js");
      this.#uploader = new Uploader(addressOf(collector, "/v1/reports"), writeKey);
      this.#address = addressOf(collector, "/v1/survey");
    }
    if (window !== undefined) {
      const { fits, fullest } = await import("./window.js");
      const budget = { micros: Math.floor(window.epsilon * MICRO), days: window.days };
      this.#terms.budget = (...report) => fits(report[0], budget, ...report.slice(1));
      this.#window = (state) => ({ ...window, spent: fullest(state, window.days) });
    }
    await this.#takeUp((await this.#remembered()) ?? this.#bundled);
  }

  /** Return what is followed of the survey that an earlier page fetched over this one; or null. */
  async #remembered() {
    const { fetched } = this.#device;
    if (fetched?.base !== this.#terms.base) return null;
    try {
      return (await this.#narrowed(fetched.body)).survey;
    } catch {
      return null; // kept by another version of this library
    }
  }

  async #narrowed(body) {
    const { narrowed } = await import("./fetched.js");
    const { survey, leftOut } = narrowed(this.#bundled, await readSurvey(body), this.#trusted);
    return { survey: survey === this.#bundled ? survey : { ...survey, body }, leftOut };
  }

  /** Answer a survey from now on, at the level that the person chose. */
  async #takeUp(whole) {
    if (whole.levels.length) this.#levels ??= await import("./levels.js");
    if (whole.known.some(({ absent }) => absent)) this.#absence ??= await import("./absence.js");
    this.#whole = whole;
    this.#level = null;
    this.#follow();
  }

  /** Answer at the level that the device has now. */
  #follow() {
    const { level } = this.#device;
    if (this.#level === level) return;
    this.#level = level;
    this.#survey = this.#levels ? this.#levels.atLevel(this.#whole, level) : this.#whole;
    this.#newest = new Map(this.#survey.asked.map((question) => [question.id, question]));
  }

  /** The names of the levels that the survey offers. */
  get levels() {
    return [...this.#whole.levels];
  }

  /** Answer at another level. */
  choose(level) {
    if (!this.#whole.levels.includes(level)) {
      throw new RangeError(
        `The level must be one that the survey offers: ${this.levels.join(", ") || "none"}.`);
    }
    this.#device.level = level;
    this.#follow();
  }

  /** The most micros that are ever disclosed; a survey that was fetched can only lower it. */
  get ceiling() {
    const own = this.#ceiling ?? this.#bundled.ceiling ?? ledger.DEFAULT_CEILING;
    return this.#whole === this.#bundled ? own : Math.min(own, this.#whole.ceiling ?? own);
  }

  /** Return the budget per window and the most that a window spent; null without one. */
  window(state) {
    return this.#window && this.#window(state);
  }

  /** Report a value if all the rules allow it; resolves to whether a report is stored. */
  record(id, value) {
    let name = "";
    try {
      const question = this.#newest.get(id);
      name = question?.id ?? "";
      const state = this.#page.state();
      if (state !== "ready") throw new Refused(state, "Nothing is collected.");
      if (!question) throw new Refused("unknown_question", "The survey has no such question.");
      const day = ledger.dayOf(Date.now());
      if (!(day >= 0 && day <= LAST_DAY)) throw new Refused("clock", "The clock gives no day.");
      if (day > ledger.lastDay(question)) throw new Refused("expired", "The question expired.");
      const epoch = Math.floor(day / question.epoch);
      if (this.#answered.get(ledger.placeOf(question)) === answeredAs(question, epoch)) {
        throw new Refused("answered", "This question was answered already.");
      }
      if (this.#waiting >= MOST_WAITING) throw new Refused("queue_full", "Too many values wait.");
      // The value ends here: what goes on is its answer.
      const answers = question.answers(value);
      this.#notice(question, answers);
      return this.#commit(question, answers, epoch);
    } catch (error) {
      this.#device.count(name, error instanceof Refused ? error.reason : "type");
      return Promise.resolve(false);
    }
  }

  /** Count answers that say less than their value did; no report tells. */
  #notice(question, answers) {
    if (answers.some(({ fitted }) => fitted)) this.#device.count(question.id, "fitted");
    const larger = ({ domain }, i) => answers[i].texts?.length > domain.most;
    if (question.fields.some(larger)) this.#device.count(question.id, "larger");
  }

  async #commit(question, answers, epoch) {
    this.#waiting++;
    let reason = null;
    try {
      await this.#device.change((state, waiting) => {
        if (!this.#agreed(state)) throw new Refused("no_consent", "No consent.");
        const terms = this.#termsNow();
        return { put: [make(state, waiting.length, question, answers, epoch, terms)] };
      }, { adds: true });
      this.soon();
    } catch (error) {
      reason = error instanceof Refused ? error.reason : "storage";
      this.#device.count(question.id, reason);
    } finally {
      this.#waiting--;
    }
    if (reason === null || reason === "answered") {
      this.#answered.set(ledger.placeOf(question), answeredAs(question, epoch));
    }
    return reason === null;
  }

  #agreed(state) {
    return !this.#page.denied() && state.consent?.word === "granted";
  }

  #termsNow() {
    const now = Date.now();
    return { ...this.#terms, survey: this.#survey, ceiling: this.ceiling, day: ledger.dayOf(now),
      now };
  }

  /** Return what becomes of a value, stage by stage. */
  async stages(id, value, secret, report) {
    const { stagesOf } = await import("./stages.js");
    return stagesOf(this.#newest.get(id), value, secret, report);
  }

  /** Fetch the collector's survey and follow it as far as it asks for less than the app's. */
  async refresh() {
    if (this.#address === null || this.#page.state() !== "ready") return false;
    try {
      const body = await fetched(this.#address);
      if (same(body, this.#whole.body)) return true;
      const { survey, leftOut } = await this.#narrowed(body);
      const own = new Set(this.#bundled.known.map(({ id }) => id));
      for (const id of leftOut) this.#device.count(own.has(id) ? id : "", "asks_more");
      await this.#takeUp(survey);
      const kept = { base: this.#terms.base, body };
      await this.#device.change(() => ({ fetched: kept }), { adds: true }).catch(() => this.#device.count("", "storage")); // fetched, but not kept
      return true;
    } catch (error) {
      this.#device.count("", error instanceof Refused ? "bad_survey" : "unreachable");
      return false;
    }
  }

  /** Look again when something may be due. */
  soon() {
    clearTimeout(this.#timer);
    if (!MAY_CHANGE.includes(this.#page.state())) return;
    const now = Date.now();
    const times = [...this.#device.outbox.values()].map(({ due }) => due ?? Infinity);
    const next = Math.max(Math.min(now + CYCLE, ...times), this.#uploader?.notBefore ?? 0, now + 50);
    this.#timer = setTimeout(() => this.turn(false).finally(() => this.soon()), next - now);
    this.#timer.unref?.();
  }

  /** Do a round, in one page at a time. */
  turn(all) {
    return this.#device.exclusively(() => this.#work(all));
  }

  /** Take up what other tabs stored, make absent reports, drop what is too old, send what is due. */
  async #work(all) {
    await this.#page.look();
    // The person may have spoken in another tab.
    if (this.#page.state() !== "ready") await this.#device.read().catch(() => {});
    if (this.#page.state() !== "ready") return;
    try {
      const due = await this.#device.change((state, waiting) => this.#look(state, waiting, all));
      this.#follow();
      if (this.#uploader === null || due.length === 0) return;
      await this.#upload(due);
    } catch {
      this.#device.count("", "storage");
    }
  }

  #look(state, waiting, all) {
    const terms = this.#termsNow();
    if (!this.#agreed(state)) return { result: [] };
    const { made, counted } = this.#absence?.look(state, waiting.length, terms) ??
      { made: [], counted: [] };
    for (const [question, reason] of counted) this.#device.count(question, reason);
    const { over, marked } = outdated(waiting, terms.day);
    for (const { report } of over) this.#device.count(report.question, "stale");
    const released = release(waiting, terms.day, terms.now, terms.delay);
    const ready = waiting.filter((entry) => !over.includes(entry) && entry.due !== null &&
      (all || entry.due <= terms.now) && entry.stale === null);
    const waits = isToldToWait(state, terms.now) ||
      (!all && terms.now < (this.#uploader?.notBefore ?? 0));
    return { result: waits ? [] : ready, put: [...made, ...marked, ...released],
      drop: over.map(({ id }) => id) };
  }

  async #upload(due) {
    const now = Date.now();
    const { settled, waits, asked } = await this.#uploader.send(due, now);
    if (waits !== null) this.#device.count("", waits);
    await this.#device.change((state, waiting) => {
      if (asked > 0) state.retryAt = now + asked;
      // What was wiped meanwhile stays wiped.
      const kept = new Set(waiting.map(({ id }) => id));
      const left = settled.filter(([entry, outcome]) => !outcome.leaves && kept.has(entry.id))
        .map(([entry]) => ({
          ...entry, failures: entry.failures + 1, due: Date.now() + backOff(entry.failures),
        }));
      for (const [entry, outcome] of settled) {
        this.#device.count(entry.report.question, outcome.counter);
      }
      const gone = settled.filter(([, outcome]) => outcome.leaves).map(([entry]) => entry.id);
      return { put: left, drop: gone };
    });
  }

  /** While the page is left nothing can be awaited: send what is due from memory. */
  #sendLast() {
    if (this.#uploader === null || this.#page.state() !== "ready") return;
    if (globalThis.document?.visibilityState === "visible") return;
    const now = Date.now();
    // What the collector asked of an earlier page holds for this one too.
    if (now < this.#uploader.notBefore || isToldToWait(this.#device, now)) return;
    this.#uploader.sendLast([...this.#device.outbox.values()]
      .filter((entry) => entry.due !== null && entry.due <= now && entry.stale === null));
  }

  /** End all that goes on by itself. */
  close() {
    clearTimeout(this.#timer);
    globalThis.removeEventListener?.("pagehide", this.#leave);
    globalThis.document?.removeEventListener("visibilitychange", this.#leave);
  }
}

/** Tell whether the collector asked for quiet until later; a day is the most that is believed. */
const isToldToWait = ({ retryAt }, now) => retryAt > now && retryAt - now <= DAY;

const answeredAs = ({ repeat }, epoch) => (repeat === "once" ? "once" : epoch);

async function bytesOf(survey) {
  if (survey instanceof Uint8Array) return survey;
  return survey.trimStart().startsWith("{") ? utf8(survey) : fetched(survey);
}

/** Fetch a survey. Not by the cache: the browser would send back an entity tag of the server's. */
async function fetched(address) {
  const response = await fetch(address, { cache: "no-store", credentials: "omit",
    referrerPolicy: "no-referrer", signal: AbortSignal.timeout(TIMEOUT) });
  if (response.status !== 200) {
    throw new Error(`The survey could not be fetched: status ${response.status}.`);
  }
  return new Uint8Array(await response.arrayBuffer());
}
