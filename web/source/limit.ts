// SPDX-License-Identifier: Apache-2.0
// What limited the run, what would change it, and what one should know about it.
import type { Context, Section } from "./context";
import { known, type Prediction } from "./document";
import { h, type Child } from "./dom";
import { bytes, capitalized, seconds, signedPercent } from "./format";

function prediction(entry: Prediction): HTMLElement {
  const less = known(entry.difference) ? entry.difference : 0;
  return h("li", { title: entry.sentence },
    h("span", { class: "change" }, capitalized(entry.change)),
    h("span", { class: "gain", "aria-hidden": "true" },
      h("span", { class: less > 0 ? "worse" : "", style: { width: `${Math.min(100, 100 * Math.abs(less))}%` } })),
    h("b", {}, signedPercent(entry.difference)),
    h("span", { class: "part-time" }, known(entry.step_seconds) ? `${seconds(entry.step_seconds)} a step` : ""));
}

// "twice the bandwidth: can't be predicted; ..." for several changes with the same reason in one line.
function untold(predictions: Prediction[]): Child {
  const reasons = new Map<string, string[]>();
  for (const entry of predictions) {
    const reason = (entry.sentence ?? "").replace(`${entry.change}: `, "") || "can't be predicted";
    reasons.set(reason, [...(reasons.get(reason) ?? []), entry.change]);
  }
  return [...reasons].map(([reason, changes]) => h("p", { class: "hint" }, `${capitalized(changes.join(", "))}: ${reason}`));
}

function traffic({ document: { traffic } }: Context): Child {
  if (!traffic || !known(traffic.measured_bytes_per_step)) return null;
  const model = known(traffic.model_bytes_per_step)
    ? `; expected are ${bytes(traffic.model_bytes_per_step)}${known(traffic.ratio) ? `, so the difference is ${signedPercent(traffic.ratio - 1)}` : ""}${traffic.model ? ` (${traffic.model})` : ""}` : "";
  return h("p", { class: "hint" }, `Exchange between nodes: ${bytes(traffic.measured_bytes_per_step)} a step were measured${model}.`);
}

function render(context: Context): Child {
  const { limit, predictions = [] } = context.document;
  const told = predictions.filter((entry) => known(entry.difference));
  if (!limit?.sentence && predictions.length === 0) return null;
  return h("div", { class: "card limit" },
    h("p", { class: "sentence" }, limit?.kind && limit.kind !== "unknown" ? h("span", { class: `tag ${limit.kind}` }, capitalized(limit.kind)) : null, limit?.sentence ?? ""),
    told.length > 0 ? [h("h3", {}, "What would a step take with …"), h("ul", { class: "predictions" }, told.map(prediction))] : null,
    untold(predictions.filter((entry) => !known(entry.difference))),
    traffic(context));
}

export const limit: Section = {
  id: "limit",
  title: (context) => (context.running ? "What limits this run" : "What limited this run"),
  slice: (document) => [document.limit, document.predictions, document.traffic, document.run?.state],
  render,
};

export const warnings: Section = {
  id: "warnings",
  title: () => "Warnings",
  slice: (document) => document.warnings,
  render: ({ document }) => {
    const texts = (document.warnings ?? []).map((warning) => (typeof warning === "string" ? warning : JSON.stringify(warning)));
    return texts.length === 0 ? null : h("ul", { class: "card warnings" }, texts.map((text) => h("li", {}, text)));
  },
};
