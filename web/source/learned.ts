// SPDX-License-Identifier: Apache-2.0
// What the network learned: scores of every class and what it confuses, or the errors of the numbers it predicts.
import { confusionMatrix } from "./confusion";
import type { Context, Section } from "./context";
import { known, type ClassScore, type Evaluation, type Maybe, type NumberScore } from "./document";
import { foldable, h, table, type Child } from "./dom";
import { accuracy, count, number, percent, plural } from "./format";

const shownAtFirst = 20; // classes; of more the weakest stand in front
const weakest = 10;
const mostConfused = 12;

const tile = (title: string, value: string, note = "") =>
  h("div", { class: "tile" }, h("dt", {}, title), h("dd", {}, value, note ? h("small", {}, note) : null));

function tiles(evaluation: Evaluation): Child {
  if (evaluation.classes)
    return h("dl", { class: "tiles" }, tile("Accuracy", accuracy(evaluation.accuracy)),
      evaluation.top_k ? tile(`Top ${evaluation.top_k.k}`, accuracy(evaluation.top_k.accuracy), "has the label") : null,
      tile("F1", percent(evaluation.macro?.f1), "mean of classes"), tile("F1, weighted", percent(evaluation.weighted?.f1), "by samples"),
      tile("Loss", number(evaluation.loss)));
  return h("dl", { class: "tiles" }, tile("MAE", number(evaluation.mae), "mean absolute error"), tile("RMSE", number(evaluation.rmse), "root of the mean square"),
    tile("R²", known(evaluation.r2) ? evaluation.r2.toFixed(4) : "–", "1: all is explained"), tile("Loss", number(evaluation.loss)));
}

const meter = (value: Maybe) =>
  h("span", { class: "meter", "aria-hidden": "true" }, h("span", { style: { width: `${100 * Math.min(1, Math.max(0, value ?? 0))}%` } }));

const classTable = (caption: string, classes: ClassScore[]) =>
  table(caption, [
    { title: "Class", key: true, cell: (one: ClassScore) => one.name },
    { title: "Precision", numeric: true, cell: (one) => percent(one.precision) },
    { title: "Recall", numeric: true, cell: (one) => percent(one.recall) },
    { title: "F1", numeric: true, cell: (one) => [meter(one.f1), percent(one.f1)] },
    { title: "Samples", numeric: true, cell: (one) => count(one.support) },
    { title: "Answers", numeric: true, cell: (one) => count(one.answers) },
  ], classes);

function classes(context: Context, all: ClassScore[]): Child {
  if (all.length <= shownAtFirst) return h("div", { class: "card" }, h("h3", {}, "Classes"), classTable("Scores of the classes", all));
  const weak = all.filter((one) => (one.support ?? 0) > 0).sort((a, b) => (a.f1 ?? 0) - (b.f1 ?? 0)).slice(0, weakest);
  return h("div", { class: "card" }, h("h3", {}, `The ${weak.length} weakest of ${plural(all.length, "class", "classes")}`),
    classTable("Scores of the weakest classes", weak),
    foldable(`${context.prefix}classes`, `All ${plural(all.length, "class", "classes")}`, () => classTable("Scores of all classes", all)));
}

function confused(evaluation: Evaluation): Child {
  const all = evaluation.classes ?? [];
  const cells = (evaluation.confused ?? []).slice(0, mostConfused);
  if (cells.length === 0) return null;
  const most = cells[0]!.count;
  return h("div", {}, h("h3", {}, "Most frequent confusions"), h("ul", { class: "confused" }, cells.map((cell) => {
    const label = all[cell.label];
    const share = label && known(label.support) && label.support > 0 ? cell.count / label.support : null;
    return h("li", {}, h("span", { class: "pair-names" }, h("b", {}, label?.name ?? String(cell.label)), " taken for ", h("b", {}, all[cell.answer]?.name ?? String(cell.answer))),
      h("span", { class: "meter", "aria-hidden": "true" }, h("span", { style: { width: `${(100 * cell.count) / most}%` } })),
      h("span", { class: "pair-count" }, count(cell.count), h("small", {}, known(share) ? `${percent(share)} of the class` : "")));
  })));
}

function targets(list: NumberScore[]): Child {
  if (list.length < 2) return null;
  return h("div", { class: "card" }, table("Errors of the targets", [
    { title: "Target", key: true, cell: (row: { score: NumberScore; at: number }) => String(row.at + 1) },
    { title: "MAE", numeric: true, cell: (row) => number(row.score.mae) },
    { title: "RMSE", numeric: true, cell: (row) => number(row.score.rmse) },
    { title: "R²", numeric: true, cell: (row) => (known(row.score.r2) ? row.score.r2.toFixed(4) : "–") },
  ], list.map((score, at) => ({ score, at }))));
}

export function scores(context: Context, evaluation: Evaluation): Child {
  const isPart = known(evaluation.samples) && known(evaluation.of) && evaluation.samples < evaluation.of;
  const matrix = confusionMatrix(`${context.prefix}confusion`, evaluation);
  return [
    h("p", { class: "hint" }, `Measured on ${count(evaluation.samples)}${isPart ? ` of ${count(evaluation.of)}` : ""} ${evaluation.part ?? ""} samples, by ${evaluation.checkpoint || "the last checkpoint"}${evaluation.weights === "best" ? " with the weights of its best epoch" : ""}.`),
    tiles(evaluation),
    evaluation.classes ? classes(context, evaluation.classes) : targets(evaluation.targets ?? []),
    matrix || evaluation.confused?.length ? h("div", { class: "card matrix-card" }, matrix, confused(evaluation)) : null,
  ];
}

export const learned: Section = {
  id: "learned",
  title: () => "What it learned",
  slice: (document) => document.evaluation,
  render: (context) => (context.document.evaluation ? scores(context, context.document.evaluation) : null),
};
