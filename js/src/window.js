/**
 * A budget of epsilon per window of consecutive days (protocol, section 10, point 7).
 *
 * A report belongs to every day of its epoch, and so to every window that touches one of them.
 */

const spansOf = (state) => Object.entries(state.charges).map(([days, micros]) =>
  [...days.split(" ").map(Number), micros]);

/** Return the largest sum of a window that begins from `low` to `high`. */
function peak(spans, length, low, high) {
  const changes = new Map();
  const change = (day, micros) => changes.set(day, (changes.get(day) ?? 0) + micros);
  for (const [first, last, micros] of spans) {
    // Windows that touch first..last begin from first - length + 1 to last.
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

/** Tell whether a report that belongs to the days first..last may cost these micros. */
export const fits = (state, { micros: budget, days }, [first, last], micros) =>
  micros === 0 || micros <= budget - peak(spansOf(state), days, first - days + 1, last);

/** Return the micros of the window that spent the most so far. */
export function fullest(state, days) {
  const spans = spansOf(state);
  const first = Math.min(...spans.map(([day]) => day)) - days + 1;
  return peak(spans, days, first, Math.max(...spans.map(([, day]) => day)));
}
