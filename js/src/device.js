/**
 * What a page knows of its device: the stored state, changed one step after the other.
 *
 * Nothing is written, and no database made, before the person has said yes or no. Counters that
 * cannot be stored yet stay in memory.
 */

import { newState } from "./state.js";
import { Storage } from "./storage.js";

/** The device behind one client. */
export class Device {
  #name;
  #storage = null;
  #queue = Promise.resolve();
  #turn = Promise.resolve();
  #counts = {};
  /** The stored word of the person: {word, despiteSignal}. */
  consent = { word: "unknown", despiteSignal: false };
  /** The person's level; "" before a choice. */
  level = "";
  /** A survey that was fetched: {base, body}, or null. */
  fetched = null;
  /** The time in milliseconds before which the collector asked for quiet. */
  retryAt = 0;
  /** This page's copy of the outbox, by report id. */
  outbox = new Map();

  constructor(name) {
    this.#name = name;
  }

  /** Look for a stored state; return the reason for which nothing can be collected, or null. */
  look() {
    return this.#next(async () => {
      if (this.#storage !== null) return null;
      try {
        const { storage, lost } = await Storage.find(this.#name);
        this.#storage = storage;
        await this.#read();
        return lost ? "lost" : null;
      } catch {
        return "storage";
      }
    });
  }

  /** Count a refusal or an upload. */
  count(question, reason, number = 1) {
    const name = `${question} ${reason}`;
    this.#counts[name] = (this.#counts[name] ?? 0) + number;
  }

  /** Wait for all that was asked for so far. */
  get idle() {
    return this.#queue;
  }

  /** Run work that only one page at a time may do for this device, such as uploads. */
  exclusively(work) {
    const locks = globalThis.navigator?.locks;
    if (locks) return locks.request(`deniable-send:${this.#name}`, work);
    this.#turn = this.#turn.then(work, work);
    return this.#turn;
  }

  close() {
    this.#storage?.close();
  }

  /** Do one step after those before it. */
  #next(work) {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  /** Return the state as it is stored, writing nothing. */
  read() {
    return this.#next(() => this.#read());
  }

  async #read() {
    if (this.#storage === null) return newState();
    const [stored, waiting, fetched] = await this.#storage.read();
    const state = { ...newState(), ...stored };
    this.#know(state, leftOf(waiting, {}));
    this.fetched = fetched;
    return state;
  }

  #know(state, left) {
    this.consent = state.consent ?? this.consent;
    this.level = state.level || this.level;
    this.retryAt = state.retryAt ?? 0;
    this.outbox = left;
  }

  /** Return all counts by name. */
  counters() {
    return this.#next(async () => {
      const all = { ...(await this.#read()).counters };
      for (const [name, number] of Object.entries(this.#counts)) add(all, name, number);
      return all;
    });
  }

  /**
   * Run `change(state, waiting)` in one transaction, after those before it.
   *
   * It may change the state, and returns {result, put, drop, fetched}; if it throws, nothing is stored.
   * Where there is no database, `make` makes one: the person has spoken. With `adds` it only adds to
   * what waits, and need not read it.
   */
  change(change, { make = false, adds = false } = {}) {
    return this.#next(async () => {
      if (make) this.#storage ??= await Storage.make(this.#name);
      return this.#change(change, adds);
    });
  }

  async #change(change, adds) {
    if (this.#storage === null) return change(newState(), []).result;
    const counted = this.#counts;
    this.#counts = {};
    let after = null;
    try {
      const result = await this.#storage.change((before, waiting) => {
        const state = { ...newState(), ...before };
        const done = change(state, waiting);
        for (const [name, number] of Object.entries(counted)) add(state.counters, name, number);
        after = { state, waiting, done };
        return { ...done, state };
      }, adds ? this.outbox.size : null);
      const { state, waiting, done } = after;
      this.#know(state, Array.isArray(waiting) ? leftOf(waiting, done) : this.outbox);
      if (!Array.isArray(waiting)) for (const one of done.put ?? []) this.outbox.set(one.id, one);
      return result;
    } catch (error) {
      // Nothing was stored: what was counted goes with the next change.
      for (const [name, number] of Object.entries(counted)) add(this.#counts, name, number);
      throw error;
    }
  }
}

const add = (counts, name, number) => {
  counts[name] = (counts[name] ?? 0) + number;
};

function leftOf(waiting, { put = [], drop = [] }) {
  const left = new Map([...waiting, ...put].map((entry) => [entry.id, entry]));
  for (const id of drop) left.delete(id);
  return left;
}
