// SPDX-License-Identifier: Apache-2.0
// Which operations of the network the time went into, from the profiled steps.
import type { Context, Section } from "./context";
import { known, type Category, type Op } from "./document";
import { foldable, h, table, type Child } from "./dom";
import { bytes, bytesPerSecond, count, flops, percent, plural, seconds } from "./format";

const shownAtFirst = 12;

function categories(list: Category[]): Child {
  const most = Math.max(0, ...list.map((entry) => entry.seconds ?? 0));
  if (most === 0) return null;
  return h("div", { class: "bars" }, list.map((entry) =>
    h("div", { class: "bar-row with-share" },
      h("div", { class: "bar-name" }, entry.category),
      h("div", { class: "bar thin", "aria-hidden": "true" }, h("span", { class: "segment plain", style: { width: `${(100 * (entry.seconds ?? 0)) / most}%` } })),
      h("div", { class: "bar-value" }, seconds(entry.seconds), h("small", {}, percent(entry.share))))));
}

const opTable = (ops: Op[]) =>
  table("Operations, slowest first", [
    { title: "Operation", key: true, cell: (op: Op) => [op.name, h("small", {}, [op.category, op.pass].filter(Boolean).join(", "))] },
    { title: "Time a step", numeric: true, cell: (op) => h("span", { title: known(op.spread) ? `± ${seconds(op.spread)}` : null }, seconds(op.seconds)) },
    { title: "Share", numeric: true, cell: (op) => percent(op.share) },
    { title: "Calls", numeric: true, cell: (op) => count(op.calls) },
    { title: "Speed", numeric: true, cell: (op) => flops(op.flops_per_second) },
    { title: "Bytes", numeric: true, cell: (op) => bytes(op.bytes) },
    { title: "Bytes/s", numeric: true, cell: (op) => bytesPerSecond(op.bytes_per_second) },
  ], ops);

function render(context: Context): Child {
  const { ops } = context.document;
  if (!ops || !ops.ops || ops.ops.length === 0) return null;
  const sorted = [...ops.ops].sort((a, b) => (b.seconds ?? 0) - (a.seconds ?? 0));
  const rest = sorted.slice(shownAtFirst);
  return h("div", { class: "card" },
    h("p", { class: "hint" }, known(ops.steps) ? `Means over ${plural(ops.steps, "profiled step")}.` : "Means over the profiled steps."),
    categories(ops.categories ?? []), opTable(sorted.slice(0, shownAtFirst)),
    rest.length > 0 ? foldable(`${context.prefix}ops`, `${plural(rest.length, "more operation")}`, () => opTable(rest)) : null);
}

export const ops: Section = { id: "ops", title: () => "Operations", slice: (document) => document.ops, render };
