/** RAPPOR: Bloom filters or one bit per answer, a permanent and a fresh stage. */

import { bloomBits, rank } from "../hashing.js";
import { bits, item, pack } from "../layout.js";
import { answersOf, fits, members, whole } from "../parameters.js";
import { membersOf, setExponents, STAGES, twoStages } from "./unary.js";

const MOST = 65537;

export function read(data, domain, absent) {
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
