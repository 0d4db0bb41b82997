/**
 * The published survey: reading survey.json, refusing all that the protocol does not allow.
 *
 * A mechanism's module, and that of a domain which is not closed, is imported when a survey names it.
 */

import { ABSENT } from "./absent.js";
import { byName, fieldAnswer, hasExactly, readDomain } from "./answers.js";
import { join, utf8 } from "./bytes.js";
import { canonical, parse } from "./canonical.js";
import { sizeOf, unpack } from "./layout.js";
import { coinOf, ONE } from "./parameters.js";
import { must, Refused } from "./refused.js";
import { sha256 } from "./sha256.js";

const MOST_BYTES = 16_777_216;
const MOST_QUESTIONS = 1000;
const PREFIX = utf8("deniable/v1/question\n");
const PROFILES = ["inp_rr", "inp_ps", "inp_ht", "marg_rr", "marg_ps", "marg_ht", "inp_em",
  "inp_olh", "inp_ht_cms", "coefficients", "views"];
const MECHANISMS = ["rappor", "krr", "orr", "oue", "olh", "hadamard", "subset", "pgr", "hcms",
  "prefixes", "ngrams", ...PROFILES];

/** The members of a survey that are numbers, with the largest of each. */
const NUMBERS = { ceiling: 10 ** 12, people: 10 ** 10, floor: 10 ** 10, retention_days: 36_525,
  keep_counts: 1 };

/** What a question has in the second format alone, with the least and the largest of each. */
const SECOND = { retention_days: [1, 36_525], keep_counts: [0, 1] };

const present = (object, ...names) => names.filter((name) => Object.hasOwn(Object(object), name));
const isText = (value) => typeof value === "string";
const isWhole = (value, least, most) =>
  Number.isInteger(value) && value >= least && value <= most;
const isList = (value, most) => Array.isArray(value) && value.length >= 1 && value.length <= most;
const placeOf = ({ id, version, level }) => `${id} ${version} ${level}`;
const question = (condition, message) => must(condition, "question", message);

/** Read a survey from the bytes of survey.json. */
export async function readSurvey(bytes) {
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
  // Few surveys have segments or levels: what reads them is imported for these.
  const parts = optional.includes("segments") ? await import("./segments.js") : null;
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

/** Return 2 where a question has a member that the first format has not: a survey has one spelling. */
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

/** Return the newest version of each question, all its levels. */
export function newest(questions) {
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
  const levels = await import("./levels.js");
  for (const list of [questions, earlier]) levels.checkLevels(list, checkCombinations ?? (() => {}));
}

async function readQuestions(list, choose, format) {
  question(isList(list, MOST_QUESTIONS), "Questions must be a list of 1 to 1,000.");
  const found = [];
  for (const data of list) found.push(await readQuestion(data, choose, format));
  return found;
}

/** Read one question as it is published; `choose` finds the segments that it names. */
export async function readQuestion(data, choose, format = 1) {
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
    /** Return one answer per field, for a value or for ABSENT. */
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
    /** Refuse a record that no client sends. */
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
  const { read } = await import(`./mechanisms/${data.mechanism}.js`);
  return { name, domain, mechanism: read(parameters, domain, absent) };
}

const isPath = (path) =>
  !/[\\:\0]/.test(path) && path.split("/").every((part) => !["", ".", ".."].includes(part));
