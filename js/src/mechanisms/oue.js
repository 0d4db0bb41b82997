/** Optimised unary encoding: a bit per answer of a closed domain. */

import { bits, pack } from "../layout.js";
import { answersOf, fits, members, whole } from "../parameters.js";
import { membersOf, setExponents, STAGES, twoStages } from "./unary.js";

export function read(data, domain, absent) {
  members(data, "answers", ...STAGES, ...(Object.hasOwn(data, "members") ? ["members"] : []));
  const k = whole(data.answers, 2, 65537);
  const many = membersOf(data, domain);
  const count = answersOf(domain, absent);
  fits(count !== null && k === (many ? count - 1 : count), "oue has a bit per answer.");
  const stages = twoStages(data, many ? setExponents(k, many) : [1, 1]);
  const items = [bits(k)];
  return {
    ...stages,
    perMember: many > 0,
    items,
    encode(answer, _cohort, permanent, fresh) {
      const own = answer.code < 0 ? answer.members : [answer.code - (many ? 1 : 0)];
      return pack(items, [stages.report(k, new Set(own), permanent, fresh)]);
    },
  };
}
