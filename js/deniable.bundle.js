/* deniable 0.1.0, Apache-2.0. Made by scripts/js_bundle from js/: do not edit. */
const modules = {
"src/absence.js"() {
const { ABSENT } = need("src/absent.js");
const ledger = need("src/ledger.js");
const { STALE_DAYS } = need("src/outbox.js");
const { make } = need("src/recorder.js");
const { Refused } = need("src/refused.js");
function look(state, waiting, terms) {
  const { survey, day } = terms;
  const [made, counted] = [[], []];
  for (const question of survey.known.filter((q) => q.absent)) {
    const place = ledger.placeOf(question);
    const epoch = Math.floor(day / question.epoch);
    const missed = (state.seen[place] ?? []).filter((seen) => seen < epoch);
    for (const over of missed) {
      const reason = closeEpoch(state, waiting + made.length, question, over, terms, made);
      if (reason !== null) counted.push([question.id, reason]);
    }
    const open = survey.asked.includes(question) && day <= ledger.lastDay(question);
    const answered = question.repeat === "once" && missed.length > 0;
    if (open && !answered && !ledger.isUsed(state, question, epoch)) {
      const seen = (state.seen[place] ??= []);
      if (!seen.includes(epoch)) seen.push(epoch);
    }
  }
  return { made, counted };
}
function closeEpoch(state, waiting, question, epoch, terms, made) {
  ledger.forgetSeenOnly(state, question, epoch);
  if (ledger.lastDayOf(question, epoch) + STALE_DAYS < terms.day) return "stale";
  try {
    made.push(make(state, waiting, question, question.answers(ABSENT), epoch, terms));
    return null;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return error.reason === "answered" ? null : error.reason;
  }
}
return { look };
},
"src/absent.js"() {
const ABSENT = Symbol("absent");
return { ABSENT };
},
"src/acknowledgement.js"() {
const FINAL = ["schema", "record", "digest", "expired", "too_late", "oversize"];
const OF_REPORTS = ["schema", "unknown_question", "unknown_version", "digest", "expired",
  "too_early", "too_late", "record"];
const SPLIT = ["oversize", "batch_size"];
const KNOWN = [...OF_REPORTS, ...SPLIT];
const isCount = (value) => Number.isInteger(value) && value >= 0;
const outcome = (reason) => FINAL.includes(reason)
  ? { counter: `refused_${reason}`, leaves: true }
  : { counter: `waiting_${KNOWN.includes(reason) ? reason : "other"}`, leaves: false };
function judge({ status, type, body }, count) {
  const read = parsed(body);
  if (status === 200) return acknowledged(read, count);
  const media = (type ?? "").split(";")[0].trim().toLowerCase();
  const problem = status >= 400 && status < 500 && media === "application/problem+json";
  const reason = problem && typeof read?.reason === "string" ? read.reason : null;
  if (!KNOWN.includes(reason) && status !== 413) return "wait";
  return count > 1 ? "split" : [outcome(reason)];
}
function acknowledged(read, count) {
  const { accepted, duplicates, problems } = Object(read);
  if (!isCount(accepted) || !isCount(duplicates) || !Array.isArray(problems)) return "wait";
  if (accepted + duplicates + problems.length !== count) return "wait";
  const outcomes = new Array(count).fill(null);
  for (const problem of problems) {
    const { index, reason } = Object(problem);
    if (!isCount(index) || index >= count || outcomes[index]) return "wait";
    outcomes[index] = outcome(reason);
  }
  return outcomes.map((found) => found ?? { counter: "uploaded", leaves: true });
}
function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
const LONGEST = 86_400_000;
function retryAfter(header, now) {
  const text = (header ?? "").trim();
  const asked = /^\d{1,12}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Math.min(LONGEST, Math.max(0, asked || 0));
}
return { judge, retryAfter };
},
"src/answers.js"() {
const { ABSENT } = need("src/absent.js");
const { join, little, utf8 } = need("src/bytes.js");
const { isWellFormed } = need("src/canonical.js");
const { codeKey, fingerprint } = need("src/hashing.js");
const { must } = need("src/refused.js");
const MOST_BYTES = 4096;
const MOST_CATEGORIES = 65536;
const DECIMAL = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?$/;
const kept = (condition, message) => must(condition, "domain", message);
const isText = (value) => typeof value === "string";
const isRising = (list) => list.every((item, i) => i === 0 || list[i - 1] < item);
const points = (text) => Array.from(text, (letter) => letter.codePointAt(0));
const hasExactly = (object, ...names) =>
  typeof object === "object" && object !== null && !Array.isArray(object) &&
  Object.keys(object).sort().join() === names.sort().join();
function answerOf(key, more = {}) {
  let words = null;
  return { key, code: -1, members: [], codes: [], ...more, get words() {
    return (words ??= fingerprint(key));
  } };
}
const coded = (code) => answerOf(codeKey(code), { code });
const keyOf = (letter, codes) =>
  join(Uint8Array.of(letter.charCodeAt(0)), ...codes.map((code) => little(code)));
const ABSENT_ANSWER = answerOf(Uint8Array.of(0x61));
const closedDomains = {
  boolean: (data) => hasExactly(data, "type") && closed(2, (value) => {
    must(typeof value === "boolean", "type", "The value must be true or false.");
    return Number(value);
  }),
  categories: (data) => {
    if (!hasExactly(data, "type", "values")) return null;
    const codeOf = codesOf(names(data.values, MOST_CATEGORIES));
    return closed(data.values.length, codeOf);
  },
  numbers: (data) => {
    if (!hasExactly(data, "type", "edges")) return null;
    const edges = edgesOf(data.edges);
    return closed(edges.length + 1, (value) => binOf(edges, value));
  },
};
const OTHERS = ["set", "strings", "profile"];
function readClosed(data) {
  const kind = data?.type;
  const read = isText(kind) && Object.hasOwn(closedDomains, kind) && closedDomains[kind](data);
  return read ? { kind, ...read } : null;
}
async function readDomain(data) {
  const kind = data?.type;
  const open = OTHERS.includes(kind);
  const read = open ? (await load(`src/domains/${kind}.js`)).read(data) : readClosed(data);
  kept(read, "A domain must be one of the protocol's, with exactly its members.");
  return { kind, ...read };
}
function closed(size, codeOf) {
  return { size, codeOf, answer: (value) => coded(codeOf(value)) };
}
function names(values, most) {
  kept(Array.isArray(values) && values.length >= 2 && values.length <= most,
    "Categories must be a list of 2 or more names.");
  for (const name of values) {
    kept(isText(name) && name !== "" && isWellFormed(name) && name.normalize("NFC") === name &&
      utf8(name).length <= MOST_BYTES, "Category names must be short strings in NFC.");
  }
  kept(new Set(values).size === values.length, "Category names must differ.");
  return values;
}
function codesOf(values) {
  const codes = new Map(values.map((name, code) => [name, code]));
  return (value) => {
    must(isText(value), "type", "The value must be a string, the name of a category.");
    const short = value.length <= 2 * MOST_BYTES && points(value).length <= MOST_BYTES;
    const code = short ? codes.get(value.normalize("NFC")) : undefined;
    must(code !== undefined, "unknown_category", "The value is not one of the categories.");
    return code;
  };
}
function edgesOf(edges) {
  kept(Array.isArray(edges) && edges.length >= 1 && edges.length < MOST_CATEGORIES &&
    edges.every((edge) => isText(edge) && edge.length <= 32 && DECIMAL.test(edge)),
  "Edges must be a list of decimal numbers, as strings.");
  const numbers = edges.map(Number);
  kept(numbers.every(Number.isFinite) && isRising(numbers), "Edges must rise and be finite.");
  return numbers;
}
function binOf(edges, value) {
  must(typeof value === "number" || typeof value === "bigint", "type",
    "The value must be a number.");
  const number = Number(value);
  must(!Number.isNaN(number), "not_a_number", "The value must not be NaN.");
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= number) low = middle + 1;
    else high = middle;
  }
  return low;
}
function byName(value, allowed) {
  must(typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Set), "type", "The value must be an object with a value for each name.");
  must(Object.keys(value).every((name) => allowed.includes(name)), "unknown_field",
    "The value has a name that the question has not.");
  return value;
}
function fieldAnswer(domain, value, absent) {
  if (value !== ABSENT) return domain.answer(value);
  must(absent, "type", "This question has no absent answer.");
  return answerOf(Uint8Array.of(0x61), { code: domain.size ?? -1 });
}
return { MOST_BYTES, MOST_CATEGORIES, kept, isText, isRising, points, hasExactly, answerOf, keyOf, ABSENT_ANSWER, readClosed, readDomain, names, codesOf, byName, fieldAnswer };
},
"src/bytes.js"() {
const encoder = new TextEncoder();
const utf8 = (text) => encoder.encode(text);
function join(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
function little(number, size = 4) {
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++, number = Math.floor(number / 256)) bytes[i] = number % 256;
  return bytes;
}
const number = (bytes) => bytes.reduceRight((sum, byte) => sum * 256 + byte, 0);
const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (two) => parseInt(two, 16));
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
function toBase64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const three = (bytes[i] << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const count = Math.min(4, bytes.length - i + 1);
    for (let j = 0; j < count; j++) text += LETTERS[(three >> (18 - 6 * j)) & 63];
  }
  return text;
}
function fromBase64(text) {
  const bytes = [];
  for (let i = 0; i < text.length; i += 4) {
    let four = 0;
    for (let j = 0; j < 4; j++) {
      const digit = i + j < text.length ? LETTERS.indexOf(text[i + j]) : 0;
      if (digit < 0) return null;
      four = four * 64 + digit;
    }
    const count = Math.min(4, text.length - i) - 1;
    bytes.push(...[four >>> 16, (four >>> 8) & 255, four & 255].slice(0, count));
  }
  const read = Uint8Array.from(bytes);
  return toBase64(read) === text ? read : null;
}
const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
return { utf8, join, little, number, hex, unhex, toBase64, fromBase64, same };
},
"src/canonical.js"() {
const { must, Refused } = need("src/refused.js");
const DEEPEST = 16;
const broken = () => new Refused("json", "The text must be JSON.");
const held = (condition) =>
  must(condition, "value",
    "Canonical JSON holds objects, arrays, strings and integers of at most 53 bits.");
function canonical(value) {
  check(value, 0);
  return write(value);
}
function check(value, depth) {
  held(depth <= DEEPEST);
  if (typeof value === "string") return held(isWellFormed(value));
  if (typeof value === "number") return held(Number.isSafeInteger(value));
  held(typeof value === "object" && value !== null);
  for (const [key, inner] of Object.entries(value)) {
    held(Array.isArray(value) || /^[\0-\x7f]*$/.test(key));
    check(inner, depth + 1);
  }
}
function write(value) {
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${write(value[key])}`).join(",")}}`;
}
const isWellFormed = (text) => !/\p{Surrogate}/u.test(text);
function parse(text) {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.space();
  if (reader.at < text.length) throw broken();
  check(value, 0);
  return value;
}
class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }
  space() {
    while (" \t\n\r".includes(this.text[this.at] || "x")) this.at++;
  }
  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found && found[0];
  }
  value(depth) {
    if (depth > 100) throw broken();
    this.space();
    const first = this.text[this.at];
    if (first === "{") return this.list("}", (into) => this.member(into, depth), {});
    if (first === "[") {
      return this.list("]", (into) => (into.push(this.value(depth + 1)), into), []);
    }
    if (first === '"') return this.string();
    const number = this.take(/-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y);
    if (number !== null) {
      held(/^-?\d+$/.test(number) && Number.isSafeInteger(Number(number)));
      return Number(number) + 0;
    }
    const word = this.take(/true|false|null/y);
    if (word === null) throw broken();
    held(false);
  }
  member(into, depth) {
    this.space();
    if (this.text[this.at] !== '"') throw broken();
    const key = this.string();
    this.space();
    if (this.text[this.at++] !== ":") throw broken();
    must(!Object.hasOwn(into, key), "members", "An object must not name a member twice.");
    const value = this.value(depth + 1);
    return Object.defineProperty(into, key, { value, enumerable: true, writable: true });
  }
  list(end, one, into) {
    this.at++;
    this.space();
    if (this.text[this.at] === end) return this.at++, into;
    for (;;) {
      one(into);
      this.space();
      const next = this.text[this.at++];
      if (next === end) return into;
      if (next !== ",") throw broken();
    }
  }
  string() {
    const found = this.take(/"([^"\\\u0000-\u001f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y);
    if (found === null) throw broken();
    return JSON.parse(found);
  }
}
return { canonical, isWellFormed, parse };
},
"src/client.js"() {
const { Device } = need("src/device.js");
const { begin, roundUp, totalOf, wipe } = need("src/state.js");
const MICRO = 1_000_000;
const MOST_DAYS = 1_000_000;
const MOST_DELAY = 1_000_000;
class Client {
  #device;
  #engine = null;
  #fixed = null;
  #said = null;
  #closed = false;
  static async open(options = {}) {
    check(options);
    const client = new Client();
    client.#device = new Device(options.name ?? "default");
    client.#fixed = await client.#prepare(options.storage ?? "persistent");
    const page = { state: () => client.state, denied: () => client.#said?.word === "denied",
      look: async () => { client.#fixed ??= await client.#device.look(); } };
    try {
      const { Engine } = await load("src/engine.js");
      client.#engine = await Engine.open(client.#device, page, options);
    } catch (error) {
      client.#device.close();
      throw error;
    }
    return client;
  }
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
  get state() {
    if (this.#closed) return "closed";
    if (this.#fixed !== null) return this.#fixed;
    if (this.consent !== "granted") return "no_consent";
    return hasSignal() && !this.#word.despiteSignal ? "signal" : "ready";
  }
  get consent() {
    return this.#word.word;
  }
  get #word() {
    return this.#said ?? this.#device.consent;
  }
  get signal() {
    return hasSignal();
  }
  get levels() {
    return { offered: this.#engine.levels, chosen: this.#device.level };
  }
  async optIn({ despiteSignal = false } = {}) {
    const level = this.#device.level;
    const done = await this.#say({ word: "granted", despiteSignal }, (state) => {
      state.level = level;
      begin(state);
    });
    if (done) this.#engine.soon();
    return done;
  }
  optOut() {
    return this.#say({ word: "denied", despiteSignal: false }, (state, waiting) => {
      wipe(state);
      return waiting.map(({ id }) => id);
    });
  }
  async #say(said, change) {
    if (this.#fixed === null || said.word === "denied") this.#said = said;
    const done = await this.#keep((state, waiting) => {
      state.consent = said;
      return change(state, waiting);
    });
    if (this.#said === said && (done || said.word === "granted")) this.#said = null;
    return done;
  }
  async choose(level) {
    this.#engine.choose(level);
    return this.consent !== "granted" || this.#keep((state) => {
      state.level = level;
    });
  }
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
  record(id, value) {
    return this.#engine.record(id, value);
  }
  async disclosed() {
    const state = await this.#device.read();
    const questions = Object.entries(state.ledger).map(([question, line]) => ({
      question, reports: line.reports, answers: line.answers, epsilon: roundUp(line.micros),
    }));
    const window = this.#engine.window(state);
    return { epsilon: roundUp(totalOf(state)), ceiling: this.#engine.ceiling / MICRO, questions,
      ...(window && { window: { ...window, spent: roundUp(window.spent) } }) };
  }
  async pending() {
    await this.#device.read();
    return [...this.#device.outbox.values()].map(({ report }) => ({ ...report }));
  }
  async stages(id, value, report = undefined) {
    const { secret } = await this.#device.read();
    const waiting = (await this.pending()).filter(({ question }) => question === id);
    const newest = waiting.sort((a, b) => a.epoch - b.epoch).at(-1);
    return this.#engine.stages(id, value, secret, report ?? newest);
  }
  async counters() {
    return Object.entries(await this.#device.counters()).map(([name, number]) => {
      const [question, reason] = name.split(" ");
      return { question, reason, number };
    });
  }
  async flush() {
    await this.#device.idle;
    await this.#engine.turn(true);
    return ![...this.#device.outbox.values()].some((entry) => entry.due !== null);
  }
  refresh() {
    return this.#engine.refresh();
  }
  async close() {
    this.#closed = true;
    this.#engine.close();
    await this.#device.idle;
    this.#device.close();
  }
}
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
function isInForeignFrame() {
  try {
    for (let page = globalThis.window; page && page.parent !== page; page = page.parent) {
      if (page.parent.location.origin !== globalThis.location.origin) return true;
    }
    return false;
  } catch {
    return true;
  }
}
function hasSignal() {
  const { globalPrivacyControl, doNotTrack } = globalThis.navigator ?? {};
  return globalPrivacyControl === true || doNotTrack === "1";
}
return { Client };
},
"src/device.js"() {
const { newState } = need("src/state.js");
const { Storage } = need("src/storage.js");
class Device {
  #name;
  #storage = null;
  #queue = Promise.resolve();
  #turn = Promise.resolve();
  #counts = {};
  consent = { word: "unknown", despiteSignal: false };
  level = "";
  fetched = null;
  retryAt = 0;
  outbox = new Map();
  constructor(name) {
    this.#name = name;
  }
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
  count(question, reason, number = 1) {
    const name = `${question} ${reason}`;
    this.#counts[name] = (this.#counts[name] ?? 0) + number;
  }
  get idle() {
    return this.#queue;
  }
  exclusively(work) {
    const locks = globalThis.navigator?.locks;
    if (locks) return locks.request(`deniable-send:${this.#name}`, work);
    this.#turn = this.#turn.then(work, work);
    return this.#turn;
  }
  close() {
    this.#storage?.close();
  }
  #next(work) {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }
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
  counters() {
    return this.#next(async () => {
      const all = { ...(await this.#read()).counters };
      for (const [name, number] of Object.entries(this.#counts)) add(all, name, number);
      return all;
    });
  }
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
return { Device };
},
"src/domains/profile.js"() {
const { answerOf, byName, hasExactly, isText, kept, keyOf, readClosed } = need("src/answers.js");
const { must } = need("src/refused.js");
function read(data) {
  if (!hasExactly(data, "type", "attributes")) return null;
  const { attributes } = data;
  kept(Array.isArray(attributes) && attributes.length >= 2 && attributes.length <= 32,
    "A domain has 2 to 32 attributes.");
  const all = attributes.map((attribute) => {
    const perhaps = Object.hasOwn(Object(attribute), "unknown");
    kept(hasExactly(attribute, "name", "domain", ...(perhaps ? ["unknown"] : [])) &&
      isText(attribute.name) && /^[a-z][a-z0-9_]{0,31}$/.test(attribute.name) &&
      (!perhaps || attribute.unknown === 1), "A domain's attribute has a name.");
    const domain = readClosed(attribute.domain);
    kept(domain, "A domain's attribute must be boolean, categories or numbers.");
    kept(!(perhaps && attribute.domain.values?.includes("unknown")),
      "A domain's attribute that may be unknown has no category of that name.");
    return { name: attribute.name, domain, perhaps };
  });
  kept(new Set(all.map(({ name }) => name)).size === all.length,
    "A domain's attributes must differ.");
  const levels = all.map(({ domain, perhaps }) => domain.size + Number(perhaps));
  const answer = (value) => {
    const given = byName(value, all.map(({ name }) => name));
    const codes = all.map(({ name, domain, perhaps }) => {
      if (Object.hasOwn(given, name)) return domain.codeOf(given[name]);
      must(perhaps, "missing_field", "The value must have every attribute.");
      return domain.size;
    });
    return answerOf(keyOf("r", codes), { codes });
  };
  return { size: null, levels, answer };
}
return { read };
},
"src/domains/set.js"() {
const { answerOf, codesOf, hasExactly, keyOf, kept, MOST_CATEGORIES, names } = need("src/answers.js");
const { hex, join, little } = need("src/bytes.js");
const { must, Refused } = need("src/refused.js");
const { read: readStrings } = need("src/domains/strings.js");
const read = (data) =>
  hasExactly(data, "type", "values", "most") ? setOf(data) : stringSetOf(data);
function setOf({ values, most }) {
  const codeOf = codesOf(names(values, MOST_CATEGORIES - 1));
  kept(Number.isInteger(most) && most >= 1 && most <= values.length,
    "A domain's 'most' must be from 1 to the number of names.");
  const tooMany = new Refused("too_many", "The set has more members than the question allows.");
  const answer = (value) => {
    const list = listOf(value);
    if (list.length > MOST_CATEGORIES) throw tooMany;
    const members = [...new Set(list.map(codeOf))].sort((a, b) => a - b);
    if (members.length > most) throw tooMany;
    return answerOf(keyOf("m", members), { members });
  };
  return { size: values.length + 1, names: values.length, most, answer };
}
function stringSetOf({ most, ...rest }) {
  const strings = readStrings(rest);
  if (!strings) return null;
  kept(Number.isInteger(most) && most >= 1 && most < MOST_CATEGORIES,
    "A domain's 'most' must be from 1 to 65,535.");
  const answer = (value) => {
    const list = listOf(value);
    must(list.length < MOST_CATEGORIES, "too_many", "The set has too many members.");
    const byKey = new Map(list.map((text) => strings.answer(text)).map((a) => [hex(a.key), a]));
    const texts = [...byKey.keys()].sort().map((key) => byKey.get(key));
    const parts = texts.flatMap(({ key }) => [little(key.length), key]);
    return answerOf(join(Uint8Array.of(0x74), ...parts), { texts });
  };
  return { ...strings, most, answer };
}
function listOf(value) {
  const list = value instanceof Set ? [...value] : value;
  must(Array.isArray(list), "type", "The value must be a list.");
  return list;
}
return { read };
},
"src/domains/strings.js"() {
const { answerOf, hasExactly, isRising, isText, kept, MOST_BYTES, points } = need("src/answers.js");
const { join, utf8 } = need("src/bytes.js");
const { isWellFormed } = need("src/canonical.js");
const { must, Refused } = need("src/refused.js");
const ESCAPE = "\ufffd";
function read(data) {
  if (hasExactly(data, "type")) return { size: null, answer: (value) => stringAnswer(value) };
  if (!hasExactly(data, "type", "alphabet", "length", "outside")) return null;
  const { alphabet, length, outside } = data;
  kept(isText(alphabet) && isAlphabet(alphabet), "A domain's alphabet must rise, in NFC.");
  kept(Number.isInteger(length) && length >= 1 && length <= 256, "A domain's length is 1 to 256.");
  kept(outside === "refuse" || outside === "escape", "A domain's outside is refuse or escape.");
  const escape = outside === "escape";
  kept(!(escape && alphabet.includes(ESCAPE)), "A domain's alphabet must not hold the escape.");
  const letters = [...alphabet, ...(escape ? ESCAPE : "")]
    .sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
  const known = new Set(letters);
  const fit = (text) => Array.from(text).slice(0, length).map((letter) => {
    must(escape || known.has(letter), "alphabet", "The value has a letter outside the alphabet.");
    return known.has(letter) ? letter : ESCAPE;
  }).join("");
  return { size: null, length, letters, answer: (value) => stringAnswer(value, fit) };
}
function isAlphabet(text) {
  const codes = points(text);
  return isWellFormed(text) && codes.length >= 2 && codes.length <= MOST_BYTES &&
    isRising(codes) && [...text].every((letter) => letter.normalize("NFC") === letter);
}
function stringAnswer(value, fit = (text) => text) {
  must(isText(value), "type", "The value must be a string.");
  const tooLong = new Refused("too_long", "A string must have at most 4,096 UTF-8 bytes.");
  if (value.length > 2 * MOST_BYTES || points(value).length > MOST_BYTES) throw tooLong;
  must(isWellFormed(value), "bad_unicode", "A string must not hold unpaired surrogates.");
  const text = value.normalize("NFC");
  if (utf8(text).length > MOST_BYTES) throw tooLong;
  const fitted = fit(text);
  return answerOf(join(Uint8Array.of(0x73), utf8(fitted)), { text: fitted, fitted: fitted !== text });
}
return { read, isAlphabet };
},
"src/draws.js"() {
const { hmacOf } = need("src/sha256.js");
const { join, little, utf8 } = need("src/bytes.js");
class Draws {
  high = 0;
  low = 0;
  coin(t) {
    this.word();
    return this.high < t.high || (this.high === t.high && this.low < t.low) ? 1 : 0;
  }
  below(n) {
    if (n === 1) return 0;
    const shift = Math.clz32(n - 1);
    for (;;) {
      this.word();
      const drawn = (this.low << shift) >>> shift;
      if (drawn < n) return drawn;
    }
  }
}
class Stream extends Draws {
  #key;
  #hmac = null;
  #block = 0;
  #view = null;
  #at = 32;
  constructor(key) {
    super();
    this.#key = key;
  }
  word() {
    if (this.#at === 32) {
      this.#hmac ??= hmacOf(typeof this.#key === "function" ? this.#key() : this.#key);
      this.#view = new DataView(this.#hmac(little(this.#block++)).buffer);
      this.#at = 0;
    }
    this.low = this.#view.getUint32(this.#at, true);
    this.high = this.#view.getUint32(this.#at + 4, true);
    this.#at += 8;
  }
}
class Fresh extends Draws {
  #words = new Uint32Array(256);
  #at = 256;
  word() {
    if (this.#at === this.#words.length) {
      globalThis.crypto.getRandomValues(this.#words);
      this.#at = 0;
    }
    this.high = this.#words[this.#at];
    this.low = this.#words[this.#at + 1];
    this.#words[this.#at] = this.#words[this.#at + 1] = 0;
    this.#at += 2;
  }
}
const SALT = utf8("deniable/v1");
function derive(secret, ...pieces) {
  const info = pieces.map((piece) => join(little(piece.length), piece));
  return hmacOf(hmacOf(SALT)(secret))(join(...info, Uint8Array.of(1)));
}
return { Stream, Fresh, derive };
},
"src/encode.js"() {
const { answerOf, ABSENT_ANSWER } = need("src/answers.js");
const { join, little, utf8 } = need("src/bytes.js");
const { derive, Stream } = need("src/draws.js");
const { codeKey } = need("src/hashing.js");
const pieces = (what, question, field, ...more) => [
  utf8(what), utf8(question.id), little(question.version), question.digest, utf8(field.name),
  ...more,
];
const tagOf = (secret, question, field, answer) =>
  derive(secret, ...pieces("tag", question, field, answer.key)).subarray(0, 16);
const paidMark = (secret, question) =>
  derive(secret, utf8("paid"), utf8(question.id), little(question.version), question.digest)
    .subarray(0, 16);
const orderWord = (secret, id) =>
  new DataView(derive(secret, utf8("order"), utf8(id)).buffer).getBigUint64(0, true);
const isAsked = (secret, { id, asked }) =>
  asked === null || new Stream(derive(secret, utf8("asked"), utf8(id))).coin(asked) === 1;
function encode(question, answers, secret, fresh) {
  return join(...question.fields.map((field, i) =>
    encodeField(question, field, answers[i], secret, { fresh })));
}
function encodeField(question, field, answer, secret, { fresh, ...given }) {
  const stream = (what, ...more) =>
    new Stream(() => derive(secret, ...pieces(what, question, field, ...more)));
  const cohort = stream("cohort");
  const permanent = given.permanent ?? stream("permanent", answer.key);
  const draws = given.report ??
    (question.repeat === "permanent" ? stream("report", answer.key) : fresh);
  const { mechanism, domain } = field;
  const reported = oneMember(domain, mechanism, answer, mechanism.memoised ? permanent : draws);
  return mechanism.encode(reported, cohort, permanent, draws);
}
function oneMember(domain, mechanism, answer, draws) {
  if (answer.texts) {
    const place = draws.below(Math.max(domain.most, answer.texts.length));
    return answer.texts[place] ?? ABSENT_ANSWER;
  }
  if (domain.kind !== "set" || domain.size === null || mechanism.perMember || answer.code >= 0) return answer;
  const place = draws.below(domain.most);
  const code = answer.members[place] ?? domain.names;
  return answerOf(codeKey(code), { code });
}
return { tagOf, paidMark, orderWord, isAsked, encode, encodeField };
},
"src/engine.js"() {
const { hex, same, utf8 } = need("src/bytes.js");
const ledger = need("src/ledger.js");
const { backOff, outdated, release } = need("src/outbox.js");
const { make } = need("src/recorder.js");
const { Refused } = need("src/refused.js");
const { sha256 } = need("src/sha256.js");
const { readSurvey } = need("src/survey.js");
const CYCLE = 60_000;
const DAY = 86_400_000;
const LAST_DAY = 2 ** 31 - 1;
const MICRO = 1_000_000;
const MOST_WAITING = 1000;
const TIMEOUT = 10_000;
const MAY_CHANGE = ["ready", "no_consent", "signal"];
class Engine {
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
  #answered = new Map();
  #leave = () => this.#sendLast();
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
      const { addressOf, Uploader } = await load("src/upload.js");
      this.#uploader = new Uploader(addressOf(collector, "/v1/reports"), writeKey);
      this.#address = addressOf(collector, "/v1/survey");
    }
    if (window !== undefined) {
      const { fits, fullest } = await load("src/window.js");
      const budget = { micros: Math.floor(window.epsilon * MICRO), days: window.days };
      this.#terms.budget = (...report) => fits(report[0], budget, ...report.slice(1));
      this.#window = (state) => ({ ...window, spent: fullest(state, window.days) });
    }
    await this.#takeUp((await this.#remembered()) ?? this.#bundled);
  }
  async #remembered() {
    const { fetched } = this.#device;
    if (fetched?.base !== this.#terms.base) return null;
    try {
      return (await this.#narrowed(fetched.body)).survey;
    } catch {
      return null;
    }
  }
  async #narrowed(body) {
    const { narrowed } = await load("src/fetched.js");
    const { survey, leftOut } = narrowed(this.#bundled, await readSurvey(body), this.#trusted);
    return { survey: survey === this.#bundled ? survey : { ...survey, body }, leftOut };
  }
  async #takeUp(whole) {
    if (whole.levels.length) this.#levels ??= await load("src/levels.js");
    if (whole.known.some(({ absent }) => absent)) this.#absence ??= await load("src/absence.js");
    this.#whole = whole;
    this.#level = null;
    this.#follow();
  }
  #follow() {
    const { level } = this.#device;
    if (this.#level === level) return;
    this.#level = level;
    this.#survey = this.#levels ? this.#levels.atLevel(this.#whole, level) : this.#whole;
    this.#newest = new Map(this.#survey.asked.map((question) => [question.id, question]));
  }
  get levels() {
    return [...this.#whole.levels];
  }
  choose(level) {
    if (!this.#whole.levels.includes(level)) {
      throw new RangeError(
        `The level must be one that the survey offers: ${this.levels.join(", ") || "none"}.`);
    }
    this.#device.level = level;
    this.#follow();
  }
  get ceiling() {
    const own = this.#ceiling ?? this.#bundled.ceiling ?? ledger.DEFAULT_CEILING;
    return this.#whole === this.#bundled ? own : Math.min(own, this.#whole.ceiling ?? own);
  }
  window(state) {
    return this.#window && this.#window(state);
  }
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
      const answers = question.answers(value);
      this.#notice(question, answers);
      return this.#commit(question, answers, epoch);
    } catch (error) {
      this.#device.count(name, error instanceof Refused ? error.reason : "type");
      return Promise.resolve(false);
    }
  }
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
  async stages(id, value, secret, report) {
    const { stagesOf } = await load("src/stages.js");
    return stagesOf(this.#newest.get(id), value, secret, report);
  }
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
      await this.#device.change(() => ({ fetched: kept }), { adds: true }).catch(() => this.#device.count("", "storage"));
      return true;
    } catch (error) {
      this.#device.count("", error instanceof Refused ? "bad_survey" : "unreachable");
      return false;
    }
  }
  soon() {
    clearTimeout(this.#timer);
    if (!MAY_CHANGE.includes(this.#page.state())) return;
    const now = Date.now();
    const times = [...this.#device.outbox.values()].map(({ due }) => due ?? Infinity);
    const next = Math.max(Math.min(now + CYCLE, ...times), this.#uploader?.notBefore ?? 0, now + 50);
    this.#timer = setTimeout(() => this.turn(false).finally(() => this.soon()), next - now);
    this.#timer.unref?.();
  }
  turn(all) {
    return this.#device.exclusively(() => this.#work(all));
  }
  async #work(all) {
    await this.#page.look();
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
  #sendLast() {
    if (this.#uploader === null || this.#page.state() !== "ready") return;
    if (globalThis.document?.visibilityState === "visible") return;
    const now = Date.now();
    if (now < this.#uploader.notBefore || isToldToWait(this.#device, now)) return;
    this.#uploader.sendLast([...this.#device.outbox.values()]
      .filter((entry) => entry.due !== null && entry.due <= now && entry.stale === null));
  }
  close() {
    clearTimeout(this.#timer);
    globalThis.removeEventListener?.("pagehide", this.#leave);
    globalThis.document?.removeEventListener("visibilitychange", this.#leave);
  }
}
const isToldToWait = ({ retryAt }, now) => retryAt > now && retryAt - now <= DAY;
const answeredAs = ({ repeat }, epoch) => (repeat === "once" ? "once" : epoch);
async function bytesOf(survey) {
  if (survey instanceof Uint8Array) return survey;
  return survey.trimStart().startsWith("{") ? utf8(survey) : fetched(survey);
}
async function fetched(address) {
  const response = await fetch(address, { cache: "no-store", credentials: "omit",
    referrerPolicy: "no-referrer", signal: AbortSignal.timeout(TIMEOUT) });
  if (response.status !== 200) {
    throw new Error(`The survey could not be fetched: status ${response.status}.`);
  }
  return new Uint8Array(await response.arrayBuffer());
}
return { Engine };
},
"src/epsilon.js"() {
const DIGITS = 256n;
const UNIT = 1n << DIGITS;
const MICRO = 1_000_000n;
const SLACK = UNIT / 10n ** 55n;
function twiceAtanh(p, q) {
  const z = (p * UNIT) / q;
  const square = (z * z) / UNIT;
  let sum = 0n;
  for (let power = z, odd = 1n; power > 0n; power = (power * square) / UNIT, odd += 2n) {
    sum += power / odd;
  }
  return 2n * sum;
}
const LN2 = twiceAtanh(1n, 3n);
function ln(n) {
  const bits = BigInt(n.toString(2).length - 1);
  const power = 1n << bits;
  return bits * LN2 + twiceAtanh(n - power, n + power);
}
function microsOf([numerator, denominator]) {
  if (numerator <= denominator) return 0;
  const above = ln(numerator) - ln(denominator) + SLACK;
  return Number((above * MICRO + UNIT - 1n) / UNIT);
}
const powerOf = ([numerator, denominator], power) => [
  numerator ** BigInt(power),
  denominator ** BigInt(power),
];
const larger = (a, b) => (a[0] * b[1] >= b[0] * a[1] ? a : b);
const times = (a, b) => [a[0] * b[0], a[1] * b[1]];
return { microsOf, powerOf, larger, times };
},
"src/fetched.js"() {
const { hex, utf8 } = need("src/bytes.js");
const { canonical } = need("src/canonical.js");
const { firstCost } = need("src/ledger.js");
const { sha256 } = need("src/sha256.js");
const { newest } = need("src/survey.js");
const OFTEN = { once: 0, permanent: 1, epoch: 2 };
const earlierOf = (a, b) => (a < b ? a : b);
const lastOf = (list) => list.reduce((a, b) => (a > b ? a : b));
function narrowed(bundled, fetched, trusted) {
  const text = canonical(fetched.data);
  if (text === canonical(bundled.data)) return { survey: bundled, leftOut: [] };
  const word = trusted === true || (trusted && trusted.includes(hex(sha256(utf8(text)))));
  const [own, theirs] = [byVersion(bundled.asked), byVersion(fetched.questions)];
  const leftOut = [];
  let asked = [];
  for (const [place, levels] of own) {
    const offered = new Map((theirs.get(place) ?? []).map((q) => [hex(q.digest), q]));
    const [one] = offered.values();
    if (levels.every((q) => offered.has(hex(q.digest))) &&
        (word || !staysLonger(keeping(fetched, one), keeping(bundled, levels[0])))) {
      asked.push(...levels.map((q) => lower(q, q, offered.get(hex(q.digest)))));
    }
  }
  const taken = new Set(asked.map(({ id }) => id));
  for (const [place, levels] of byVersion(fetched.asked)) {
    const [{ id }] = levels;
    if (own.has(place) && taken.has(id)) continue;
    const fresh = word ? newVersion(bundled, levels) : null;
    if (fresh === null) leftOut.push(id);
    else asked = [...asked.filter((q) => q.id !== id), ...fresh];
  }
  const digests = new Set(asked.map(({ digest }) => hex(digest)));
  const earlier = bundled.known.filter(({ digest }) => !digests.has(hex(digest)));
  const known = [...asked, ...earlier];
  const levels = [...new Set(known.map(({ level }) => level).filter(Boolean))];
  return { survey: { ...bundled, questions: asked, earlier, known, asked: newest(asked), levels,
    ceiling: fetched.ceiling }, leftOut };
}
function keeping({ data }, question) {
  const own = (name) => question.data[name] ?? data[name];
  return { days: own("retention_days") ?? Infinity, counts: own("keep_counts") === 1 };
}
const staysLonger = (one, other) => other.days !== Infinity &&
  (one.days > other.days || (one.counts && !other.counts));
function byVersion(questions) {
  const found = new Map();
  for (const q of questions) {
    const place = `${q.id} ${q.version}`;
    found.set(place, [...(found.get(place) ?? []), q]);
  }
  return found;
}
function newVersion(bundled, levels) {
  const [{ id, version }] = levels;
  const versions = bundled.known.filter((q) => q.id === id);
  if (versions.length === 0) {
    const last = lastOf(bundled.known.map(({ expires }) => expires));
    return levels.map((q) => ({ ...q, expires: earlierOf(q.expires, last) }));
  }
  const latest = Math.max(...versions.map((q) => q.version));
  const old = versions.filter((q) => q.version === latest);
  const alike = levels.length === old.length && levels.every((q, i) => q.level === old[i].level);
  if (version <= latest || !alike || levels.some((q, i) => asksMore(old[i], q))) return null;
  return levels.map((q, i) => lower(q, old[i], q));
}
function asksMore(old, fresh) {
  const shown = new Map(old.segments.map(({ name, values }) => [name, values]));
  const [before, after] = [costsOf(old), costsOf(fresh)];
  return after.some((cost, i) => cost > before[i]) || fresh.epoch < old.epoch ||
    OFTEN[fresh.repeat] > OFTEN[old.repeat] || (old.absent && !fresh.absent) ||
    fresh.segments.some(({ name, values }) =>
      values.some((value) => !shown.get(name)?.includes(value)));
}
function costsOf(question) {
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const once = sum(question.fields.map(({ mechanism }) => mechanism.once));
  const forever = question.repeat === "epoch"
    ? sum(question.fields.map(({ mechanism }) => mechanism.forever ?? Infinity)) : once;
  return [once, firstCost(question), forever];
}
function lower(question, a, b) {
  const isLess = (x, y) => x.high < y.high || (x.high === y.high && x.low < y.low);
  const shares = [a.asked, b.asked].filter((share) => share !== null);
  const asked = shares.length === 2 && isLess(shares[1], shares[0]) ? shares[1] : shares[0] ?? null;
  return { ...question, expires: earlierOf(a.expires, b.expires), asked };
}
return { narrowed };
},
"src/hashing.js"() {
const { sha256 } = need("src/sha256.js");
const { join, little } = need("src/bytes.js");
const MASK = (1n << 64n) - 1n;
const GOLDEN = 0x9e3779b97f4a7c15n;
function mix(x) {
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return x ^ (x >> 31n);
}
function fingerprint(key) {
  const view = new DataView(sha256(key).buffer);
  return [view.getBigUint64(0, true), view.getBigUint64(8, true)];
}
function chained(symbols) {
  let a = 0n;
  let b = 0n;
  for (const symbol of symbols) {
    a = mix((a + GOLDEN * (BigInt(symbol) + 1n)) & MASK);
    b = mix(b ^ a);
  }
  return [a, b];
}
const wordOf = ([a, b], index) => mix(a ^ mix((b + GOLDEN * (index + 1n)) & MASK));
const placeOf = (words, index, size) =>
  Number(((wordOf(words, index) >> 32n) * BigInt(size)) >> 32n);
const bloomBits = (words, cohort, hashes, bits) =>
  Array.from({ length: hashes }, (_, i) =>
    placeOf(words, BigInt(cohort) * 65536n + BigInt(i), bits));
const codeKey = (code) => join(Uint8Array.of(0x69), little(code));
function rank(code, answers, index) {
  const wordAt = (y) => wordOf(fingerprint(codeKey(y)), index);
  const own = wordAt(code);
  let below = 0;
  for (let y = 0; y < answers; y++) {
    const word = y === code ? own : wordAt(y);
    if (word < own || (word === own && y < code)) below++;
  }
  return below;
}
return { mix, fingerprint, chained, wordOf, placeOf, bloomBits, codeKey, rank };
},
"src/layout.js"() {
const { little, number } = need("src/bytes.js");
const { must } = need("src/refused.js");
const item = (bound, size) => ({ size, bound });
const symbol = (bound) => item(bound, bound <= 256 ? 1 : bound <= 65536 ? 2 : 4);
const bits = (width, size = Math.ceil(width / 8)) => ({ size, width });
function pack(items, values) {
  const record = new Uint8Array(sizeOf(items));
  let at = 0;
  items.forEach(({ size, bound }, i) => {
    record.set(bound ? little(values[i], size) : values[i], at);
    at += size;
  });
  return record;
}
const sizeOf = (items) => items.reduce((sum, { size }) => sum + size, 0);
function unpack(items, record) {
  must(record.length === sizeOf(items), "record", "The record has the wrong size.");
  let at = 0;
  return items.map(({ size, bound, width }) => {
    const part = record.subarray(at, (at += size));
    if (bound) {
      must(number(part) < bound, "record", "A number of the record is too large.");
      return number(part);
    }
    checkBits(part, width);
    return part;
  });
}
function checkBits(part, width) {
  const beyond = part.some((byte, i) => byte >> Math.max(0, Math.min(8, width - 8 * i)));
  must(!beyond, "record", "The bits beyond the last must be zero.");
}
function drawBits(width, coin, size = Math.ceil(width / 8)) {
  const packed = new Uint8Array(size);
  for (let i = 0; i < width; i++) packed[i >> 3] |= coin(i) << (i & 7);
  return packed;
}
return { item, symbol, bits, pack, sizeOf, unpack, checkBits, drawBits };
},
"src/ledger.js"() {
const { hex } = need("src/bytes.js");
const { isAsked, orderWord, paidMark, tagOf } = need("src/encode.js");
const { Refused } = need("src/refused.js");
const { totalOf } = need("src/state.js");
const DEFAULT_CEILING = 16_000_000;
const DAY = 86_400_000;
const dayOf = (milliseconds) => Math.floor(milliseconds / DAY);
const lastDay = (question) => dayOf(Date.parse(`${question.expires}T00:00:00Z`));
const lastDayOf = (question, epoch) => (epoch + 1) * question.epoch - 1;
const placeOf = ({ id, version }) => `${id} ${version}`;
function costOf(question, { mechanism }) {
  if (question.repeat === "permanent") return { micros: mechanism.once, perValue: true };
  if (question.repeat === "once" || mechanism.forever === null) {
    return { micros: mechanism.once, perValue: false };
  }
  return { micros: mechanism.forever, perValue: true };
}
const firstCost = (question) =>
  question.fields.reduce((sum, field) => sum + costOf(question, field).micros, 0);
function isUsed(state, question, epoch) {
  const epochs = state.used[placeOf(question)] ?? [];
  return question.repeat === "once" ? epochs.length > 0 : epochs.includes(epoch);
}
function pin(state, question) {
  const digest = hex(question.digest);
  if ((state.pins[`${placeOf(question)} ${question.level}`] ??= digest) !== digest) {
    throw new Refused("changed", "The question changed without a new version.");
  }
}
function checkVersions(state, question, { own, base }) {
  const no = () => new Refused("fetched", "Another version of this question was answered.");
  if (own.has(hex(question.digest))) {
    if (state.taken[question.id] === base) throw no();
    return;
  }
  const others = Object.keys(state.used).filter((place) => place.split(" ")[0] === question.id);
  if (others.some((place) => place !== placeOf(question))) throw no();
}
function chargeOf(state, question, answers) {
  const charge = { micros: 0, answers: 0, tags: [] };
  question.fields.forEach((field, i) => {
    const { micros, perValue } = costOf(question, field);
    if (perValue) {
      const tag = hex(tagOf(state.secret, question, field, answers[i]));
      if (Object.hasOwn(state.tags, tag)) return;
      charge.tags.push(tag);
    }
    charge.micros += micros;
    charge.answers += 1;
  });
  return charge;
}
function inOrder(secret, questions) {
  const placed = questions.map((question) => [orderWord(secret, question.id), question]);
  placed.sort(([a, q], [b, r]) => (a < b ? -1 : a > b ? 1 : q.id < r.id ? -1 : q.id > r.id ? 1 :
    q.version - r.version));
  return placed.map(([, question]) => question);
}
function isAffordable(state, survey, question, micros, ceiling, day) {
  if (micros === 0) return true;
  const free = ceiling - totalOf(state);
  if (micros > free) return false;
  let [room, own] = [free, 0];
  for (const { question: other, mark, cost } of placesOf(state.secret, survey)) {
    if (!reserves(state, survey, other, day) || wasPaid(state, other, mark)) continue;
    const same = placeOf(other) === placeOf(question);
    if (cost > room) {
      if (same) return false;
      continue;
    }
    room -= cost;
    if (same) own = cost;
  }
  return micros <= room + own;
}
let known = { survey: null, secret: "", places: [] };
function placesOf(secret, survey) {
  if (known.survey !== survey || known.secret !== hex(secret)) {
    const asked = survey.known.filter((q) => isAsked(secret, q));
    const places = inOrder(secret, asked).map((question) =>
      ({ question, mark: hex(paidMark(secret, question)), cost: firstCost(question) }));
    known = { survey, secret: hex(secret), places };
  }
  return known.places;
}
function reserves(state, survey, question, day) {
  if (survey.asked.includes(question) && day <= lastDay(question)) return true;
  return question.absent && (state.seen[placeOf(question)] ?? []).length > 0;
}
function wasPaid(state, question, mark) {
  return Object.hasOwn(state.tags, mark) ||
    (question.repeat === "once" && isUsed(state, question, 0));
}
function enter(state, question, epoch, charge, { own, base }) {
  if (!own.has(hex(question.digest))) state.taken[question.id] = base;
  (state.used[placeOf(question)] ??= []).push(epoch);
  forgetSeen(state, question, epoch);
  for (const tag of charge.tags) state.tags[tag] = 1;
  if (question.repeat !== "once") state.tags[hex(paidMark(state.secret, question))] = 1;
  const line = (state.ledger[question.id] ??= { reports: 0, answers: 0, micros: 0 });
  line.reports += 1;
  line.answers += charge.answers;
  line.micros += charge.micros;
  if (charge.micros === 0) return;
  const days = `${epoch * question.epoch} ${lastDayOf(question, epoch)}`;
  state.charges[days] = (state.charges[days] ?? 0) + charge.micros;
}
function forgetSeen(state, question, epoch) {
  if (question.repeat === "once") delete state.seen[placeOf(question)];
  else forgetSeenOnly(state, question, epoch);
}
function forgetSeenOnly(state, question, epoch) {
  const place = placeOf(question);
  const left = (state.seen[place] ?? []).filter((seen) => seen !== epoch);
  if (left.length) state.seen[place] = left;
  else delete state.seen[place];
}
return { DEFAULT_CEILING, dayOf, lastDay, lastDayOf, placeOf, costOf, firstCost, isUsed, pin, checkVersions, chargeOf, inOrder, isAffordable, enter, forgetSeenOnly };
},
"src/levels.js"() {
const { canonical } = need("src/canonical.js");
const { must } = need("src/refused.js");
const WHOLE = 1_000_000;
const placeOf = ({ id, version }) => `${id} ${version}`;
function byVersion(questions) {
  const found = new Map();
  for (const q of questions) found.set(placeOf(q), [...(found.get(placeOf(q)) ?? []), q]);
  return [...found.values()];
}
function checkLevels(questions, checkCombinations) {
  const kept = (condition, message) => must(condition, "question", message);
  for (const levels of byVersion(questions)) {
    checkCombinations(levels[0].segments, levels.length);
    kept(levels.length === 1 || levels.every(({ level }) => level), "Levels have names.");
    kept(new Set(levels.map(({ data }) => shared(data))).size === 1, "Levels share the rest.");
    const shares = levels.map(({ share }) => share);
    const sum = shares.reduce((a, b) => a + b, 0);
    kept(sum === 0 || (sum === WHOLE && shares.every((share) => share > 0)),
      "The shares of levels add up to all people.");
    kept(!levels[0].share || levels[0].level, "A share needs a level.");
  }
}
function shared(data) {
  const fields = data.fields.map(({ name, domain, candidates }) => ({ name, domain, candidates }));
  return canonical({ ...data, level: "", share: 0, fields });
}
function atLevel(survey, choice) {
  const chosen = (questions) => byVersion(questions).flatMap((levels) => {
    const found = choice && levels[0].level
      ? levels.find(({ level }) => level === choice) : levels[0];
    return found ? [found] : [];
  });
  const [questions, earlier, asked] = [survey.questions, survey.earlier, survey.asked].map(chosen);
  return { ...survey, questions, earlier, known: [...questions, ...earlier], asked };
}
return { checkLevels, atLevel };
},
"src/mechanisms/cells.js"() {
const { larger, microsOf } = need("src/epsilon.js");
const { pack, symbol } = need("src/layout.js");
const { coinOf, fits, ONE, threshold, truthRatio, unaryRatio } = need("src/parameters.js");
const { must } = need("src/refused.js");
const { keepOrMove } = need("src/mechanisms/symbols.js");
function bitPerCell(data) {
  const [one, zero] = [threshold(data.one), threshold(data.zero)];
  fits(one > zero, "A report would say nothing.");
  fits(zero > 0n && one < ONE, "A report would sometimes be certain.");
  const once = microsOf(unaryRatio([one, ONE], zero, 1, 1));
  const coins = [coinOf(zero), coinOf(one)];
  return { coins, truth: { once, forever: null, memoised: false } };
}
function tableResponse(data, tables) {
  const truth = threshold(data.truth);
  truthRatio(truth, [1n, 1n]);
  const keepFor = (m) => (ONE * truth) / (truth + BigInt(m - 1) * (ONE - truth));
  const ratios = tables.sizes().map((m) => truthRatio(keepFor(m), [BigInt(m - 1), 1n]));
  const items = [symbol(tables.count * tables.most)];
  return {
    once: microsOf(ratios.reduce(larger)),
    forever: null,
    memoised: false,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const table = fresh.below(tables.count);
      const m = tables.cells(table);
      const cell = tables.cell(table, answer.codes);
      const y = keepOrMove(cell, m, coinOf(keepFor(m)), fresh);
      return pack(items, [table * tables.most + y]);
    },
    check([reported]) {
      const m = tables.cells(Math.floor(reported / tables.most));
      must(reported % tables.most < m, "record", "The cell must be one of the table's.");
    },
  };
}
return { bitPerCell, tableResponse };
},
"src/mechanisms/coding.js"() {
const { isAlphabet } = need("src/domains/strings.js");
const { number, utf8 } = need("src/bytes.js");
const { fits } = need("src/parameters.js");
const MAGIC = utf8("deniable/model/1\n");
const UNIT = 2 ** 20;
const LONGEST = 6;
function readModel(data) {
  fits(data.length <= 65536, "A coding model has at most 65,536 bytes.");
  let at = 0;
  const take = (size) => {
    fits(at + size <= data.length, "The coding model must be complete.");
    return data.subarray(at, (at += size));
  };
  const whole = (size) => number(take(size));
  fits(take(MAGIC.length).every((byte, i) => byte === MAGIC[i]), "This is no coding model.");
  const [typical, size, count] = [whole(2), whole(2), whole(2)];
  fits(typical >= 1 && typical <= 4096, "A coding model's typical length is 1 to 4,096.");
  const letters = textOf(take(size));
  fits(letters !== null && isAlphabet(letters), "A coding model's letters must be an alphabet.");
  const all = Array.from(letters);
  const width = all.length <= 254 ? 1 : 2;
  const [end, start] = [all.length, all.length + 1];
  const contexts = new Map();
  let before = null;
  for (let i = 0; i < count; i++) {
    const [length, entries] = [whole(1), whole(2)];
    const context = Array.from({ length }, () => whole(width));
    fits(length <= LONGEST && entries >= 1, "A context has at most 6 symbols, and counts some.");
    fits(context.every((s, place) => s < end || (s === start && place === 0)),
      "A context has the model's symbols.");
    fits(before === null || comesAfter(before, context), "Contexts must rise.");
    const counts = Array.from({ length: entries }, () => [whole(width), whole(1)]);
    fits(counts.every(([s, c], j) => s <= end && c >= 1 && (j === 0 || counts[j - 1][0] < s)),
      "Counted symbols must rise.");
    contexts.set(context.join(), counts);
    before = context;
  }
  fits(at === data.length, "Nothing follows a coding model.");
  return { letters: all, end, start, contexts };
}
function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
function comesAfter(a, b) {
  if (a.length !== b.length) return a.length < b.length;
  const i = a.findIndex((symbol, place) => symbol !== b[place]);
  return i >= 0 && a[i] < b[i];
}
function frequencies({ end, start, contexts }, before) {
  const history = [start, ...before];
  let found = new Array(end + 1).fill(Math.floor(UNIT / (end + 1)));
  for (let n = 0; n <= Math.min(LONGEST, history.length); n++) {
    const counts = contexts.get(history.slice(history.length - n).join());
    if (!counts) continue;
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const scaled = found.map((old) => counts.length * old);
    for (const [symbol, count] of counts) scaled[symbol] += UNIT * count;
    found = scaled.map((value) => Math.max(1, Math.floor(value / (total + counts.length))));
  }
  return found;
}
function codeOf(model, text, length) {
  const symbols = Array.from(text, (letter) => model.letters.indexOf(letter));
  if (symbols.length < length) symbols.push(model.end);
  let [low, width, all] = [0n, 1n, 1n];
  symbols.forEach((symbol, place) => {
    const found = frequencies(model, symbols.slice(0, place));
    const sum = (list) => BigInt(list.reduce((a, b) => a + b, 0));
    const total = sum(found);
    low = low * total + width * sum(found.slice(0, symbol));
    width *= BigInt(found[symbol]);
    all *= total;
  });
  for (let k = 0n; ; k++) {
    const m = ((low << k) + all - 1n) / all;
    if (m * all < (low + width) << k) return [m, k];
  }
}
function firstDigits([m, k], digits) {
  const wanted = BigInt(digits);
  return wanted >= k ? m << (wanted - k) : m >> (k - wanted);
}
return { readModel, frequencies, codeOf, firstDigits };
},
"src/mechanisms/coefficients.js"() {
const { pack, symbol } = need("src/layout.js");
const { coinOf, fits, ONE, threshold } = need("src/parameters.js");
const { Selection, shapeOf, sum } = need("src/mechanisms/profiles.js");
const { kept, signOf } = need("src/mechanisms/symbols.js");
const MOST_CONTRASTS = 64;
function read(data, domain, absent) {
  const { levels, order, widths } = shapeOf(data, domain, absent, "keep", "basis", "orders");
  const walsh = data.basis === "walsh";
  fits(walsh || (data.basis === "contrasts" && Math.max(...levels) <= MOST_CONTRASTS),
    "coefficients has no such basis, or too many levels for it.");
  const functions = walsh ? widths.map((width) => 2 ** width - 1) : levels.map((r) => r - 1);
  const selection = new Selection(functions);
  const counts = selection.counts(order);
  const all = sum(counts);
  fits(all <= 2 ** 21, "coefficients has at most 2,097,152 coefficients.");
  fits(Array.isArray(data.orders) && data.orders.length === order - 1, "orders has k - 1 entries.");
  const orders = data.orders.map(threshold);
  fits(orders.every((t) => t > 0n && t < ONE), "Every order must be possible, none certain.");
  const truth = kept(data.keep, 2);
  const keep = threshold(data.keep);
  const coins = orders.map(coinOf);
  const items = [symbol(2 * all)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      let taken = 0;
      while (taken < order - 1 && !fresh.coin(coins[taken])) taken++;
      const j = fresh.below(counts[taken]);
      const chosen = selection.choice(taken + 1, j);
      const [value, scale] = valueOf(chosen, answer.codes, levels, walsh);
      const size = value < 0n ? -value : value;
      const away = ((2n * keep - ONE) * size) / (2n * scale);
      const plus = ONE / 2n + (value > 0n ? away : -away);
      const sign = fresh.coin(coinOf(plus)) ? 0 : 1;
      return pack(items, [2 * (sum(counts.slice(0, taken)) + j) + sign]);
    },
  };
}
function valueOf(chosen, codes, levels, walsh) {
  let [value, scale] = [1n, 1n];
  for (const [i, f] of chosen) {
    if (walsh) {
      value *= signOf(codes[i], f + 1) ? -1n : 1n;
    } else {
      const values = contrast(levels[i], f + 1);
      value *= values[codes[i]];
      scale *= values.reduce((most, v) => (v < 0n ? -v : v) > most ? (v < 0n ? -v : v) : most, 0n);
    }
  }
  return [value, scale];
}
const contrasts = new Map();
function contrast(r, m) {
  const name = `${r} ${m}`;
  if (!contrasts.has(name)) {
    const one = (x) => Array.from({ length: m + 1 }, (_, j) => j).reduce((total, j) =>
      total + (j % 2 ? -1n : 1n) * choose(r - 1 - j, m - j) * choose(m + j, m) * choose(x, j), 0n);
    contrasts.set(name, Array.from({ length: r }, (_, x) => one(x)));
  }
  return contrasts.get(name);
}
function choose(n, k) {
  if (k < 0 || k > n) return 0n;
  let found = 1n;
  for (let i = 1; i <= k; i++) found = (found * BigInt(n - k + i)) / BigInt(i);
  return found;
}
return { read };
},
"src/mechanisms/hadamard.js"() {
const { item, pack } = need("src/layout.js");
const { answersOf, fits, members, whole } = need("src/parameters.js");
const { kept, signOf } = need("src/mechanisms/symbols.js");
function read(data, domain, absent) {
  members(data, "answers", "keep");
  const answers = whole(data.answers, 2, 65537);
  const size = 2 ** (32 - Math.clz32(answers - 1));
  const count = answersOf(domain, absent);
  fits(count === answers, "hadamard has as many answers as the domain.");
  const truth = kept(data.keep, 2);
  const items = [item(size, 4), item(2, 1)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const a = fresh.below(size);
      const sign = signOf(a, answer.code);
      return pack(items, [a, fresh.coin(truth.keep) ? sign : 1 - sign]);
    },
  };
}
return { read };
},
"src/mechanisms/hcms.js"() {
const { codeKey, fingerprint, placeOf } = need("src/hashing.js");
const { item, pack } = need("src/layout.js");
const { answersOf, fits, isPower, members, whole } = need("src/parameters.js");
const { kept, signOf } = need("src/mechanisms/symbols.js");
const FIRST = 2n << 40n;
function sketch(data, mostCells) {
  const rows = whole(data.rows, 1, 65536);
  const width = whole(data.width, 2, 2 ** 20);
  fits(isPower(width) && rows * width <= mostCells, "A sketch's width is a power of two.");
  const truth = kept(data.keep, 2);
  const draw = (words, fresh) => {
    const row = fresh.below(rows);
    const a = fresh.below(width);
    const sign = signOf(a, placeOf(words, FIRST + BigInt(row), width));
    return [row, a, fresh.coin(truth.keep) ? sign : 1 - sign];
  };
  return { rows, width, truth, draw };
}
function read(data, domain, absent) {
  members(data, "answers", "rows", "width", "keep");
  const answers = whole(data.answers, 0, 65537);
  fits(answers === (answersOf(domain, absent) ?? 0), "hcms has the answers of its domain.");
  const { rows, width, truth, draw } = sketch(data, 2 ** 24);
  const items = [item(rows, 2), item(width, 4), item(2, 1)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const words = answers ? fingerprint(codeKey(answer.code)) : answer.words;
      return pack(items, draw(words, fresh));
    },
  };
}
return { sketch, read };
},
"src/mechanisms/inp_em.js"() {
const { microsOf, powerOf } = need("src/epsilon.js");
const { bits, drawBits, pack } = need("src/layout.js");
const { coinOf, fits, threshold, truthRatio } = need("src/parameters.js");
const { shapeOf, sum } = need("src/mechanisms/profiles.js");
function read(data, domain, absent) {
  const { widths } = shapeOf(data, domain, absent, "keep");
  const all = sum(widths);
  fits(all <= 64, "inp_em has at most 64 bits.");
  const keep = threshold(data.keep);
  const once = microsOf(powerOf(truthRatio(keep, [1n, 1n]), all));
  const items = [bits(all)];
  const coin = coinOf(keep);
  return {
    once,
    forever: null,
    memoised: false,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const own = widths.flatMap((width, i) =>
        Array.from({ length: width }, (_, place) => (answer.codes[i] >> place) & 1));
      return pack(items, [drawBits(all, (i) => (fresh.coin(coin) ? own[i] : 1 - own[i]))]);
    },
  };
}
return { read };
},
"src/mechanisms/inp_ht.js"() {
const { pack, symbol } = need("src/layout.js");
const { fits } = need("src/parameters.js");
const { Selection, shapeOf, sum } = need("src/mechanisms/profiles.js");
const { kept, signOf } = need("src/mechanisms/symbols.js");
function read(data, domain, absent) {
  const { order, widths } = shapeOf(data, domain, absent, "keep");
  const selection = new Selection(widths.map((width) => 2 ** width - 1));
  const counts = selection.counts(order);
  const all = sum(counts);
  fits(all <= 2 ** 21, "inp_ht has at most 2,097,152 coefficients.");
  const truth = kept(data.keep, 2);
  const items = [symbol(2 * all)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const a = fresh.below(all);
      let [rest, taken] = [a, 0];
      while (rest >= counts[taken]) rest -= counts[taken++];
      const masks = selection.choice(taken + 1, rest);
      const sign = masks.reduce((s, [i, f]) => s ^ signOf(answer.codes[i], f + 1), 0);
      return pack(items, [2 * a + (fresh.coin(truth.keep) ? sign : 1 - sign)]);
    },
  };
}
return { read };
},
"src/mechanisms/inp_ht_cms.js"() {
const { pack, symbol } = need("src/layout.js");
const { fits } = need("src/parameters.js");
const { sketch } = need("src/mechanisms/hcms.js");
const { shapeOf } = need("src/mechanisms/profiles.js");
function read(data, domain, absent) {
  const { levels } = shapeOf(data, domain, absent, "rows", "width", "keep");
  fits(levels.reduce((a, b) => a * b, 1) <= 2 ** 20, "inp_ht_cms has at most 2^20 profiles.");
  const { rows, width, truth, draw } = sketch(data, 2 ** 21);
  const items = [symbol(2 * rows * width)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const [row, a, sign] = draw(answer.words, fresh);
      return pack(items, [2 * (row * width + a) + sign]);
    },
  };
}
return { read };
},
"src/mechanisms/inp_olh.js"() {
const { symbol } = need("src/layout.js");
const { fits } = need("src/parameters.js");
const { localHash } = need("src/mechanisms/olh.js");
const { shapeOf } = need("src/mechanisms/profiles.js");
function read(data, domain, absent) {
  const { levels } = shapeOf(data, domain, absent, "symbols", "seeds", "keep");
  fits(levels.reduce((a, b) => a * b, 1) <= 2 ** 20, "inp_olh has at most 2^20 profiles.");
  return localHash(data, (seeds, g) => [symbol(seeds), symbol(g)]);
}
return { read };
},
"src/mechanisms/inp_ps.js"() {
const { pack, symbol } = need("src/layout.js");
const { fits } = need("src/parameters.js");
const { cellOf, shapeOf, sum } = need("src/mechanisms/profiles.js");
const { keepOrMove, kept } = need("src/mechanisms/symbols.js");
function read(data, domain, absent) {
  const { widths } = shapeOf(data, domain, absent, "keep");
  fits(sum(widths) <= 20, "inp_ps has at most 1,048,576 cells.");
  const cells = 2 ** sum(widths);
  const truth = kept(data.keep, cells);
  const items = [symbol(cells)];
  const sizes = widths.map((width) => 2 ** width);
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      return pack(items, [keepOrMove(cellOf(answer.codes, sizes), cells, truth.keep, fresh)]);
    },
  };
}
return { read };
},
"src/mechanisms/inp_rr.js"() {
const { bits, drawBits, pack } = need("src/layout.js");
const { fits } = need("src/parameters.js");
const { bitPerCell } = need("src/mechanisms/cells.js");
const { cellOf, shapeOf, sum } = need("src/mechanisms/profiles.js");
function read(data, domain, absent) {
  const { widths } = shapeOf(data, domain, absent, "one", "zero");
  fits(sum(widths) <= 16, "inp_rr has at most 65,536 cells.");
  const cells = 2 ** sum(widths);
  const { coins, truth } = bitPerCell(data);
  const items = [bits(cells, Math.max(1, cells / 8))];
  const sizes = widths.map((width) => 2 ** width);
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const own = cellOf(answer.codes, sizes);
      return pack(items, [drawBits(cells, (i) => fresh.coin(coins[Number(i === own)]))]);
    },
  };
}
return { read };
},
"src/mechanisms/krr.js"() {
const { microsOf } = need("src/epsilon.js");
const { item, pack } = need("src/layout.js");
const { answersOf, coinOf, fits, members, ONE, threshold, whole } = need("src/parameters.js");
const { keepOrMove } = need("src/mechanisms/symbols.js");
function read(data, domain, absent) {
  members(data, "answers", "permanent_keep", "report_keep");
  const k = whole(data.answers, 2, 65537);
  const [a, b] = [threshold(data.permanent_keep), threshold(data.report_keep)];
  const others = BigInt(k - 1);
  fits([a, b].every((t) => t * BigInt(k) > ONE), "krr would say nothing about the answer.");
  fits(a < ONE || b < ONE, "krr would report the true answer.");
  fits(answersOf(domain, absent) === k, "krr has as many categories as the domain has answers.");
  const keep = a * b * others + (ONE - a) * (ONE - b);
  const memoised = a < ONE;
  const items = [item(k, 4)];
  const [first, second] = [coinOf(a), coinOf(b)];
  return {
    memoised,
    once: microsOf([keep * others, ONE * ONE * others - keep]),
    forever: memoised ? microsOf([a * others, ONE - a]) : null,
    items,
    encode(answer, _cohort, permanent, fresh) {
      const y = keepOrMove(answer.code, k, first, permanent);
      return pack(items, [keepOrMove(y, k, second, fresh)]);
    },
  };
}
return { read };
},
"src/mechanisms/marg_ht.js"() {
const { pack, symbol } = need("src/layout.js");
const { must } = need("src/refused.js");
const { shapeOf, tablesOf } = need("src/mechanisms/profiles.js");
const { kept, signOf } = need("src/mechanisms/symbols.js");
function read(data, domain, absent) {
  const tables = tablesOf(shapeOf(data, domain, absent, "keep"), 2 ** 22);
  const truth = kept(data.keep, 2);
  const items = [symbol(2 * tables.count * tables.most)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const table = fresh.below(tables.count);
      const a = 1 + fresh.below(tables.cells(table) - 1);
      const sign = signOf(a, tables.cell(table, answer.codes));
      const sent = fresh.coin(truth.keep) ? sign : 1 - sign;
      return pack(items, [2 * (table * tables.most + a) + sent]);
    },
    check([reported]) {
      const about = Math.floor(reported / 2);
      const [table, a] = [Math.floor(about / tables.most), about % tables.most];
      must(a > 0 && a < tables.cells(table), "record", "The coefficient must be the table's.");
    },
  };
}
return { read };
},
"src/mechanisms/marg_ps.js"() {
const { tableResponse } = need("src/mechanisms/cells.js");
const { shapeOf, tablesOf } = need("src/mechanisms/profiles.js");
function read(data, domain, absent) {
  return tableResponse(data, tablesOf(shapeOf(data, domain, absent, "truth"), 2 ** 22));
}
return { read };
},
"src/mechanisms/marg_rr.js"() {
const { bits, checkBits, drawBits, pack, symbol } = need("src/layout.js");
const { bitPerCell } = need("src/mechanisms/cells.js");
const { shapeOf, tablesOf } = need("src/mechanisms/profiles.js");
function read(data, domain, absent) {
  const tables = tablesOf(shapeOf(data, domain, absent, "one", "zero"), 2 ** 22);
  const { coins, truth } = bitPerCell(data);
  const size = Math.ceil(tables.most / 8);
  const items = [symbol(tables.count), bits(tables.most)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const table = fresh.below(tables.count);
      const own = tables.cell(table, answer.codes);
      const coin = (i) => fresh.coin(coins[Number(i === own)]);
      return pack(items, [table, drawBits(tables.cells(table), coin, size)]);
    },
    check: ([table, packed]) => checkBits(packed, tables.cells(table)),
  };
}
return { read };
},
"src/mechanisms/ngrams.js"() {
const { join, utf8 } = need("src/bytes.js");
const { microsOf, powerOf, times } = need("src/epsilon.js");
const { bloomBits, fingerprint } = need("src/hashing.js");
const { bits, drawBits, item, pack } = need("src/layout.js");
const { coinOf, fits, members, ONE, threshold, unaryRatio, whole } = need("src/parameters.js");
const { Selection } = need("src/mechanisms/profiles.js");
const STAGES = ["whole_one", "whole_zero", "gram_one", "gram_zero"];
function read(data, domain) {
  members(data, "length", "n", "step", "grams", "bits", "hashes", "cohorts", ...STAGES);
  const length = whole(data.length, 1, 256);
  const n = whole(data.n, 1, 256);
  const step = whole(data.step, 1, n);
  const places = n >= length ? 1 : 1 + Math.ceil((length - n) / step);
  const grams = whole(data.grams, Math.min(2, places), places);
  const k = whole(data.bits, 2, 4096);
  const h = whole(data.hashes, 1, 16);
  const cohorts = whole(data.cohorts, 1, 65536);
  fits(domain.length === length && !domain.letters.includes("\0"),
    "ngrams needs strings over an alphabet, of its length.");
  const selection = new Selection(new Array(places).fill(1));
  const choices = selection.ways[0][grams];
  fits(choices <= 65536, "ngrams has at most 65,536 choices of places.");
  const [wholeOne, wholeZero, gramOne, gramZero] = STAGES.map((name) => threshold(data[name]));
  const ratioOf = (one, zero) => {
    fits(one > zero && zero > 0n && one < ONE, "ngrams must say something, never for certain.");
    return unaryRatio([one, ONE], zero, h, h);
  };
  const ratio = times(ratioOf(wholeOne, wholeZero), powerOf(ratioOf(gramOne, gramZero), grams));
  const coins = [[wholeZero, wholeOne], [gramZero, gramOne]].map((pair) => pair.map(coinOf));
  const items = [item(choices, 2), item(cohorts, 2), ...new Array(grams + 1).fill(bits(k))];
  const partsOf = (answer, choice) => {
    if (answer.text === undefined) return new Array(grams + 1).fill(answer.key);
    const letters = Array.from(answer.text);
    const gram = ([i]) => Array.from({ length: n }, (_, j) => letters[i * step + j] ?? "\0").join("");
    const chosen = selection.choice(grams, choice).map(gram);
    return [answer.key, ...chosen.map((text) => join(Uint8Array.of(0x73), utf8(text)))];
  };
  return {
    once: microsOf(ratio),
    forever: null,
    memoised: false,
    items,
    encode(answer, cohortDraws, _permanent, fresh) {
      const choice = cohortDraws.below(choices);
      const cohort = cohortDraws.below(cohorts);
      const parts = partsOf(answer, choice).map((key, part) => {
        const own = new Set(bloomBits(fingerprint(key), cohort, h, k));
        return drawBits(k, (i) => fresh.coin(coins[Math.min(part, 1)][Number(own.has(i))]));
      });
      return pack(items, [choice, cohort, ...parts]);
    },
  };
}
return { read };
},
"src/mechanisms/olh.js"() {
const { placeOf } = need("src/hashing.js");
const { item, pack } = need("src/layout.js");
const { members, whole } = need("src/parameters.js");
const { keepOrMove, kept } = need("src/mechanisms/symbols.js");
const FIRST = 1n << 40n;
function localHash(data, itemsOf) {
  const g = whole(data.symbols, 2, 65536);
  const seeds = whole(data.seeds, 2, 2 ** 32);
  const truth = kept(data.keep, g);
  const items = itemsOf(seeds, g);
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const seed = fresh.below(seeds);
      const x = placeOf(answer.words, FIRST + BigInt(seed), g);
      return pack(items, [seed, keepOrMove(x, g, truth.keep, fresh)]);
    },
  };
}
function read(data) {
  members(data, "symbols", "seeds", "keep");
  return localHash(data, (seeds, g) => [item(seeds, 4), item(g, 2)]);
}
return { localHash, read };
},
"src/mechanisms/orr.js"() {
const { placeOf, rank } = need("src/hashing.js");
const { item, pack } = need("src/layout.js");
const { answersOf, fits, members, whole } = need("src/parameters.js");
const { keepOrMove, kept } = need("src/mechanisms/symbols.js");
const HASHED = 3n << 40n;
const PERMUTED = 4n << 40n;
function read(data, domain, absent) {
  members(data, "form", "answers", "symbols", "cohorts", "keep");
  const hashed = data.form === "hashed";
  fits(hashed || data.form === "permuted", "orr has no such form.");
  const answers = whole(data.answers, hashed ? 0 : 2, hashed ? 0 : 65537);
  const k = whole(data.symbols, 2, hashed ? 65536 : Math.min(65536, answers));
  const cohorts = whole(data.cohorts, 1, 65536);
  fits((answersOf(domain, absent) ?? 0) === answers, "orr has the answers of its domain.");
  const truth = kept(data.keep, k);
  const items = [item(cohorts, 2), item(k, 2)];
  return {
    ...truth,
    items,
    encode(answer, cohortDraws, _permanent, fresh) {
      const cohort = cohortDraws.below(cohorts);
      const x = hashed
        ? placeOf(answer.words, HASHED + BigInt(cohort), k)
        : rank(answer.code, answers, PERMUTED + BigInt(cohort)) % k;
      return pack(items, [cohort, keepOrMove(x, k, truth.keep, fresh)]);
    },
  };
}
return { read };
},
"src/mechanisms/oue.js"() {
const { bits, pack } = need("src/layout.js");
const { answersOf, fits, members, whole } = need("src/parameters.js");
const { membersOf, setExponents, STAGES, twoStages } = need("src/mechanisms/unary.js");
function read(data, domain, absent) {
  members(data, "answers", ...STAGES, ...(Object.hasOwn(data, "members") ? ["members"] : []));
  const k = whole(data.answers, 2, 65537);
  const many = membersOf(data, domain);
  const count = answersOf(domain, absent);
  fits(count !== null && k === (many ? count - 1 : count), "oue has a bit per answer.");
  const stages = twoStages(data, many ? setExponents(k, many) : [1, 1]);
  const items = [bits(k)];
  return {
    ...stages,
    perMember: many > 0,
    items,
    encode(answer, _cohort, permanent, fresh) {
      const own = answer.code < 0 ? answer.members : [answer.code - (many ? 1 : 0)];
      return pack(items, [stages.report(k, new Set(own), permanent, fresh)]);
    },
  };
}
return { read };
},
"src/mechanisms/pgr.js"() {
const { microsOf } = need("src/epsilon.js");
const { placeOf } = need("src/hashing.js");
const { item, pack } = need("src/layout.js");
const { answersOf, coinOf, fits, members, threshold, truthRatio, whole } = need("src/parameters.js");
const FIRST = 5n << 40n;
function geometry(data) {
  const q = whole(data.prime, 2, 65537);
  for (let d = 2; d * d <= q; d++) fits(q % d, "The prime of a geometry must be one.");
  const t = whole(data.dimension, 2, 22);
  const below = (digits) => (q ** digits - 1) / (q - 1);
  fits(q ** (t - 1) <= 2 ** 22 && below(t) <= 2 ** 22, "A geometry has at most 2^22 points.");
  const inside = threshold(data.keep);
  const [inner, outer] = [below(t - 1), q ** (t - 1)];
  const ratio = truthRatio(inside, [BigInt(outer), BigInt(inner)]);
  const coin = coinOf(inside);
  const digitsOf = (n, count) =>
    Array.from({ length: count }, (_, i) => Math.floor(n / q ** (count - 1 - i)) % q);
  const vectorOf = (n, size) => {
    let digits = 0;
    while (below(digits + 1) <= n) digits++;
    const zeros = new Array(size - digits - 1).fill(0);
    return [...zeros, 1, ...digitsOf(n - below(digits), digits)];
  };
  const inverse = (x) => {
    let [a, b, u, v] = [x % q, q, 1, 0];
    while (a) [a, b, u, v] = [b % a, a, v - Math.floor(b / a) * u, u];
    return ((v % q) + q) % q;
  };
  const numberOf = (vector) => {
    const first = vector.findIndex((entry) => entry);
    const scale = inverse(vector[first]);
    const rest = vector.slice(first + 1).reduce((sum, x) => sum * q + ((x * scale) % q), 0);
    return below(vector.length - first - 1) + rest;
  };
  const near = (own, fresh) => {
    const v = vectorOf(own, t);
    const last = v.findLastIndex((entry) => entry);
    const z = fresh.coin(coin) ? 0 : 1;
    const u = z ? digitsOf(fresh.below(outer), t - 1) : vectorOf(fresh.below(inner), t - 1);
    u.splice(last, 0, 0);
    const product = u.reduce((sum, entry, j) => sum + entry * v[j], 0) % q;
    u[last] = (inverse(v[last]) * ((z - product + q) % q)) % q;
    return numberOf(u);
  };
  const truth = { once: microsOf(ratio), forever: null, memoised: false };
  return { points: below(t), near, truth };
}
function read(data, domain, absent) {
  members(data, "form", "answers", "prime", "dimension", "cohorts", "keep");
  const closed = data.form === "closed";
  fits(closed || data.form === "hashed", "pgr has no such form.");
  const { points, near, truth } = geometry(data);
  const answers = whole(data.answers, closed ? 2 : 0, closed ? Math.min(points, 65537) : 0);
  const cohorts = whole(data.cohorts, 1, closed ? 1 : 65536);
  fits((answersOf(domain, absent) ?? 0) === answers, "pgr has the answers of its domain.");
  const items = [...(closed ? [] : [item(cohorts, 2)]), item(points, 4)];
  return {
    ...truth,
    items,
    encode(answer, cohortDraws, _permanent, fresh) {
      if (closed) return pack(items, [near(answer.code, fresh)]);
      const cohort = cohortDraws.below(cohorts);
      const own = placeOf(answer.words, FIRST + BigInt(cohort), points);
      return pack(items, [cohort, near(own, fresh)]);
    },
  };
}
return { geometry, read };
},
"src/mechanisms/prefixes.js"() {
const { fromBase64 } = need("src/bytes.js");
const { chained, placeOf } = need("src/hashing.js");
const { item, pack } = need("src/layout.js");
const { fits, members, whole } = need("src/parameters.js");
const { codeOf, firstDigits, readModel } = need("src/mechanisms/coding.js");
const { geometry } = need("src/mechanisms/pgr.js");
const FIRST = 6n << 40n;
const END = 0x110000;
function read(data, domain) {
  members(data, "length", "lengths", "weights", "model", "prime", "dimension", "cohorts", "keep");
  const { lengths, weights } = data;
  const length = whole(data.length, 1, 256);
  fits(Array.isArray(lengths) && lengths.length >= 1 && lengths.length <= 254, "Levels are a list.");
  lengths.forEach((each, i) => whole(each, i ? lengths[i - 1] + 1 : 1, 4096));
  fits(Array.isArray(weights) && weights.length === lengths.length + 1, "Groups have weights.");
  weights.forEach((each) => whole(each, 1, 65536));
  fits(domain.length === length, "prefixes needs such strings.");
  const bytes = typeof data.model === "string" ? fromBase64(data.model) : null;
  fits(bytes !== null, "A model is base64url without padding.");
  const model = bytes.length ? readModel(bytes) : null;
  fits(model ? model.letters.join("") === domain.letters.join("") : lengths.at(-1) === length,
    "prefixes must have the letters and the length of its domain.");
  const { points, near, truth } = geometry(data);
  const cohorts = whole(data.cohorts, 1, 65536);
  const items = [item(weights.length, 1), item(cohorts, 2), item(points, 4)];
  const total = weights.reduce((a, b) => a + b, 0);
  const symbolsOf = (text, group) => {
    const letters = Array.from(text, (letter) => letter.codePointAt(0));
    if (group === lengths.length) return letters;
    if (!model) {
      const shown = letters.slice(0, lengths[group]);
      return letters.length < lengths[group] ? [...shown, END] : shown;
    }
    const edges = [0, ...lengths.slice(0, group + 1)];
    const digits = firstDigits(codeOf(model, text, length), edges.at(-1));
    return edges.slice(1).map((high, i) =>
      (digits >> BigInt(edges.at(-1) - high)) & ((1n << BigInt(high - edges[i])) - 1n));
  };
  return {
    ...truth,
    items,
    encode(answer, cohortDraws, _permanent, fresh) {
      let [drawn, group] = [cohortDraws.below(total), 0];
      while (drawn >= weights[group]) drawn -= weights[group++];
      const cohort = cohortDraws.below(cohorts);
      const words = answer.text === undefined ? answer.words : chained(symbolsOf(answer.text, group));
      const index = FIRST + BigInt(group) * 65536n + BigInt(cohort);
      return pack(items, [group, cohort, near(placeOf(words, index, points), fresh)]);
    },
  };
}
return { read };
},
"src/mechanisms/profiles.js"() {
const { fits, members, whole } = need("src/parameters.js");
function shapeOf(data, domain, absent, ...names) {
  members(data, "answers", "order", ...names);
  fits(domain.kind === "profile" && !absent, "The mechanism reports a profile, never absent.");
  const { answers: levels } = data;
  fits(Array.isArray(levels) && levels.join() === domain.levels.join() &&
    levels.every(Number.isInteger), "The levels must be those of the attributes.");
  const order = whole(data.order, 1, levels.length);
  const widths = levels.map((count) => 32 - Math.clz32(count - 1));
  return { levels, order, widths };
}
const sum = (list) => list.reduce((a, b) => a + b, 0);
function cellOf(codes, sizes) {
  return codes.reduceRight((cell, code, i) => cell * sizes[i] + code, 0);
}
class Selection {
  constructor(functions) {
    const d = functions.length;
    this.functions = functions;
    this.ways = Array.from({ length: d + 1 }, () => new Array(d + 1).fill(0));
    this.ways[d][0] = 1;
    for (let i = d - 1; i >= 0; i--) {
      this.ways[i][0] = 1;
      for (let l = 1; l <= d; l++) {
        this.ways[i][l] = functions[i] * this.ways[i + 1][l - 1] + this.ways[i + 1][l];
      }
    }
  }
  counts(order) {
    return Array.from({ length: order }, (_, l) => this.ways[0][l + 1]);
  }
  choice(order, number) {
    const chosen = [];
    for (let i = 0; order > 0; i++) {
      const rest = this.ways[i + 1][order - 1];
      const here = this.functions[i] * rest;
      if (number < here) {
        chosen.push([i, Math.floor(number / rest)]);
        number %= rest;
        order--;
      } else {
        number -= here;
      }
    }
    return chosen;
  }
}
function tablesOf({ order, widths }, mostCells) {
  const selection = new Selection(widths.map(() => 1));
  const count = selection.ways[0][order];
  const most = 2 ** sum([...widths].sort((a, b) => b - a).slice(0, order));
  fits(count * most <= mostCells, "The tables have too many cells.");
  const among = (table) => selection.choice(order, table).map(([i]) => i);
  const sizesOf = (table) => among(table).map((i) => 2 ** widths[i]);
  return {
    count,
    most,
    cells: (table) => sizesOf(table).reduce((a, b) => a * b, 1),
    cell: (table, codes) => cellOf(among(table).map((i) => codes[i]), sizesOf(table)),
    sizes: () => {
      const sums = Array.from({ length: order + 1 }, () => new Set());
      sums[0].add(0);
      for (const width of widths) {
        for (let l = order; l > 0; l--) sums[l - 1].forEach((w) => sums[l].add(w + width));
      }
      return [...sums[order]].sort((a, b) => a - b).map((w) => 2 ** w);
    },
  };
}
return { shapeOf, sum, cellOf, Selection, tablesOf };
},
"src/mechanisms/rappor.js"() {
const { bloomBits, rank } = need("src/hashing.js");
const { bits, item, pack } = need("src/layout.js");
const { answersOf, fits, members, whole } = need("src/parameters.js");
const { membersOf, setExponents, STAGES, twoStages } = need("src/mechanisms/unary.js");
const MOST = 65537;
function read(data, domain, absent) {
  const permuted = data.form === "permuted";
  const set = Object.hasOwn(data, "members") ? ["members"] : [];
  members(data, "form", "bits", "hashes", "cohorts", ...STAGES, ...set,
    ...(permuted ? ["answers"] : []));
  fits(["bloom", "permuted", "basic"].includes(data.form), "rappor has no such form.");
  const basic = data.form === "basic";
  const k = whole(data.bits, basic ? 1 : 2, MOST);
  const h = whole(data.hashes, 1, basic ? 1 : 16);
  const m = whole(data.cohorts, 1, basic ? 1 : 65536);
  const answers = permuted ? whole(data.answers, 2, MOST) : 0;
  const many = membersOf(data, domain);
  fits(!many || (basic && k > 1), "rappor of a bit per member must be basic.");
  checkDomain(data.form, k, answers, many, domain, absent);
  const exponents = many ? setExponents(k, many) : k === 1 ? [1, 0] : [h, h];
  const stages = twoStages(data, exponents);
  const items = [item(m, 2), bits(k)];
  const trueBits = (answer, cohort) => {
    if (data.form === "bloom") return bloomBits(answer.words, cohort, h, k);
    if (permuted) {
      return Array.from({ length: h }, (_, i) =>
        rank(answer.code, answers, BigInt(cohort) * 65536n + BigInt(i)) % k);
    }
    if (answer.code < 0) return answer.members;
    return k === 1 ? (answer.code === 1 ? [0] : []) : [answer.code - (many ? 1 : 0)];
  };
  return {
    ...stages,
    perMember: many > 0,
    items,
    encode(answer, cohortDraws, permanent, fresh) {
      const cohort = cohortDraws.below(m);
      const own = new Set(trueBits(answer, cohort));
      return pack(items, [cohort, stages.report(k, own, permanent, fresh)]);
    },
  };
}
function checkDomain(form, k, answers, many, domain, absent) {
  const count = answersOf(domain, absent);
  if (count === null) return fits(form === "bloom", "rappor of strings must have the bloom form.");
  if (form === "permuted") return fits(answers === count, "rappor permutes its domain's answers.");
  const plain = domain.kind === "boolean" && !absent;
  const wanted = many ? count - 1 : plain ? 1 : count;
  fits(form === "basic" && k === wanted, "rappor of a closed domain has a bit per answer.");
}
return { read };
},
"src/mechanisms/subset.js"() {
const { microsOf } = need("src/epsilon.js");
const { bits, pack } = need("src/layout.js");
const { answersOf, coinOf, fits, members, threshold, truthRatio, whole } = need("src/parameters.js");
const { must } = need("src/refused.js");
function read(data, domain, absent) {
  members(data, "answers", "size", "keep");
  const k = whole(data.answers, 2, 65537);
  const d = whole(data.size, 1, k - 1);
  fits(answersOf(domain, absent) === k, "subset has as many categories as the domain's answers.");
  const include = threshold(data.keep);
  const once = microsOf(truthRatio(include, [BigInt(k - d), BigInt(d)]));
  const items = [bits(k)];
  const coin = coinOf(include);
  return {
    memoised: false,
    once,
    forever: null,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const x = answer.code;
      const included = fresh.coin(coin);
      const chosen = new Set();
      const n = k - 1;
      for (let j = n - (d - included); j < n; j++) {
        const t = fresh.below(j + 1);
        chosen.add(chosen.has(t) ? j : t);
      }
      const packed = new Uint8Array(Math.ceil(k / 8));
      const set = (place) => (packed[place >> 3] |= 1 << (place & 7));
      for (const c of chosen) set(c < x ? c : c + 1);
      if (included) set(x);
      return pack(items, [packed]);
    },
    check([packed]) {
      let ones = 0;
      for (let byte of packed) for (; byte; byte &= byte - 1) ones++;
      must(ones === d, "record", "A record of subset has exactly its number of bits set.");
    },
  };
}
return { read };
},
"src/mechanisms/symbols.js"() {
const { microsOf } = need("src/epsilon.js");
const { coinOf, threshold, truthRatio } = need("src/parameters.js");
function keepOrMove(x, count, keep, draws) {
  if (draws.coin(keep)) return x;
  const y = draws.below(count - 1);
  return y >= x ? y + 1 : y;
}
function kept(text, count) {
  const keep = threshold(text);
  const once = microsOf(truthRatio(keep, [BigInt(count - 1), 1n]));
  return { keep: coinOf(keep), once, forever: null, memoised: false };
}
function signOf(a, b) {
  let x = a & b;
  for (let shift = 16; shift; shift >>= 1) x ^= x >>> shift;
  return x & 1;
}
return { keepOrMove, kept, signOf };
},
"src/mechanisms/unary.js"() {
const { coinOf, fits, ONE, threshold, unaryRatio, whole } = need("src/parameters.js");
const { microsOf } = need("src/epsilon.js");
const { drawBits } = need("src/layout.js");
const STAGES = ["permanent_one", "permanent_zero", "report_one", "report_zero"];
function twoStages(data, exponents) {
  const [u, v, q, p] = STAGES.map((name) => threshold(data[name]));
  fits(u > v && q > p, "A report would say nothing about the answer.");
  const chain = (first) => first * q + (ONE - first) * p;
  const [one, zero, all] = [chain(u), chain(v), ONE * ONE];
  fits(zero > 0n && one < all, "A report would sometimes be certain.");
  const memoised = v > 0n && u < ONE;
  const [first, second] = [[coinOf(v), coinOf(u)], [coinOf(p), coinOf(q)]];
  return {
    memoised,
    once: microsOf(unaryRatio([one, all], zero, ...exponents)),
    forever: memoised ? microsOf(unaryRatio([u, ONE], v, ...exponents)) : null,
    report(width, set, permanent, fresh) {
      const kept = Uint8Array.from({ length: width }, (_, i) =>
        permanent.coin(first[Number(set.has(i))]));
      return drawBits(width, (i) => fresh.coin(second[kept[i]]));
    },
  };
}
function setExponents(width, members) {
  const most = Math.min(members, width);
  return [most, Math.min(members, width - most)];
}
function membersOf(data, domain) {
  if (!Object.hasOwn(data, "members")) return 0;
  const count = whole(data.members, 1, 16);
  fits(domain.kind === "set" && domain.most === count, "A bit per member needs such a set.");
  return count;
}
return { STAGES, twoStages, setExponents, membersOf };
},
"src/mechanisms/views.js"() {
const { fits } = need("src/parameters.js");
const { tableResponse } = need("src/mechanisms/cells.js");
const { cellOf, shapeOf } = need("src/mechanisms/profiles.js");
const product = (list) => list.reduce((a, b) => a * b, 1);
function read(data, domain, absent) {
  const { levels, order } = shapeOf(data, domain, absent, "truth", "views");
  const { views } = data;
  fits(Array.isArray(views) && views.length >= 1 && views.length <= 16384, "views are a list.");
  for (const view of views) {
    fits(Array.isArray(view) && view.length > 0 && view.every((i, at) => Number.isInteger(i) &&
      i >= 0 && i < levels.length && (at === 0 || view[at - 1] < i)), "A view rises.");
  }
  const sizesOf = (table) => views[table].map((i) => levels[i]);
  const cells = views.map((_, table) => product(sizesOf(table)));
  const most = Math.max(...cells);
  fits(most <= 65536 && most * views.length <= 2 ** 22, "views have too many cells.");
  checkCover(views, levels.length, order);
  return tableResponse(data, {
    count: views.length,
    most,
    cells: (table) => cells[table],
    cell: (table, codes) => cellOf(views[table].map((i) => codes[i]), sizesOf(table)),
    sizes: () => [...new Set(cells)].sort((a, b) => a - b),
  });
}
function checkCover(views, attributes, order) {
  const ways = (n) => product(Array.from({ length: order }, (_, i) => (n - i) / (i + 1)));
  const listed = views.reduce((sum, view) => sum + (view.length < order ? 0 : ways(view.length)), 0);
  fits(Math.round(listed) <= 2 ** 18, "views list too many sets of attributes.");
  const covered = new Set();
  const list = (view, from, chosen) => {
    if (chosen.length === order) return covered.add(chosen.join());
    for (let at = from; at < view.length; at++) list(view, at + 1, [...chosen, view[at]]);
  };
  for (const view of views) list(view, 0, []);
  fits(covered.size === Math.round(ways(attributes)), "views must cover every set of attributes.");
}
return { read };
},
"src/outbox.js"() {
const { Fresh } = need("src/draws.js");
const { coinOf, ONE } = need("src/parameters.js");
const STALE_DAYS = 30;
const MOST_BATCH = 100;
const MOST_BYTES = 40_000;
const draws = new Fresh();
function dueAfter(now, mean) {
  const seconds = Math.round(mean);
  const step = Math.max(1, Math.floor(seconds / 60));
  const coin = coinOf(ONE * 2n * BigInt(step) / BigInt(2 * seconds + step + 1));
  let steps = 0;
  while (!draws.coin(coin)) steps++;
  return 1000 * (Math.floor(now / 1000) + steps * step + draws.below(step));
}
function release(entries, day, now, mean) {
  const ready = entries.filter((entry) => entry.due === null && entry.last < day);
  for (const entry of ready) entry.due = dueAfter(now, mean);
  return ready;
}
function outdated(entries, day) {
  const old = entries.filter((entry) => entry.last + STALE_DAYS < day);
  return {
    over: old.filter((entry) => entry.stale !== null && entry.stale < day),
    marked: old.filter((entry) => entry.stale === null).map((entry) => {
      entry.stale = day;
      return entry;
    }),
  };
}
function batches(entries) {
  const groups = new Map();
  for (const entry of shuffled(entries)) {
    const group = groups.get(entry.report.digest) ?? [[]];
    groups.set(entry.report.digest, group);
    const size = (list) => list.reduce((sum, { report }) => sum + 200 + report.record.length, 0);
    if (group.at(-1).length === MOST_BATCH || size([...group.at(-1), entry]) > MOST_BYTES) {
      group.push([]);
    }
    group.at(-1).push(entry);
  }
  return shuffled([...groups.values()].flat().filter((group) => group.length));
}
function shuffled(list) {
  const mixed = [...list];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = draws.below(i + 1);
    [mixed[i], mixed[j]] = [mixed[j], mixed[i]];
  }
  return mixed;
}
const backOff = (failures, base = 5_000, cap = 3_600_000) =>
  Math.floor(Math.min(cap, base * 2 ** Math.min(failures, 64)) * (draws.below(2 ** 32) / 2 ** 32));
return { STALE_DAYS, dueAfter, release, outdated, batches, shuffled, backOff };
},
"src/parameters.js"() {
const { must } = need("src/refused.js");
const { larger, powerOf, times } = need("src/epsilon.js");
const ONE = 1n << 64n;
const fits = (condition, message = "The parameters of a mechanism are out of range.") =>
  must(condition, "parameters", message);
function whole(value, least, most) {
  fits(Number.isInteger(value) && value >= least && value <= most);
  return value;
}
function threshold(text) {
  fits(typeof text === "string" && /^(0|[1-9]\d{0,19})$/.test(text) && BigInt(text) <= ONE,
    "A threshold must be a decimal string of at most 2^64.");
  return BigInt(text);
}
const coinOf = (t) => ({ high: Number(t >> 32n), low: Number(t & 0xffffffffn) });
function members(data, ...names) {
  fits(Object.keys(data).sort().join() === names.sort().join(),
    "A mechanism has other parameters.");
}
const isPower = (n) => (n & (n - 1)) === 0;
const answersOf = (domain, absent) => domain.size && domain.size + Number(absent);
function truthRatio(keep, odds) {
  const ratio = times([keep, ONE - keep], odds);
  fits(keep < ONE && ratio[0] > ratio[1], "A mechanism must say something, and not the truth.");
  return ratio;
}
function unaryRatio([one, whole], zero, most, least) {
  const up = [one, zero];
  const down = [whole - zero, whole - one];
  return larger(
    times(powerOf(up, most), powerOf(down, least)),
    times(powerOf(up, least), powerOf(down, most)),
  );
}
return { ONE, fits, whole, threshold, coinOf, members, isPower, answersOf, truthRatio, unaryRatio };
},
"src/read_report.js"() {
const { hasExactly } = need("src/answers.js");
const { fromBase64 } = need("src/bytes.js");
const { must } = need("src/refused.js");
const { isCombination } = need("src/segments.js");
const isWhole = (value, least) =>
  Number.isInteger(value) && value >= least && value <= 2 ** 31 - 1;
function readReport(data) {
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
return { readReport };
},
"src/recorder.js"() {
const { Fresh } = need("src/draws.js");
const { encode, isAsked } = need("src/encode.js");
const ledger = need("src/ledger.js");
const { dueAfter } = need("src/outbox.js");
const { Refused } = need("src/refused.js");
const { reportOf } = need("src/report.js");
const MOST_WAITING = 1000;
const fresh = new Fresh();
const newId = () => globalThis.crypto.getRandomValues(new Uint8Array(16));
function make(state, waiting, question, answers, epoch, terms) {
  const { survey, ceiling, day, now, delay } = terms;
  const no = (reason, message) => new Refused(reason, message);
  if (question.level && state.level && state.level !== question.level) {
    throw no("level", "The person has chosen another level meanwhile.");
  }
  ledger.pin(state, question);
  ledger.checkVersions(state, question, terms);
  if (ledger.isUsed(state, question, epoch) || isMissed(state, question, epoch)) {
    throw no("answered", "This question was answered already.");
  }
  if (waiting >= MOST_WAITING) throw no("outbox_full", "Too many reports wait to be sent.");
  if (!isAsked(state.secret, question)) throw no("not_asked", "This device is not asked.");
  const charge = ledger.chargeOf(state, question, answers);
  if (!ledger.isAffordable(state, survey, question, charge.micros, ceiling, day)) {
    throw no("ceiling", "The report would exceed the ceiling of epsilon.");
  }
  const last = ledger.lastDayOf(question, epoch);
  if (terms.budget && !terms.budget(state, [epoch * question.epoch, last], charge.micros)) {
    throw no("window", "The report would exceed the budget of epsilon per window of days.");
  }
  const record = encode(question, answers, state.secret, fresh);
  question.checkRecord(record);
  const report = reportOf(question, epoch, newId(), record, terms.told);
  ledger.enter(state, question, epoch, charge, terms);
  const due = question.absent ? null : dueAfter(now, delay);
  return { id: report.id, report, due, last, failures: 0, stale: null };
}
function isMissed(state, question, epoch) {
  if (question.repeat !== "once" || !question.absent) return false;
  return (state.seen[ledger.placeOf(question)] ?? []).some((seen) => seen < epoch);
}
return { make };
},
"src/refused.js"() {
class Refused extends Error {
  constructor(reason, message) {
    super(message);
    this.name = "Refused";
    this.reason = reason;
  }
}
function must(condition, reason, message) {
  if (!condition) throw new Refused(reason, message);
}
return { Refused, must };
},
"src/report.js"() {
const { hex, toBase64 } = need("src/bytes.js");
const { canonical } = need("src/canonical.js");
const reportOf = (question, epoch, id, record, told = {}) => ({
  digest: hex(question.digest),
  epoch,
  id: hex(id),
  question: question.id,
  record: toBase64(record),
  version: question.version,
  ...(question.combination && { segments: question.combination(told) }),
});
const batchOf = (reports) => canonical({ reports });
return { reportOf, batchOf };
},
"src/segments.js"() {
const { hasExactly } = need("src/answers.js");
const { must } = need("src/refused.js");
const OTHER = "(other)";
const MOST = 3;
const MOST_COMBINATIONS = 64;
const WHOLE = 1_000_000;
const NAME = /^[a-z][a-z0-9_]{0,31}$/;
const VALUE = /^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,63}$/;
const isText = (value, pattern) => typeof value === "string" && pattern.test(value);
const isList = (value, most) => Array.isArray(value) && value.length >= 1 && value.length <= most;
const differ = (list) => new Set(list).size === list.length;
const kept = (condition, message) => must(condition, "segments", message);
function readSegments(list) {
  kept(isList(list, Infinity), "The segments of a survey are a list of at least one.");
  for (const segment of list) checkSegment(segment);
  kept(list.every(({ name }, i) => i === 0 || list[i - 1].name < name),
    "The segments of a survey are sorted by name, each name once.");
  return list;
}
function checkSegment(segment) {
  const shares = Object.hasOwn(Object(segment), "shares") ? ["shares"] : [];
  kept(hasExactly(segment, "name", "values", ...shares) && isText(segment.name, NAME),
    "A segment has a name, values and perhaps shares.");
  const { values } = segment;
  kept(isList(values, MOST_COMBINATIONS - 1) && values.every((value) => isText(value, VALUE)) &&
    differ(values), "A segment's values are 1 to 63 different names.");
  if (shares.length === 0) return;
  const listed = Array.isArray(segment.shares) ? segment.shares : [];
  kept(listed.length === values.length && listed.every((n) => Number.isInteger(n) && n >= 0) &&
    listed.reduce((a, b) => a + b, 0) <= WHOLE, "A segment's shares are at most all people.");
}
function chosenSegments(names, declared) {
  kept(isList(names, MOST) && differ(names) &&
    names.every((name) => declared.some((segment) => segment.name === name)),
  "The segments of a question are 1 to 3 different ones of its survey.");
  return names.map((name) => declared.find((segment) => segment.name === name));
}
function checkUsed(declared, questions) {
  const named = new Set(questions.flatMap(({ segments }) => segments.map(({ name }) => name)));
  kept(declared.every(({ name }) => named.has(name)), "Some question must name each segment.");
}
function checkCombinations(segments, levels) {
  const number = segments.reduce((all, { values }) => all * (values.length + 1), levels);
  kept(number <= MOST_COMBINATIONS, "A question has at most 64 combinations.");
}
function combinationOf(segments, told) {
  return Object.fromEntries(segments.map(({ name, values }) =>
    [name, Object.hasOwn(told, name) && values.includes(told[name]) ? told[name] : OTHER]));
}
function isCombination(data) {
  const entries = typeof data === "object" && data !== null && !Array.isArray(data)
    ? Object.entries(data) : [];
  return isList(entries, MOST) && entries.every(([name, value]) =>
    NAME.test(name) && (value === OTHER || isText(value, VALUE)));
}
return { readSegments, chosenSegments, checkUsed, checkCombinations, combinationOf, isCombination };
},
"src/sha256.js"() {
const K = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
const START = new Int32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);
const BLOCK = 64;
const schedule = new Int32Array(BLOCK);
function compress(state, data, at) {
  const w = schedule;
  for (let i = 0; i < 16; i++, at += 4) {
    w[i] = (data[at] << 24) | (data[at + 1] << 16) | (data[at + 2] << 8) | data[at + 3];
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15];
    const y = w[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
  }
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + t1) | 0;
    d = c; c = b; b = a; a = (t1 + t2) | 0;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d;
  state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}
function finish(from, before, data) {
  const state = from.slice();
  const whole = data.length - (data.length % BLOCK);
  for (let at = 0; at < whole; at += BLOCK) compress(state, data, at);
  const rest = data.length - whole;
  const tail = new Uint8Array(rest + 9 > BLOCK ? 2 * BLOCK : BLOCK);
  tail.set(data.subarray(whole));
  tail[rest] = 0x80;
  const length = before + data.length;
  const view = new DataView(tail.buffer);
  view.setUint32(tail.length - 8, Math.floor(length / 0x20000000));
  view.setUint32(tail.length - 4, (length << 3) >>> 0);
  for (let at = 0; at < tail.length; at += BLOCK) compress(state, tail, at);
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  for (let i = 0; i < 8; i++) out.setInt32(4 * i, state[i]);
  return digest;
}
function sha256(data) {
  return finish(START, 0, data);
}
function hmacOf(key) {
  const short = key.length > BLOCK ? sha256(key) : key;
  const inner = new Uint8Array(BLOCK).fill(0x36);
  const outer = new Uint8Array(BLOCK).fill(0x5c);
  for (let i = 0; i < short.length; i++) {
    inner[i] ^= short[i];
    outer[i] ^= short[i];
  }
  const first = START.slice();
  const second = START.slice();
  compress(first, inner, 0);
  compress(second, outer, 0);
  return (data) => finish(second, BLOCK, finish(first, BLOCK, data));
}
return { sha256, hmacOf };
},
"src/stages.js"() {
const { fromBase64 } = need("src/bytes.js");
const { encodeField } = need("src/encode.js");
const { sizeOf, unpack } = need("src/layout.js");
const { coinOf } = need("src/parameters.js");
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
function stagesOf(question, value, secret, report) {
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
function bitsOf(items, record) {
  const last = unpack(items, record).at(-1);
  const { bound, width } = items.at(-1);
  return Array.from({ length: bound ?? width }, (_, i) =>
    bound ? Number(i === last) : (last[i >> 3] >> (i & 7)) & 1);
}
return { stagesOf };
},
"src/state.js"() {
const newState = () => ({
  secret: null, pins: {}, used: {}, seen: {}, tags: {}, ledger: {}, charges: {}, taken: {},
  counters: {}, level: "",
});
function begin(state) {
  state.secret ??= globalThis.crypto.getRandomValues(new Uint8Array(32));
}
function wipe(state) {
  Object.assign(state, { secret: null, tags: {}, seen: {} });
}
const totalOf = (state) =>
  Object.values(state.ledger).reduce((sum, { micros }) => sum + micros, 0);
const roundUp = (micros) => Math.ceil(micros / 1000) / 1000;
return { newState, begin, wipe, totalOf, roundUp };
},
"src/storage.js"() {
const VERSION = 1;
const STATE = "state";
const FETCHED = "fetched";
const OUTBOX = "outbox";
const markOf = (name) => `deniable-mark:${name}`;
const lockOf = (name) => `deniable:${name}`;
const exclusively = (name, work) => {
  const locks = globalThis.navigator?.locks;
  return locks ? locks.request(name, work) : work();
};
function opened(name, fill) {
  return new Promise((resolve, reject) => {
    const request = globalThis.indexedDB.open(name, VERSION);
    request.onupgradeneeded = () => {
      if (fill) fill(request.result);
      else request.transaction.abort();
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      event.preventDefault();
      if (!fill && request.error?.name === "AbortError") resolve(null);
      else reject(request.error);
    };
  });
}
class Storage {
  #database;
  #lock;
  static make(name) {
    return exclusively(lockOf(name), async () => {
      (await opened(markOf(name), () => {})).close();
      return Storage.#of(name, await opened(`deniable:${name}`, (fresh) => {
        fresh.createObjectStore(STATE);
        fresh.createObjectStore(OUTBOX, { keyPath: "id" });
      }));
    });
  }
  static find(name) {
    return exclusively(lockOf(name), async () => {
      const database = await opened(`deniable:${name}`, null);
      if (database !== null) return { storage: Storage.#of(name, database), lost: false };
      const mark = await opened(markOf(name), null);
      mark?.close();
      return { storage: null, lost: mark !== null };
    });
  }
  static #of(name, database) {
    const storage = new Storage();
    storage.#database = database;
    storage.#database.onversionchange = () => storage.#database.close();
    storage.#lock = lockOf(name);
    return storage;
  }
  async change(change, known = null) {
    return exclusively(this.#lock, () => this.#transaction(change, known));
  }
  #transaction(change, known) {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction([STATE, OUTBOX], "readwrite",
        { durability: "strict" });
      const [states, outbox] = [STATE, OUTBOX].map((name) => transaction.objectStore(name));
      let [result, failure] = [undefined, null];
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(failure ?? transaction.error);
      const asked = states.get(STATE);
      const look = (waiting) => {
        try {
          const state = asked.result ?? null;
          const done = change(state, waiting);
          result = done.result;
          if (done.state ?? state) states.put(done.state ?? state, STATE);
          if (done.fetched) states.put(done.fetched, FETCHED);
          for (const report of done.put ?? []) outbox.put(report);
          for (const id of done.drop ?? []) outbox.delete(id);
        } catch (error) {
          failure = error;
          transaction.abort();
        }
      };
      const all = () => {
        const waiting = outbox.getAll();
        waiting.onsuccess = () => look(waiting.result);
      };
      if (known === null) return all();
      const count = outbox.count();
      count.onsuccess = () => (count.result === known ? look({ length: known }) : all());
    });
  }
  read() {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction([STATE, OUTBOX], "readonly");
      const state = transaction.objectStore(STATE).get(STATE);
      const fetched = transaction.objectStore(STATE).get(FETCHED);
      const waiting = transaction.objectStore(OUTBOX).getAll();
      transaction.oncomplete = () =>
        resolve([state.result ?? null, waiting.result, fetched.result ?? null]);
      transaction.onabort = () => reject(transaction.error);
    });
  }
  close() {
    this.#database.close();
  }
}
return { exclusively, Storage };
},
"src/survey.js"() {
const { ABSENT } = need("src/absent.js");
const { byName, fieldAnswer, hasExactly, readDomain } = need("src/answers.js");
const { join, utf8 } = need("src/bytes.js");
const { canonical, parse } = need("src/canonical.js");
const { sizeOf, unpack } = need("src/layout.js");
const { coinOf, ONE } = need("src/parameters.js");
const { must, Refused } = need("src/refused.js");
const { sha256 } = need("src/sha256.js");
const MOST_BYTES = 16_777_216;
const MOST_QUESTIONS = 1000;
const PREFIX = utf8("deniable/v1/question\n");
const PROFILES = ["inp_rr", "inp_ps", "inp_ht", "marg_rr", "marg_ps", "marg_ht", "inp_em",
  "inp_olh", "inp_ht_cms", "coefficients", "views"];
const MECHANISMS = ["rappor", "krr", "orr", "oue", "olh", "hadamard", "subset", "pgr", "hcms",
  "prefixes", "ngrams", ...PROFILES];
const NUMBERS = { ceiling: 10 ** 12, people: 10 ** 10, floor: 10 ** 10, retention_days: 36_525,
  keep_counts: 1 };
const SECOND = { retention_days: [1, 36_525], keep_counts: [0, 1] };
const present = (object, ...names) => names.filter((name) => Object.hasOwn(Object(object), name));
const isText = (value) => typeof value === "string";
const isWhole = (value, least, most) =>
  Number.isInteger(value) && value >= least && value <= most;
const isList = (value, most) => Array.isArray(value) && value.length >= 1 && value.length <= most;
const placeOf = ({ id, version, level }) => `${id} ${version} ${level}`;
const question = (condition, message) => must(condition, "question", message);
async function readSurvey(bytes) {
  must(bytes.length <= MOST_BYTES, "json", "A survey must be at most 16 MiB long.");
  const data = parse(decode(bytes));
  const optional = present(data, "earlier", "segments", ...Object.keys(NUMBERS));
  must(hasExactly(data, "deniable", "name", "owner", "questions", ...optional), "members",
    "A survey must be an object with exactly its members.");
  const format = formatOf(data);
  must(data.deniable === 1 || data.deniable === format, "format",
    "This client reads surveys of format 1, and of format 2 where a question says how long its " +
    "reports stay.");
  for (const name of present(data, ...Object.keys(NUMBERS))) {
    must(isWhole(data[name], 1, NUMBERS[name]), name === "ceiling" ? name : "number",
      `The ${name} of a survey is from 1 to ${NUMBERS[name]}.`);
  }
  const parts = optional.includes("segments") ? await load("src/segments.js") : null;
  const declared = parts ? parts.readSegments(data.segments) : [];
  const choose = (names) => {
    must(parts, "segments", "The survey declares no segments.");
    const segments = parts.chosenSegments(names, declared);
    return { segments, combination: (told) => parts.combinationOf(segments, told) };
  };
  const read = (list) => readQuestions(list, choose, data.deniable);
  const questions = await read(data.questions);
  const earlier = optional.includes("earlier") ? await read(data.earlier) : [];
  checkHistory(questions, earlier);
  parts?.checkUsed(declared, [...questions, ...earlier]);
  await checkLevels(questions, earlier, parts?.checkCombinations);
  question(isText(data.name) && isText(data.owner), "A survey's name and owner are strings.");
  const known = [...questions, ...earlier];
  const levels = [...new Set(known.map(({ level }) => level).filter(Boolean))];
  return { data, questions, earlier, known, ceiling: data.ceiling ?? null,
    asked: newest(questions), levels };
}
function formatOf({ questions, earlier = [] }) {
  const all = [questions, earlier].flatMap((list) => (Array.isArray(list) ? list : []));
  return all.some((q) => present(q, ...Object.keys(SECOND)).length > 0) ? 2 : 1;
}
function decode(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refused("json", "A survey must be JSON in UTF-8.");
  }
}
function newest(questions) {
  const latest = new Map();
  for (const q of questions) latest.set(q.id, Math.max(q.version, latest.get(q.id) ?? 0));
  return questions.filter((q) => latest.get(q.id) === q.version);
}
function checkHistory(questions, earlier) {
  const both = [...questions, ...earlier];
  question(both.length <= MOST_QUESTIONS, "A survey has at most 1,000 questions.");
  question(new Set(both.map(placeOf)).size === both.length, "Two questions have one version.");
  const latest = new Map(newest(questions).map((q) => [q.id, q.version]));
  earlier.forEach((q, i) => {
    const last = earlier[i - 1];
    question(!last || last.id < q.id || (last.id === q.id && last.version <= q.version),
      "'earlier' must be sorted by id and version.");
    question(q.version <= (latest.get(q.id) ?? Infinity), "'earlier' holds a newer version.");
  });
}
async function checkLevels(questions, earlier, checkCombinations) {
  const special = ({ level, share }) => level || share;
  if (!checkCombinations && ![...questions, ...earlier].some(special)) return;
  const levels = await load("src/levels.js");
  for (const list of [questions, earlier]) levels.checkLevels(list, checkCombinations ?? (() => {}));
}
async function readQuestions(list, choose, format) {
  question(isList(list, MOST_QUESTIONS), "Questions must be a list of 1 to 1,000.");
  const found = [];
  for (const data of list) found.push(await readQuestion(data, choose, format));
  return found;
}
async function readQuestion(data, choose, format = 1) {
  const second = format === 2 ? present(data, ...Object.keys(SECOND)) : [];
  const optional = [...present(data, "level", "share", "segments", "asked"), ...second];
  must(hasExactly(data, "id", "version", "description", "owner", "expires", "epoch", "repeat",
    "send", "fields", ...optional), "members",
  "A question must be an object with exactly its members.");
  question(isText(data.id) && /^[a-z][a-z0-9_.-]{0,63}$/.test(data.id), "'id' must match.");
  question(isWhole(data.version, 1, 2 ** 31 - 1), "A version is from 1 to 2^31 - 1.");
  question(isText(data.description) && isText(data.owner), "Descriptions are strings.");
  question(isDate(data.expires), "'expires' must be a date such as 2027-12-31.");
  question(isWhole(data.epoch, 1, 366), "An epoch has 1 to 366 days.");
  question(["once", "epoch", "permanent"].includes(data.repeat), "'repeat' is not known.");
  question(["recorded", "always"].includes(data.send), "'send' is not known.");
  question(isList(data.fields, 64), "'fields' must be a list of 1 to 64.");
  checkOptional(data);
  for (const name of second) {
    question(isWhole(data[name], ...SECOND[name]), `The ${name} of a question is out of range.`);
  }
  const named = optional.includes("segments") ? choose(data.segments)
    : { segments: [], combination: null };
  const absent = data.send === "always";
  const fields = [];
  for (const field of data.fields) fields.push(await readField(field, absent));
  question(new Set(fields.map(({ name }) => name)).size === fields.length, "Names must differ.");
  return { ...madeQuestion(data, fields, absent), ...named };
}
function checkOptional({ level, share, asked }) {
  question(level === undefined || (isText(level) && /^[a-z][a-z0-9_]{0,31}$/.test(level)),
    "'level' must match.");
  question(share === undefined || isWhole(share, 1, 10 ** 6), "'share' is from 1 to 10^6.");
  question(asked === undefined || (isText(asked) && /^[1-9]\d{0,19}$/.test(asked) &&
    BigInt(asked) < ONE), "'asked' is a threshold above 0 and below 2^64.");
}
function madeQuestion(data, fields, absent) {
  const { id, version, epoch, repeat, send, expires, level = "", share = 0 } = data;
  const asked = data.asked === undefined ? null : coinOf(BigInt(data.asked));
  const contract = canonical({ id, version, epoch, repeat, send, fields: data.fields.map(
    ({ name, domain, mechanism, parameters }) => ({ name, domain, mechanism, parameters })),
  ...(level && { level }) });
  const plain = fields.length === 1 && fields[0].name === "value";
  return {
    id, version, epoch, repeat, send, expires, fields, absent, plain, contract, data,
    level, share, asked,
    digest: sha256(join(PREFIX, utf8(contract))),
    answers(value) {
      if (plain || value === ABSENT) {
        return fields.map(({ domain }) => fieldAnswer(domain, value, absent));
      }
      const given = byName(value, fields.map(({ name }) => name));
      const missing = (name) => !Object.hasOwn(given, name);
      must(absent || !fields.some(({ name }) => missing(name)), "missing_field",
        "The value must have every field.");
      return fields.map(({ name, domain }) =>
        fieldAnswer(domain, missing(name) ? ABSENT : given[name], absent));
    },
    checkRecord(record) {
      const sizes = fields.map(({ mechanism }) => sizeOf(mechanism.items));
      must(record.length === sizes.reduce((a, b) => a + b, 0), "record", "The size is wrong.");
      fields.forEach(({ mechanism }, i) => {
        const start = sizes.slice(0, i).reduce((a, b) => a + b, 0);
        const values = unpack(mechanism.items, record.subarray(start, start + sizes[i]));
        mechanism.check?.(values);
      });
    },
  };
}
function isDate(text) {
  if (!isText(text) || !/^\d{4}-\d\d-\d\d$/.test(text) || text < "0001") return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
}
async function readField(data, absent) {
  must(hasExactly(data, "name", "domain", "mechanism", "parameters", "candidates"), "members",
    "A field must be an object with exactly its members.");
  const { name, parameters, candidates } = data;
  const field = (condition, message) => must(condition, "field", message);
  field(MECHANISMS.includes(data.mechanism), "'mechanism' is not known.");
  must(typeof parameters === "object" && !Array.isArray(parameters), "parameters",
    "Parameters must be an object.");
  field(isText(name) && /^[a-z][a-z0-9_]{0,31}$/.test(name), "'name' must match.");
  const domain = await readDomain(data.domain);
  field(isText(candidates) && (candidates === "" || isPath(candidates)),
    "'candidates' must be below the survey's folder.");
  must((domain.kind === "profile") === PROFILES.includes(data.mechanism), "parameters",
    "Profiles have mechanisms of their own.");
  const { read } = await load(`src/mechanisms/${data.mechanism}.js`);
  return { name, domain, mechanism: read(parameters, domain, absent) };
}
const isPath = (path) =>
  !/[\\:\0]/.test(path) && path.split("/").every((part) => !["", ".", ".."].includes(part));
return { readSurvey, newest, readQuestion };
},
"src/upload.js"() {
const { judge, retryAfter } = need("src/acknowledgement.js");
const { batches, backOff } = need("src/outbox.js");
const { batchOf } = need("src/report.js");
const TIMEOUT = 10_000;
const MOST_IN_FLIGHT = 60_000;
const addressOf = (collector, path) =>
  new URL(collector.replace(/\/*$/, path), globalThis.location?.href).href;
class Uploader {
  #address;
  #headers;
  #inFlight = 0;
  #failures = 0;
  notBefore = 0;
  constructor(address, writeKey) {
    this.#address = address;
    this.#headers = writeKey === undefined
      ? { "Content-Type": "text/plain;charset=UTF-8" }
      : { "Content-Type": "application/json", Authorization: `Bearer ${writeKey}` };
  }
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
return { addressOf, Uploader };
},
"src/window.js"() {
const spansOf = (state) => Object.entries(state.charges).map(([days, micros]) =>
  [...days.split(" ").map(Number), micros]);
function peak(spans, length, low, high) {
  const changes = new Map();
  const change = (day, micros) => changes.set(day, (changes.get(day) ?? 0) + micros);
  for (const [first, last, micros] of spans) {
    const [enters, leaves] = [first - length + 1, last + 1];
    if (enters > high || leaves <= low) continue;
    change(Math.max(enters, low), micros);
    change(leaves, -micros);
  }
  let [total, most] = [0, 0];
  for (const day of [...changes.keys()].sort((a, b) => a - b).filter((day) => day <= high)) {
    total += changes.get(day);
    most = Math.max(most, total);
  }
  return most;
}
const fits = (state, { micros: budget, days }, [first, last], micros) =>
  micros === 0 || micros <= budget - peak(spansOf(state), days, first - days + 1, last);
function fullest(state, days) {
  const spans = spansOf(state);
  const first = Math.min(...spans.map(([day]) => day)) - days + 1;
  return peak(spans, days, first, Math.max(...spans.map(([, day]) => day)));
}
return { fits, fullest };
},
};
const loaded = {};
const need = (name) => (loaded[name] ??= modules[name]());
const load = async (name) => need(name);
export const { ABSENT } = need("src/absent.js");
export const { Client } = need("src/client.js");
export const { Refused } = need("src/refused.js");
globalThis.deniable = Object.freeze({ ABSENT, Client, Refused });
