// SPDX-License-Identifier: Apache-2.0
// Where a step's time goes: one stacked bar for all nodes and one for each, and apart from them what ran beside the step.
import { chart } from "./chart";
import { missing, since, type Context, type Section } from "./context";
import { hasValues, known, type Anatomy, type Part } from "./document";
import { foldable, h, table, type Child } from "./dom";
import { count, percent, seconds } from "./format";

const parts: Record<string, { title: string; color: string; dark?: boolean }> = {
  input_wait: { title: "Waiting for input", color: "part-input" },
  forward: { title: "Forward", color: "part-forward" },
  backward: { title: "Backward", color: "part-backward" },
  exposed: { title: "Exchange, exposed", color: "part-exchange" },
  optimizer: { title: "Optimizer", color: "part-optimizer" },
  idle: { title: "Idle", color: "part-idle" },
};
const beside: Record<string, string> = {
  read: "Reading samples",
  decode: "Decoding samples",
  exchange: "Exchange, submitted to finished",
};
const titleOf = (part: Part) => parts[part.name]?.title ?? beside[part.name] ?? part.name.replaceAll("_", " ");
const colorOf = (part: Part) => `var(--${parts[part.name]?.color ?? "c5"})`;

const isUsable = (anatomy: Anatomy | null | undefined): anatomy is Anatomy => known(anatomy?.step_seconds) && (anatomy.parts?.length ?? 0) > 0;

interface Row { name: string; note: string; anatomy: Anatomy }

function rowsOf({ document: { anatomy, nodes = [] } }: Context): Row[] {
  const rows: Row[] = [];
  if (isUsable(anatomy)) rows.push({ name: "All nodes", note: "", anatomy });
  for (const node of nodes)
    if (isUsable(node.anatomy)) rows.push({ name: `Node ${node.node ?? "?"}`, note: node.host ?? "", anatomy: node.anatomy });
  return rows;
}

function bar(row: Row, scale: number): HTMLElement {
  const segments = (row.anatomy.parts ?? []).filter((part) => known(part.seconds) && part.seconds > 0);
  const text = segments.map((part) => `${titleOf(part)} ${seconds(part.seconds)}, ${percent(part.share)}`).join("; ");
  return h("div", { class: "bar-row" },
    h("div", { class: "bar-name" }, row.name, row.note ? h("small", {}, row.note) : null),
    h("div", { class: "bar", role: "img", "aria-label": `${row.name}: ${text}` },
      segments.map((part) => {
        const share = part.seconds! / scale;
        return h("span", { class: `segment ${part.name}`, title: `${titleOf(part)}: ${seconds(part.seconds)}, ${percent(part.share)} of the step`,
          style: { width: `${100 * share}%`, "--color": colorOf(part) } }, share > 0.075 ? h("span", { class: "wide-only" }, percent(part.share)) : null);
      })),
    h("div", { class: "bar-value" }, seconds(row.anatomy.step_seconds)));
}

// On the scale of the steps, but never in their bars: it happens at the same time.
function besideBars(row: Row, scale: number): Child {
  const values = (row.anatomy.beside ?? []).filter((part) => known(part.seconds));
  if (values.length === 0) return null;
  const most = Math.max(scale, ...values.map((part) => part.seconds!));
  return h("div", { class: "beside" },
    h("h3", {}, "At the same time, in the background"),
    h("p", { class: "hint" }, "Work that overlaps the step. It is not part of the sum above and may be longer than the step."),
    values.map((part) =>
      h("div", { class: "bar-row with-share" },
        h("div", { class: "bar-name" }, titleOf(part)),
        h("div", { class: "bar thin", "aria-hidden": "true" }, h("span", { class: "segment hatched", style: { width: `${(100 * part.seconds!) / most}%` } })),
        h("div", { class: "bar-value" }, seconds(part.seconds), h("small", {}, percent(part.share))))));
}

function legend(anatomy: Anatomy): HTMLElement {
  return h("ul", { class: "part-list" },
    (anatomy.parts ?? []).map((part) =>
      h("li", {},
        h("span", { class: `swatch block ${part.name}`, style: { "--color": colorOf(part) } }),
        h("span", { class: "part-name" }, titleOf(part)),
        h("b", {}, percent(part.share)),
        h("span", { class: "part-time" }, seconds(part.seconds), known(part.spread) ? ` ± ${seconds(part.spread)}` : ""))));
}

function overTime(context: Context): Child {
  const series = context.document.anatomy?.series;
  const lines = Object.entries(parts)
    .filter(([name]) => hasValues(series?.[name]))
    .map(([name, look]) => ({ label: look.title, values: series![name]!, color: look.color }));
  if (lines.length === 0 || (series?.["time"]?.length ?? 0) < 2) return null;
  return chart({ key: `${context.prefix}anatomy`, title: "A step over time", x: since(context, series!["time"]), lines, stacked: true,
    format: seconds, range: [0, null], marks: context.marks });
}

function allNumbers(rows: Row[]): HTMLElement {
  const column = (name: string, list: "parts" | "beside", title: string) => ({
    title, numeric: true,
    cell: (row: Row) => seconds(row.anatomy[list]?.find((part) => part.name === name)?.seconds),
  });
  return table("Seconds of a step by node", [
    { title: "Node", key: true, cell: (row: Row) => row.name },
    { title: "Steps", numeric: true, cell: (row: Row) => count(row.anatomy.steps) },
    ...Object.entries(parts).map(([name, look]) => column(name, "parts", look.title)),
    { title: "Step", numeric: true, cell: (row: Row) => h("b", {}, seconds(row.anatomy.step_seconds)) },
    ...Object.entries(beside).map(([name, title]) => column(name, "beside", `(${title})`)),
  ], rows);
}

function render(context: Context): Child {
  const rows = rowsOf(context);
  if (rows.length === 0)
    return missing(context.running ? "The first seconds of training will show where a step's time goes." : "This run has no telemetry of its steps: an older Trireme made it, or it ended too soon.");
  const scale = Math.max(...rows.map((row) => row.anatomy.step_seconds!));
  const all = rows[0]!;
  return h("div", { class: "card" },
    legend(all.anatomy),
    h("div", { class: "bars" }, rows.slice(0, 33).map((row) => bar(row, scale))),
    rows.length > 33 ? h("p", { class: "hint" }, `and ${rows.length - 33} more nodes in the table`) : null,
    besideBars(all, scale),
    overTime(context),
    foldable(`${context.prefix}anatomy-numbers`, "All numbers", () => allNumbers(rows)));
}

export const anatomy: Section = {
  id: "anatomy",
  title: () => "Where a step's time goes",
  slice: (document) => [document.anatomy, document.nodes?.map((node) => node.anatomy), document.run?.state],
  render,
};
