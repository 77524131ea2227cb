// SPDX-License-Identifier: Apache-2.0
// The page of several runs: what is not comparable, tables, figures, and every run below.
import { chart, joined, type Line } from "./chart";
import { hasValues, known, type ComparisonDocument, type RunDocument, type Table, type Values } from "./document";
import { foldable, h, table, type Child } from "./dom";
import { figure } from "./figure";
import { accuracy, duration, number, percent, plural } from "./format";
import { statePill } from "./header";
import { RunView } from "./run_view";

const mostLines = 8;
const isNumeric = (value: unknown) => typeof value === "number" || (typeof value === "string" && value.length < 30 && /^[−+±-]?\d[\d.,]*([\s%×a-zA-Z/±]|$)/.test(value));

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  return typeof value === "number" ? number(value) : String(value);
}

function dataTable(one: Table): Child {
  const columns = one.columns ?? [];
  const rows = one.rows ?? [];
  return h("div", { class: "card" }, h("h3", {}, one.title ?? ""),
    table(one.title ?? "Table", columns.map((title, i) => ({
      title, key: i === 0,
      numeric: i > 0 && rows.some((row) => isNumeric(row[i])) && rows.every((row) => row[i] === null || row[i] === "" || row[i] === "–" || isNumeric(row[i])),
      cell: (row: unknown[]) => textOf(row[i]),
    })), rows),
    one.note ? h("p", { class: "hint" }, one.note) : null);
}

function parity(document: ComparisonDocument): Child {
  const notes = document.parity ?? [];
  if (notes.length === 0) return h("p", { class: "missing" }, "Nothing was found that would make these runs incomparable.");
  return h("ul", { class: "card parity" }, notes.map((note) =>
    h("li", { class: note.severity ?? "note" }, h("span", { class: `pill small ${note.severity === "warning" ? "warn" : ""}` }, note.severity === "warning" ? "Warning" : "Note"), " ", note.text)));
}

// By epochs, since runs of unlike speed shall be compared at the same amount of learning.
function curves(runs: RunDocument[], name: string, title: string, format: (value: number | null | undefined) => string): Child {
  const usable = runs.filter((run) => hasValues(run.curves?.epochs?.[name])).slice(0, mostLines);
  if (usable.length === 0) return null;
  const [x, ...columns] = joined(usable.map((run) => [run.curves!.epochs!["epoch"] ?? [], run.curves!.epochs![name]!] as [Values, Values]));
  const lines: Line[] = usable.map((run, i) => ({ label: run.run?.name ?? `run ${i + 1}`, values: columns[i] ?? [], color: `c${i + 1}`, points: (x?.length ?? 0) < 40, dashed: i >= 4 }));
  return chart({ key: `all-${name}`, title, note: runs.length > mostLines ? `the first ${mostLines} runs, by epochs` : "by epochs", x: x ?? [], xAxis: "number", xText: (value) => (Number.isInteger(value) ? String(value) : ""), lines, format });
}

const runSummary = (document: RunDocument) =>
  h("span", { class: "machine" }, h("b", {}, document.run?.name ?? "a run"), " ", statePill(document.run?.state),
    h("small", {}, [document.run?.strategy, known(document.result?.accuracy) ? `accuracy ${accuracy(document.result?.accuracy)}` : null,
      known(document.result?.seconds) ? duration(document.result?.seconds) : null].filter(Boolean).join(" · ")));

export function comparisonView(document: ComparisonDocument): HTMLElement {
  const runs = document.runs ?? [];
  const section = (id: string, title: string, content: Child) =>
    h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), h("div", { class: "body" }, content));
  const figures = document.figures ?? [];
  const overlays = [curves(runs, "validation_loss", "Validation loss", number), curves(runs, "validation_accuracy", "Validation accuracy", percent),
    curves(runs, "training_loss", "Training loss", number)].filter(Boolean);
  return h("div", { class: "run" },
    h("header", { class: "head" }, h("div", { class: "title" }, h("h1", {}, `Comparison of ${plural(runs.length, "run")}`))),
    section("parity", "Can they be compared?", parity(document)),
    (document.tables ?? []).length > 0 ? section("tables", "Tables", document.tables!.map(dataTable)) : null,
    figures.length > 0 ? section("figures", "Figures", h("div", { class: "charts" }, figures.map(figure))) : null,
    overlays.length > 0 ? section("curves", "Learning", h("div", { class: "charts" }, overlays)) : null,
    runs.length > 0 ? section("runs", "Every run", runs.map((run, i) => foldable(`run-${i}`, runSummary(run), () => {
      const view = new RunView(`run-${i}-`);
      view.show(run);
      return view.element;
    }))) : null);
}
