/** Levels: a question's epsilons, of which each person chooses one for all questions (section 3). */

import { canonical } from "./canonical.js";
import { must } from "./refused.js";

const WHOLE = 1_000_000;
const placeOf = ({ id, version }) => `${id} ${version}`;

/** Return the questions of each version: its levels, or the one that it is. */
function byVersion(questions) {
  const found = new Map();
  for (const q of questions) found.set(placeOf(q), [...(found.get(placeOf(q)) ?? []), q]);
  return [...found.values()];
}

/** Refuse levels unless they differ in level, share, mechanism and parameters alone. */
export function checkLevels(questions, checkCombinations) {
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

/**
 * Return a survey as it is asked of a person who chose a level: one question for each version.
 *
 * Without a choice, the empty one, it is the first level listed. A question that offers levels but
 * not the chosen one is left out; a question without levels is the same for all.
 */
export function atLevel(survey, choice) {
  const chosen = (questions) => byVersion(questions).flatMap((levels) => {
    const found = choice && levels[0].level
      ? levels.find(({ level }) => level === choice) : levels[0];
    return found ? [found] : [];
  });
  const [questions, earlier, asked] = [survey.questions, survey.earlier, survey.asked].map(chosen);
  return { ...survey, questions, earlier, known: [...questions, ...earlier], asked };
}
