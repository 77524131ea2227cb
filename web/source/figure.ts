// SPDX-License-Identifier: Apache-2.0
// Figures of a comparison: groups of bars with their spread, or lines.
import { chart } from "./chart";
import { known, type Figure, type Values } from "./document";
import { h, type Child } from "./dom";
import { number, short, withSpread } from "./format";

const colors = ["c1", "c2", "c3", "c4", "c6", "c5", "c7", "c8"];

function bars(figure: Figure): Child {
  const series = figure.series ?? [];
  const most = Math.max(0, ...series.flatMap((one) => (one.values ?? []).map((value, i) => (value ?? 0) + (one.spread?.[i] ?? 0))));
  if (most <= 0) return h("p", { class: "missing" }, "There are no values to draw.");
  const bar = (x: unknown, i: number) =>
    series.map((one, k) => {
      const value = one.values?.[i];
      if (!known(value)) return null;
      const spread = one.spread?.[i];
      const text = withSpread(value, spread);
      return h("div", { class: "figure-row" },
        h("span", { class: "figure-series" }, series.length > 1 ? one.name ?? "" : ""),
        h("span", { class: "bar thin", role: "img", "aria-label": `${x}, ${one.name ?? ""}: ${text}` },
          h("span", { class: "segment plain", style: { width: `${(100 * Math.max(0, value)) / most}%`, "--color": `var(--${colors[k % colors.length]})` } }),
          known(spread) && spread > 0
            ? h("span", { class: "whisker", style: { left: `${(100 * Math.max(0, value - spread)) / most}%`, width: `${(100 * Math.min(2 * spread, value + spread)) / most}%` } }) : null),
        h("b", {}, text));
    });
  return h("div", { class: "figure-bars" }, (figure.x ?? []).map((x, i) => h("div", { class: "figure-group" }, h("h4", {}, String(x)), bar(x, i))));
}

function lines(figure: Figure, key: string): Child {
  const labels = figure.x ?? [];
  const numeric = labels.every((x) => typeof x === "number");
  const x: Values = numeric ? (labels as number[]) : labels.map((_, i) => i);
  const xText = (value: number) => (numeric ? short(number(value)) : Number.isInteger(value) ? String(labels[value] ?? "") : "");
  return chart({ key, title: figure.title ?? "", note: figure.y_title, x, xText, xAxis: "number", format: number,
    lines: (figure.series ?? []).map((one, i) => ({ label: one.name ?? "", values: one.values ?? [], color: colors[i % colors.length]!, points: labels.length <= 30, dashed: i >= colors.length })) });
}

export function figure(one: Figure, index: number): Child {
  if (one.kind === "lines") return lines(one, `figure-${index}`);
  return h("figure", { class: "chart" }, h("figcaption", {}, h("h3", {}, one.title ?? ""), h("span", { class: "when" }, one.y_title ?? "")), bars(one));
}
