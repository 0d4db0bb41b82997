/** The page /try: consent, an answer, and everything that becomes of it. */

import { Client } from "./deniable.bundle.js";

const find = (id) => document.getElementById(id);
const base = new URL("..", import.meta.url).href.replace(/\/$/, "");
const number = new Intl.NumberFormat("en");

/** The question that was answered last; the request that took its report away, and the answer. */
let asked = null;
let left = null;
const plain = globalThis.fetch;
globalThis.fetch = async (address, options = {}) => {
  const reports = options.method === "POST" ? JSON.parse(options.body).reports : [];
  if (reports[0]?.question !== asked) return plain(address, options);
  left = { address, ...options, report: reports.at(-1), answer: null };
  showRequest();
  const answer = await plain(address, options);
  const said = await answer.clone().json();
  if (said.accepted) left.answer = said;
  else problem(`The collector did not take it: ${JSON.stringify(said)}`);
  showRequest();
  return answer;
};

const client = await Client.open({
  survey: `${base}/v1/survey`,
  collector: base,
  storage: "best-effort", // the page says so
  delay: 2, // a minute where nobody looks on
}).catch((error) => problem(`The survey could not be read: ${error.message}`));

function problem(text) {
  find("problem").textContent = text;
  find("problem").hidden = false;
}

function showConsent() {
  const { state, consent, signal } = client;
  const open = ["ready", "no_consent", "signal"].includes(state);
  if (!open) problem(`Nothing can be collected here: ${state}.`);
  find("ask").hidden = !open || consent === "denied" || state === "ready";
  find("signal").hidden = !signal;
  find("said").textContent = { ready: "You said yes. Choose an answer.",
    signal: consent === "granted" ? "You said yes before your browser's wish was known here." : "",
  }[state] ?? (consent === "denied" ? "You said no. The secret and what waited are gone." : "");
  find("withdraw").hidden = consent !== "granted";
  find("questions").hidden = state !== "ready";
  if (state !== "ready") for (const id of ["stages", "leaving", "arrived"]) find(id).hidden = true;
}

async function decide(word) {
  const done = await word();
  if (!done) problem("The browser could not store that. Is its storage full or closed?");
  showConsent();
}

/** Return the number of a question's reports, and the version of its table for the chart. */
async function reports(id) {
  const answer = await plain(`${base}/questions/${id}/result.json`, { cache: "no-store" });
  return answer.ok ? (await answer.json()).n : 0;
}

function row(place, bits, truth, labels) {
  find(place).replaceChildren(...bits.map((bit, i) => {
    const one = document.createElement("span");
    one.className = `bit${bit ? " on" : ""}${bit !== truth[i] ? " flipped" : ""}`;
    one.title = `${labels[i] ?? `bit ${i}`}: ${bit}`;
    if (labels.length) one.textContent = labels[i];
    return one;
  }));
  const text = bits.length > 16 ? `${bits.filter(Boolean).length} of ${bits.length} bits set` : bits.join(" ");
  find(place).setAttribute("role", "img");
  find(place).setAttribute("aria-label", text);
}

const differing = (bits, truth) => bits.filter((bit, i) => bit !== truth[i]).length;

async function showStages(question, words, value) {
  const look = () => client.stages(question.dataset.question, value, left?.report);
  let [stage] = await look();
  if (stage.report === null) [stage] = await look(); // the report has left meanwhile
  const told = JSON.parse(question.dataset.labels);
  const labels = told.length === stage.truth.length ? told : [];
  find("value").textContent = words;
  row("truth", stage.truth, stage.truth, labels);
  find("kept").hidden = stage.permanent === null;
  find("fresh").hidden = stage.permanent !== null;
  find("why").textContent = question.dataset.once
    ? "it is answered once, ever, and its one report is drawn from the true value"
    : "every report is drawn anew from the true value, and each one costs";
  if (stage.permanent !== null) row("permanent", stage.permanent, stage.truth, labels);
  row("report", stage.report, stage.truth, labels);
  const count = differing(stage.report, stage.truth);
  find("differ").textContent =
    `In the report, ${count} of ${stage.report.length} bits differ from the true value.` +
    (stage.cohort === null ? "" : ` Your group, drawn by lot, is number ${stage.cohort}.`);
}

async function showCost(question) {
  const { questions, epsilon, ceiling } = await client.disclosed();
  const own = questions.find((one) => one.question === question.dataset.question);
  find("cost").textContent = own.epsilon;
  find("spent").textContent = epsilon;
  find("ceiling").textContent = ceiling;
  find("learned").textContent = JSON.parse(question.dataset.learned).join(" ");
}

/** Show the request as it left; before that, as it will leave. */
function showRequest(waiting = null) {
  const body = left?.body ?? JSON.stringify({ reports: waiting });
  const address = new URL(left?.address ?? `${base}/v1/reports`, base);
  const lines = [`POST ${address.pathname}`, `Host: ${address.host}`,
    ...Object.entries(left?.headers ?? { "Content-Type": "text/plain;charset=UTF-8" })
      .map(([name, value]) => `${name}: ${value}`), "", JSON.stringify(JSON.parse(body), null, 1)];
  find("request").textContent = lines.join("\n");
  find("left").textContent = left === null
    ? "It waits for a moment drawn by lot, two seconds on average here and a minute elsewhere, so that its time says nothing."
    : left.answer === null ? "It has left."
      : `It has left, ${body.length} bytes; spaces are added here. The collector accepted it.`;
}

/** Wait until the request was answered and the dashboard counts one report more. */
async function arrival(id, before) {
  for (let tries = 0; tries < 600; tries++) {
    if (left?.answer?.accepted) {
      const now = await reports(id);
      if (now > before) return now;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  problem("The collector has not answered. Is it still running?");
  return null;
}

function showChart(id, n) {
  const address = (theme, size) =>
    `${base}/questions/${id}/chart.svg?n=${n}&theme=${theme}&size=${size}`;
  const sources = [];
  for (const [theme, scheme] of [["dark", " and (prefers-color-scheme: dark)"], ["light", ""]]) {
    for (const [size, media] of [["narrow", "(max-width: 560px)"], ["medium", "(max-width: 900px)"], ["wide", "(min-width: 901px)"]]) {
      const source = document.createElement("source");
      source.media = media + scheme;
      source.srcset = address(theme, size);
      sources.push(source);
    }
  }
  const image = new Image();
  image.src = address("light", "wide");
  image.alt = "Estimated share of each answer, with its interval";
  find("chart").replaceChildren(...sources, image);
}

/** Say why there is no report, in words for the person. */
async function refusal(question, known) {
  const found = (await client.counters()).find(({ question: id, reason, number: count }) =>
    id === question.dataset.question && count > (known.get(reason) ?? 0));
  const again = question.dataset.once ? "This question is answered once, ever."
    : `This question is answered once in ${question.dataset.days} days.`;
  return { answered: `You have answered already. ${again} Another answer would not leave.`,
    ceiling: "This would exceed the limit on what your browser discloses, ever." }[found?.reason] ??
    `Nothing was recorded: ${found?.reason ?? client.state}.`;
}

async function countsOf(id) {
  const own = (await client.counters()).filter((one) => one.question === id);
  return new Map(own.map(({ reason, number: count }) => [reason, count]));
}

async function answer(question, button) {
  const id = question.dataset.question;
  const status = question.querySelector("[role=status]");
  for (const one of document.querySelectorAll("fieldset button")) one.disabled = true;
  try {
    const [before, known] = await Promise.all([reports(id), countsOf(id)]);
    [asked, left] = [id, null];
    if (!(await client.record(id, JSON.parse(button.dataset.value)))) {
      status.textContent = await refusal(question, known);
      return;
    }
    status.textContent = `You answered: ${button.textContent}.`;
    await showStages(question, button.textContent, JSON.parse(button.dataset.value));
    await showCost(question);
    if (left === null) showRequest(await client.pending());
    find("stages").hidden = find("leaving").hidden = false;
    find("arrived").hidden = true;
    find("stages-title").focus();
    const now = await arrival(id, before);
    if (now === null) return;
    find("counted").textContent = `There were ${number.format(before)} reports to this question; with yours there are ${number.format(now)}. What one report says is lost in the crowd, and the crowd's shares still come out.`;
    find("open").href = `${base}/questions/${id}`;
    showChart(id, now);
    find("arrived").hidden = false;
  } finally {
    for (const one of document.querySelectorAll("fieldset button")) one.disabled = false;
  }
}

if (client) {
  find("yes").onclick = () => decide(() => client.optIn({ despiteSignal: client.signal }));
  find("no").onclick = () => decide(() => client.optOut());
  find("withdraw").onclick = () => decide(() => client.optOut());
  for (const question of document.querySelectorAll("fieldset")) {
    for (const button of question.querySelectorAll("button")) {
      button.onclick = () => answer(question, button).catch((error) => problem(error.message));
    }
  }
  find("yes").disabled = find("no").disabled = false; // a click before this would do nothing
  showConsent();
}
