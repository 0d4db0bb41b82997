/** Views: k-RR over the cells of one of a few overlapping sets of attributes. */

import { fits } from "../parameters.js";
import { tableResponse } from "./cells.js";
import { cellOf, shapeOf } from "./profiles.js";

const product = (list) => list.reduce((a, b) => a * b, 1);

export function read(data, domain, absent) {
  const { levels, order } = shapeOf(data, domain, absent, "truth", "views");
  const { views } = data;
  fits(Array.isArray(views) && views.length >= 1 && views.length <= 16384, "views are a list.");
  for (const view of views) {
    fits(Array.isArray(view) && view.length > 0 && view.every((i, at) => Number.isInteger(i) &&
      i >= 0 && i < levels.length && (at === 0 || view[at - 1] < i)), "A view rises.");
  }
  const sizesOf = (table) => views[table].map((i) => levels[i]);
  const cells = views.map((_, table) => product(sizesOf(table)));
  const most = Math.max(...cells);
  fits(most <= 65536 && most * views.length <= 2 ** 22, "views have too many cells.");
  checkCover(views, levels.length, order);
  return tableResponse(data, {
    count: views.length,
    most,
    cells: (table) => cells[table],
    cell: (table, codes) => cellOf(views[table].map((i) => codes[i]), sizesOf(table)),
    sizes: () => [...new Set(cells)].sort((a, b) => a - b),
  });
}

/** Refuse views unless every `order` attributes are together in one of them. */
function checkCover(views, attributes, order) {
  const ways = (n) => product(Array.from({ length: order }, (_, i) => (n - i) / (i + 1)));
  const listed = views.reduce((sum, view) => sum + (view.length < order ? 0 : ways(view.length)), 0);
  fits(Math.round(listed) <= 2 ** 18, "views list too many sets of attributes.");
  const covered = new Set();
  const list = (view, from, chosen) => {
    if (chosen.length === order) return covered.add(chosen.join());
    for (let at = from; at < view.length; at++) list(view, at + 1, [...chosen, view[at]]);
  };
  for (const view of views) list(view, 0, []);
  fits(covered.size === Math.round(ways(attributes)), "views must cover every set of attributes.");
}
