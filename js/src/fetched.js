/**
 * A survey that was fetched: a server may ask for less than the app does, and never for more
 * (protocol, section 11).
 */

import { hex, utf8 } from "./bytes.js";
import { canonical } from "./canonical.js";
import { firstCost } from "./ledger.js";
import { sha256 } from "./sha256.js";
import { newest } from "./survey.js";

const OFTEN = { once: 0, permanent: 1, epoch: 2 };
const earlierOf = (a, b) => (a < b ? a : b);
const lastOf = (list) => list.reduce((a, b) => (a > b ? a : b));

/**
 * Return what is answered of a fetched survey, and the ids of what is left out.
 *
 * Nothing is answered that the app did not bundle, digest for digest, unless the app trusts the survey;
 * then no version asks for more than the bundled one. Expiry, share of devices and ceiling are the
 * lower ones; everything else is the app's own. A question whose reports would stay for longer than
 * the app's survey says is left out, unless the app trusts the survey.
 *
 * @param {boolean|string[]} trusted the app's word: for all fetched surveys, or by their SHA-256
 */
export function narrowed(bundled, fetched, trusted) {
  const text = canonical(fetched.data);
  if (text === canonical(bundled.data)) return { survey: bundled, leftOut: [] };
  const word = trusted === true || (trusted && trusted.includes(hex(sha256(utf8(text)))));
  const [own, theirs] = [byVersion(bundled.asked), byVersion(fetched.questions)];
  const leftOut = [];
  let asked = [];
  for (const [place, levels] of own) {
    // All levels of a version or none: without the first, another would be the default.
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

/** Return how long reports to a question stay: its own numbers, or else the survey's. */
function keeping({ data }, question) {
  const own = (name) => question.data[name] ?? data[name];
  return { days: own("retention_days") ?? Infinity, counts: own("keep_counts") === 1 };
}

/** Tell whether reports, or counts of them, stay for longer by one rule than by another. */
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

/** Return a version that the app did not bundle as it may be asked, all levels; null if not. */
function newVersion(bundled, levels) {
  const [{ id, version }] = levels;
  const versions = bundled.known.filter((q) => q.id === id);
  if (versions.length === 0) {
    // Nothing to compare with: no value reaches it unless the app's code names it.
    const last = lastOf(bundled.known.map(({ expires }) => expires));
    return levels.map((q) => ({ ...q, expires: earlierOf(q.expires, last) }));
  }
  const latest = Math.max(...versions.map((q) => q.version));
  const old = versions.filter((q) => q.version === latest);
  const alike = levels.length === old.length && levels.every((q, i) => q.level === old[i].level);
  if (version <= latest || !alike || levels.some((q, i) => asksMore(old[i], q))) return null;
  return levels.map((q, i) => lower(q, old[i], q));
}

/** Tell whether a version asks a device for more than the bundled one in any respect. */
function asksMore(old, fresh) {
  const shown = new Map(old.segments.map(({ name, values }) => [name, values]));
  const [before, after] = [costsOf(old), costsOf(fresh)];
  return after.some((cost, i) => cost > before[i]) || fresh.epoch < old.epoch ||
    OFTEN[fresh.repeat] > OFTEN[old.repeat] || (old.absent && !fresh.absent) ||
    fresh.segments.some(({ name, values }) =>
      values.some((value) => !shown.get(name)?.includes(value)));
}

/** Return the epsilon of one report, of a first value, and of one value for ever. */
function costsOf(question) {
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const once = sum(question.fields.map(({ mechanism }) => mechanism.once));
  const forever = question.repeat === "epoch"
    ? sum(question.fields.map(({ mechanism }) => mechanism.forever ?? Infinity)) : once;
  return [once, firstCost(question), forever];
}

/** Return a question with the nearer expiry and the smaller share of two. */
function lower(question, a, b) {
  const isLess = (x, y) => x.high < y.high || (x.high === y.high && x.low < y.low);
  const shares = [a.asked, b.asked].filter((share) => share !== null);
  const asked = shares.length === 2 && isLess(shares[1], shares[0]) ? shares[1] : shares[0] ?? null;
  return { ...question, expires: earlierOf(a.expires, b.expires), asked };
}
