/**
 * Reading the collector's answer to a batch, which is never trusted.
 *
 * Only the collector's own word ends a report: the `problems` of its 200, or a problem document with
 * a final reason. Whatever a proxy, a login page or a wrong route says makes reports wait.
 */

const FINAL = ["schema", "record", "digest", "expired", "too_late", "oversize"];
const OF_REPORTS = ["schema", "unknown_question", "unknown_version", "digest", "expired",
  "too_early", "too_late", "record"];
const SPLIT = ["oversize", "batch_size"];
const KNOWN = [...OF_REPORTS, ...SPLIT];

const isCount = (value) => Number.isInteger(value) && value >= 0;
const outcome = (reason) => FINAL.includes(reason)
  ? { counter: `refused_${reason}`, leaves: true }
  : { counter: `waiting_${KNOWN.includes(reason) ? reason : "other"}`, leaves: false };

/**
 * Return the outcome of each of `count` reports, or "wait" or "split" for all of them.
 *
 * @param {{status: number, type: string, body: string}} answer what came back
 */
export function judge({ status, type, body }, count) {
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

/** Return the milliseconds that a Retry-After asks for, at most a day; 0 if it asks for nothing. */
export function retryAfter(header, now) {
  const text = (header ?? "").trim();
  const asked = /^\d{1,12}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Math.min(LONGEST, Math.max(0, asked || 0));
}
