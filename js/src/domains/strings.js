/** Strings, of any kind or of an alphabet and a length. */

import { answerOf, hasExactly, isRising, isText, kept, MOST_BYTES, points } from "../answers.js";
import { join, utf8 } from "../bytes.js";
import { isWellFormed } from "../canonical.js";
import { must, Refused } from "../refused.js";

const ESCAPE = "\ufffd";

/** Return the domain that survey.json describes; null if it has other members. */
export function read(data) {
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

/** Tell whether a text is an alphabet: 2 to 4,096 rising code points, each in NFC by itself. */
export function isAlphabet(text) {
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
