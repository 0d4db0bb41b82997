/** What the mechanisms of profiles share: levels, order, cells, choices, tables. */

import { fits, members, whole } from "../parameters.js";

/** Return the levels and the order of a profile's parameters, checked against the domain. */
export function shapeOf(data, domain, absent, ...names) {
  members(data, "answers", "order", ...names);
  fits(domain.kind === "profile" && !absent, "The mechanism reports a profile, never absent.");
  const { answers: levels } = data;
  fits(Array.isArray(levels) && levels.join() === domain.levels.join() &&
    levels.every(Number.isInteger), "The levels must be those of the attributes.");
  const order = whole(data.order, 1, levels.length);
  const widths = levels.map((count) => 32 - Math.clz32(count - 1));
  return { levels, order, widths };
}

/** Return the sum of some numbers. */
export const sum = (list) => list.reduce((a, b) => a + b, 0);

/** Return the cell that codes are in binary, the first one lowest, below 2^53. */
export function cellOf(codes, sizes) {
  return codes.reduceRight((cell, code, i) => cell * sizes[i] + code, 0);
}

/**
 * The choices of attributes with a function of each, in lexicographic order.
 *
 * `ways[i][l]` is the number of choices of l attributes among those from i on.
 */
export class Selection {
  constructor(functions) {
    const d = functions.length;
    this.functions = functions;
    this.ways = Array.from({ length: d + 1 }, () => new Array(d + 1).fill(0));
    this.ways[d][0] = 1;
    for (let i = d - 1; i >= 0; i--) {
      this.ways[i][0] = 1;
      for (let l = 1; l <= d; l++) {
        this.ways[i][l] = functions[i] * this.ways[i + 1][l - 1] + this.ways[i + 1][l];
      }
    }
  }

  /** The number of choices of each order from 1 to `order`. */
  counts(order) {
    return Array.from({ length: order }, (_, l) => this.ways[0][l + 1]);
  }

  /** Return choice `number` of an order, as pairs of attribute and function. */
  choice(order, number) {
    const chosen = [];
    for (let i = 0; order > 0; i++) {
      const rest = this.ways[i + 1][order - 1];
      const here = this.functions[i] * rest;
      if (number < here) {
        chosen.push([i, Math.floor(number / rest)]);
        number %= rest;
        order--;
      } else {
        number -= here;
      }
    }
    return chosen;
  }
}

/** Return the tables of exactly `order` attributes: their number, largest size, and cells. */
export function tablesOf({ order, widths }, mostCells) {
  const selection = new Selection(widths.map(() => 1));
  const count = selection.ways[0][order];
  const most = 2 ** sum([...widths].sort((a, b) => b - a).slice(0, order));
  fits(count * most <= mostCells, "The tables have too many cells.");
  const among = (table) => selection.choice(order, table).map(([i]) => i);
  const sizesOf = (table) => among(table).map((i) => 2 ** widths[i]);
  return {
    count,
    most,
    cells: (table) => sizesOf(table).reduce((a, b) => a * b, 1),
    cell: (table, codes) => cellOf(among(table).map((i) => codes[i]), sizesOf(table)),
    /** The different sizes of tables, rising. */
    sizes: () => {
      const sums = Array.from({ length: order + 1 }, () => new Set());
      sums[0].add(0);
      for (const width of widths) {
        for (let l = order; l > 0; l--) sums[l - 1].forEach((w) => sums[l].add(w + width));
      }
      return [...sums[order]].sort((a, b) => a - b).map((w) => 2 ** w);
    },
  };
}
