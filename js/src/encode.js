/** From answers to the record of a report; what is permanent is derived from the secret. */

import { answerOf, ABSENT_ANSWER } from "./answers.js";
import { join, little, utf8 } from "./bytes.js";
import { derive, Stream } from "./draws.js";
import { codeKey } from "./hashing.js";

const pieces = (what, question, field, ...more) => [
  utf8(what), utf8(question.id), little(question.version), question.digest, utf8(field.name),
  ...more,
];

/** Return the 16 bytes that recognise a value of a field that was seen before. */
export const tagOf = (secret, question, field, answer) =>
  derive(secret, ...pieces("tag", question, field, answer.key)).subarray(0, 16);

/** Return the 16 bytes that say, among the tags, that one value of a question was paid for. */
export const paidMark = (secret, question) =>
  derive(secret, utf8("paid"), utf8(question.id), little(question.version), question.digest)
    .subarray(0, 16);

/** Return the number by which a device puts a question into its order. */
export const orderWord = (secret, id) =>
  new DataView(derive(secret, utf8("order"), utf8(id)).buffer).getBigUint64(0, true);

/** Tell whether the device is among those that are asked: a coin of its secret and the id alone. */
export const isAsked = (secret, { id, asked }) =>
  asked === null || new Stream(derive(secret, utf8("asked"), utf8(id))).coin(asked) === 1;

/** Return the record of a question's answers; `fresh` makes the draws that nobody repeats. */
export function encode(question, answers, secret, fresh) {
  return join(...question.fields.map((field, i) =>
    encodeField(question, field, answers[i], secret, { fresh })));
}

/** Return the record of a field; `given` draws stand in for those of the report or of both stages. */
export function encodeField(question, field, answer, secret, { fresh, ...given }) {
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

/** Return the member of a set that is reported, drawn uniformly from its `most` places. */
function oneMember(domain, mechanism, answer, draws) {
  if (answer.texts) {
    // A larger set has as many places as members, so that each of them is as likely.
    const place = draws.below(Math.max(domain.most, answer.texts.length));
    return answer.texts[place] ?? ABSENT_ANSWER;
  }
  if (domain.kind !== "set" || domain.size === null || mechanism.perMember || answer.code >= 0) return answer;
  const place = draws.below(domain.most);
  const code = answer.members[place] ?? domain.names;
  return answerOf(codeKey(code), { code });
}
