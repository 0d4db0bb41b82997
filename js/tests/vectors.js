/**
 * Every golden vector, good and bad, as a list of named checks.
 *
 * The same list runs in node and in a browser: `load(name)` returns the parsed file of that name.
 */

import { ABSENT } from "../src/absent.js";
import { fieldAnswer, readDomain } from "../src/answers.js";
import { hex, unhex, utf8 } from "../src/bytes.js";
import { canonical, parse } from "../src/canonical.js";
import { derive, Stream } from "../src/draws.js";
import { encode, isAsked, orderWord, paidMark, tagOf } from "../src/encode.js";
import { narrowed } from "../src/fetched.js";
import { bloomBits, fingerprint, wordOf } from "../src/hashing.js";
import { DEFAULT_CEILING } from "../src/ledger.js";
import { codeOf, frequencies, readModel } from "../src/mechanisms/coding.js";
import { coinOf } from "../src/parameters.js";
import { readReport } from "../src/read_report.js";
import { batchOf, reportOf } from "../src/report.js";
import { combinationOf } from "../src/segments.js";
import { readQuestion, readSurvey } from "../src/survey.js";

const RECORDS = ["rappor", "rappor_permuted", "krr", "orr", "oue", "olh", "hadamard", "subset",
  "pgr", "hcms", "inp_rr", "inp_ps", "inp_ht", "marg_rr", "marg_ps", "marg_ht", "inp_em",
  "inp_olh", "inp_ht_cms", "coefficients", "views", "prefixes", "ngrams", "sets", "permanent",
  "fields"];

/** The names of all files of good vectors that the checks read. */
export const GOOD = ["answers", "canonical", "digest", "hashing", "prf", "epsilon", "coding",
  "order", "report", "surveys", "fetched", "segments", "asked", ...RECORDS];

/** The compact form is not sent by pages, whose plain text needs no preflight. */
export const LEFT_OUT = ["compact"];

function same(found, wanted, what) {
  const [a, b] = [found, wanted].map((value) => JSON.stringify(value));
  if (a !== b) throw new Error(`${what}: ${a} is not ${b}`);
}

/** Return the value that a vector spells with its type. */
export function valueOf(spelled) {
  const [[kind, value]] = Object.entries(spelled);
  if (kind === "absent") return ABSENT;
  if (kind === "null") return null;
  if (kind === "list") return value.map(valueOf);
  if (kind === "fields") {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, valueOf(one)]));
  }
  if (kind === "utf16") return String.fromCharCode(...value);
  if (kind === "repeat") return value[0].repeat(value[1]);
  if (kind === "number") return numberOf(value);
  if (kind === "integer") return BigInt(value);
  if (["boolean", "string"].includes(kind)) return value;
  throw new Error(`a vector has a value of the kind '${kind}', which no check reads`);
}

function numberOf(value) {
  const special = { nan: NaN, inf: Infinity, "-inf": -Infinity };
  return value in special ? special[value] : Number(value);
}

const checks = {
  async answers(cases) {
    for (const { domain, value, absent, key, code } of cases) {
      const answer = fieldAnswer(await readDomain(domain), valueOf(value), absent);
      same([hex(answer.key), answer.code], [key, code ?? -1], "answer");
    }
  },
  canonical(cases) {
    for (const { name, bytes, value } of cases) {
      same(hex(utf8(canonical(value))), bytes, name);
      same(canonical(parse(canonical(value))), canonical(value), name);
    }
  },
  async digest(cases) {
    for (const { name, question, contract, digest } of cases) {
      const read = await readQuestion(question);
      same([read.contract, hex(read.digest)], [contract, digest], name);
    }
  },
  hashing(cases) {
    for (const { key, words, outputs, bloom } of cases) {
      const found = fingerprint(unhex(key));
      same(found.map(String), words, "words");
      for (const { index, word } of outputs) same(String(wordOf(found, BigInt(index))), word, key);
      for (const { cohort, hashes, bits, places } of bloom) {
        same(bloomBits(found, cohort, hashes, bits), places, key);
      }
    }
  },
  prf({ keys, streams, draws }) {
    for (const { secret, pieces, key } of keys) {
      same(hex(derive(unhex(secret), ...pieces.map(unhex))), key, "key");
    }
    const next = (stream) => {
      stream.word();
      return String((BigInt(stream.high) << 32n) | BigInt(stream.low));
    };
    for (const { key, words } of streams) {
      const stream = new Stream(unhex(key));
      same(words.map(() => next(stream)), words, "stream");
    }
    for (const { key, draws: wanted, next_word: last } of draws) {
      const stream = new Stream(unhex(key));
      for (const { coin, below, result } of wanted) {
        const drawn = coin === undefined ? stream.below(below) : stream.coin(coinOf(BigInt(coin)));
        same(drawn, result, "draw");
      }
      same(next(stream), last, "the word after the draws");
    }
  },
  async epsilon(cases) {
    for (const { mechanism, parameters, once, forever } of cases) {
      const { read } = await import(`../src/mechanisms/${mechanism}.js`);
      const found = fitting(read, mechanism, parameters);
      same([found.once, found.forever], [once, forever], mechanism);
    }
  },
  coding(cases) {
    for (const { model, codes, frequencies: wanted, length, letters } of cases) {
      const read = readModel(unhex(model));
      same(read.letters.join(""), letters, "letters");
      for (const { before, values } of wanted) {
        same(frequencies(read, before).slice(0, 8), values, "values"); // the first eight
      }
      for (const { text, number, digits } of codes) {
        same(codeOf(read, text, length).map(String), [number, String(digits)], "code");
      }
    }
  },
  order(cases) {
    for (const { name, secret, questions, order } of cases) {
      const key = unhex(secret);
      const placed = questions.map(({ id, version, word, mark, digest }) => {
        same(String(orderWord(key, id)), word, name);
        same(hex(paidMark(key, { id, version, digest: unhex(digest) })), mark, name);
        return { id, version, word: BigInt(word) };
      });
      placed.sort((a, b) => (a.word < b.word ? -1 : a.word > b.word ? 1 :
        a.id < b.id ? -1 : a.id > b.id ? 1 : a.version - b.version));
      same(placed.map(({ id, version }) => [id, version]), order, name);
    }
  },
  report(cases) {
    for (const { batch, reports } of cases) {
      const made = reports.map(({ question, version, digest, epoch, id, record, segments }) =>
        reportOf({ id: question, version, digest: unhex(digest),
          combination: segments ? () => segments : null }, epoch, unhex(id), unhex(record)));
      same(batchOf(made), batch, "batch");
      same(made.map(readReport), made, "reports");
    }
  },
  async surveys(cases) {
    for (const { name, text, asked, earlier, ceiling } of cases) {
      const survey = await readSurvey(utf8(text));
      const places = (list) => [...new Map(list.map(({ id, version }) =>
        [`${id} ${version}`, [id, version]])).values()].sort();
      same([places(survey.asked), places(survey.earlier), survey.ceiling],
        [asked, earlier, ceiling], name);
    }
  },
};

checks.fetched = async (cases) => {
  for (const { name, app, shown, ...expected } of cases) {
    for (const [word, { asked, ceiling }] of Object.entries(expected)) {
      const [own, theirs] = await Promise.all([app, shown].map((text) => readSurvey(utf8(text))));
      const { survey } = narrowed(own, theirs, word === "with");
      const found = survey.asked.map(({ id, version, level, expires, asked: share }) =>
        [id, version, level || null, expires, share]);
      found.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
      const wanted = asked.map(([id, version, level, expires, share]) =>
        [id, version, level, expires, share === null ? null : coinOf(BigInt(share))]);
      same(found, wanted, `${name}, ${word} the app's word`);
      const most = own.ceiling ?? DEFAULT_CEILING;
      same(Math.min(most, survey.ceiling ?? most), ceiling, name);
    }
  }
};
checks.segments = (cases) => {
  for (const { segments, told, text } of cases) same(canonical(combinationOf(segments, told)), text);
};
checks.asked = (cases) => {
  for (const { secret, id, asked, result } of cases) {
    same(Number(isAsked(unhex(secret), { id, asked: coinOf(BigInt(asked)) })), result, id);
  }
};

/** Read parameters with whatever domain they fit: the vectors of epsilon name none. */
function fitting(read, mechanism, p) {
  const domains = [];
  const levels = p.levels ?? p.answers;
  if (Array.isArray(levels)) domains.push([{ kind: "profile", size: null, levels }, false]);
  else if (p.length) {
    const letters = p.model ? readModel(fromModel(p.model)).letters : ["a", "b"];
    domains.push([{ kind: "strings", size: null, length: p.length, letters }, false]);
  } else {
    domains.push([{ kind: "strings", size: null }, false], [{ kind: "boolean", size: 2 }, false]);
    const count = p.answers || p.bits || p.size || 0;
    for (const size of [count, count + 1]) {
      domains.push([{ kind: "categories", size }, false],
        [{ kind: "set", size, names: size - 1, most: p.members }, false]);
    }
  }
  for (const [domain, absent] of domains) {
    try {
      return read(p, domain, absent);
    } catch (error) {
      if (error.reason !== "parameters") throw error;
    }
  }
  throw new Error(`${mechanism} fits no domain: ${JSON.stringify(p)}`);
}

function fromModel(text) {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
}

async function records(cases) {
  for (const { name, question, secret, fresh_key: key, value, record, fields } of cases) {
    const read = await readQuestion(question);
    const answers = read.answers(valueOf(value));
    same(answers.map((answer) => hex(answer.key)), fields.map((field) => field.key), name);
    const made = encode(read, answers, unhex(secret), new Stream(unhex(key)));
    same(hex(made), record, name);
    read.checkRecord(made);
    const tags = read.fields.map((field, i) => hex(tagOf(unhex(secret), read, field, answers[i])));
    same(tags, fields.map((field) => field.tag), name);
  }
}

const bad = {
  survey: (input) => readSurvey(input.bytes ? unhex(input.bytes) : utf8(input.text)),
  report: (input) => readReport(input.report),
  record: async (input) => (await readQuestion(input.question)).checkRecord(unhex(input.record)),
  answer: async (input) => (await readQuestion(input.question)).answers(valueOf(input.value)),
  canonical: (input) => parse(input.text),
};

async function refused({ kind, input, reason, about }) {
  let found = "nothing";
  try {
    await bad[kind](input);
  } catch (error) {
    found = error.reason ?? String(error.stack);
  }
  same(found, reason, about);
}

/** The names of the files of good vectors that format 2 of the survey adds. */
export const SECOND = ["surveys", "fetched"];

/** Check surveys in which questions say how long their reports stay: no digest depends on it. */
async function secondSurveys(cases) {
  for (const { name, text, kept } of cases) {
    const { known } = await readSurvey(utf8(text));
    same(known.map(({ id, version, digest }) => [id, version, hex(digest)]),
      kept.map(({ id, version, digest }) => [id, version, digest]), name);
  }
}

/** Return [name, check] of every file of vectors of format 2. */
export function secondChecks(load, badNames) {
  return [
    ["v2/surveys", async () => secondSurveys(await load("surveys"))],
    ["v2/fetched", async () => checks.fetched(await load("fetched"))],
    ...badNames.map((name) => [`v2/bad/${name}`, async () => refused(await load(`bad/${name}`))]),
  ];
}

/** Return [name, check] of every file of vectors; `load` may be asynchronous. */
export function allChecks(load, badNames) {
  return [
    ...GOOD.map((name) => [name, async () => (checks[name] ?? records)(await load(name))]),
    ...badNames.filter((name) => !LEFT_OUT.includes(name.split("-")[0])).map((name) => [`bad/${name}`, async () => refused(await load(`bad/${name}`))]),
  ];
}
