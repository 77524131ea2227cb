// SPDX-License-Identifier: Apache-2.0
// Loss, accuracy, throughput and learning rate over time.
import { chart, joined, type Line } from "./chart";
import { missing, since, type Context, type Section } from "./context";
import { hasValues, last, smoothed, smoothingWindow, type Values } from "./document";
import { h, type Child } from "./dom";
import { accuracy, number, percent, perSecond } from "./format";

// Training at every step, validation at the end of every epoch, on one axis.
function pair(context: Context, quantity: "loss" | "accuracy"): { x: Values; lines: Line[] } {
  const steps = context.document.curves?.steps;
  const epochs = context.document.curves?.epochs;
  const training = hasValues(steps?.[quantity]) ? steps[quantity] : null;
  const validation = hasValues(epochs?.[`validation_${quantity}`]) ? epochs[`validation_${quantity}`]! : null;
  const byEpoch = !training && hasValues(epochs?.[`training_${quantity}`]) ? epochs[`training_${quantity}`]! : null;
  const tables: [Values, ...Values[]][] = [];
  const looks: Omit<Line, "values">[] = [];
  if (training) {
    const isLong = smoothingWindow(training) > 1;
    tables.push([since(context, steps?.["time"]), training, ...(isLong ? [smoothed(training)] : [])]);
    if (isLong) looks.push({ label: "Each step", color: "c1", faint: true });
    looks.push({ label: "Training", color: "c1" });
  }
  if (byEpoch) {
    tables.push([since(context, epochs?.["time"]), byEpoch]);
    looks.push({ label: "Training", color: "c1" });
  }
  // Without validation samples an epoch ends with the test samples.
  const isTest = context.document.result?.measured_on === "test" && last(validation ?? []) === context.document.result[quantity];
  if (validation) {
    tables.push([since(context, epochs?.["time"]), validation]);
    looks.push({ label: isTest ? "Test" : "Validation", color: "c2", points: true });
  }
  const [x, ...columns] = joined(tables);
  return { x: x ?? [], lines: looks.map((look, i) => ({ ...look, values: columns[i] ?? [] })) };
}

function single(context: Context, name: string, title: string, line: Omit<Line, "values">): Child {
  const steps = context.document.curves?.steps;
  if (!hasValues(steps?.[name])) return null;
  return chart({ key: `${context.prefix}${name}`, title, x: since(context, steps["time"]), lines: [{ ...line, values: steps[name] }],
    format: line.format, range: [0, null], marks: context.marks });
}

function render(context: Context): Child {
  const loss = pair(context, "loss");
  const hits = pair(context, "accuracy");
  const charts = [
    loss.lines.length > 0 && chart({ key: `${context.prefix}loss`, title: "Loss", ...loss, format: number, marks: context.marks }),
    hits.lines.length > 0 && chart({ key: `${context.prefix}accuracy`, title: "Accuracy", x: hits.x, format: percent,
      lines: hits.lines.map((line) => ({ ...line, format: accuracy })), marks: context.marks }),
    single(context, "samples_per_second", "Throughput", { label: "Samples", color: "c3", format: perSecond }),
    single(context, "learning_rate", "Learning rate", { label: "Learning rate", color: "c4", format: number }),
  ].filter(Boolean);
  if (charts.length === 0) return missing(context.running ? "The curves begin with the first steps." : "This run recorded no steps.");
  return h("div", { class: "charts" }, charts);
}

export const learning: Section = {
  id: "learning",
  title: () => "Learning",
  slice: (document) => [document.curves, document.result?.measured_on, document.events?.length, document.run?.state],
  render,
};
