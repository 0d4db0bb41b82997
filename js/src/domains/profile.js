/** Profiles: a value of each of a few attributes. */

import { answerOf, byName, hasExactly, isText, kept, keyOf, readClosed } from "../answers.js";
import { must } from "../refused.js";

/** Return the domain that survey.json describes; null if it has other members. */
export function read(data) {
  if (!hasExactly(data, "type", "attributes")) return null;
  const { attributes } = data;
  kept(Array.isArray(attributes) && attributes.length >= 2 && attributes.length <= 32,
    "A domain has 2 to 32 attributes.");
  const all = attributes.map((attribute) => {
    const perhaps = Object.hasOwn(Object(attribute), "unknown");
    kept(hasExactly(attribute, "name", "domain", ...(perhaps ? ["unknown"] : [])) &&
      isText(attribute.name) && /^[a-z][a-z0-9_]{0,31}$/.test(attribute.name) &&
      (!perhaps || attribute.unknown === 1), "A domain's attribute has a name.");
    const domain = readClosed(attribute.domain);
    kept(domain, "A domain's attribute must be boolean, categories or numbers.");
    kept(!(perhaps && attribute.domain.values?.includes("unknown")),
      "A domain's attribute that may be unknown has no category of that name.");
    return { name: attribute.name, domain, perhaps };
  });
  kept(new Set(all.map(({ name }) => name)).size === all.length,
    "A domain's attributes must differ.");
  const levels = all.map(({ domain, perhaps }) => domain.size + Number(perhaps));
  const answer = (value) => {
    const given = byName(value, all.map(({ name }) => name));
    const codes = all.map(({ name, domain, perhaps }) => {
      if (Object.hasOwn(given, name)) return domain.codeOf(given[name]);
      must(perhaps, "missing_field", "The value must have every attribute.");
      return domain.size;
    });
    return answerOf(keyOf("r", codes), { codes });
  };
  return { size: null, levels, answer };
}
