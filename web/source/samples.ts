// SPDX-License-Identifier: Apache-2.0
// Samples as people look at them: the most confident mistakes, and the first ones of the training as the network sees them.
import type { Context, Section } from "./context";
import { known, type ClassAnswer, type Examples, type Maybe, type Mistakes, type Sample, type Values } from "./document";
import { foldable, h, table, type Child } from "./dom";
import { count, number, percent } from "./format";

const shownAtFirst = 24;
const mostColumns = 10; // of a table of rows; longer ones are cards
const svgSpace = "http://www.w3.org/2000/svg";
const curveBox = { width: 240, height: 90 };

const isClass = (truth: Sample["truth"]): truth is ClassAnswer => !!truth && !Array.isArray(truth);
const classAnswers = (sample: Sample): ClassAnswer[] => (isClass(sample.truth) ? (sample.answers as ClassAnswer[] | undefined) ?? [] : []);
const numbers = (values: Values | undefined) => (values ?? []).map((value) => number(value)).join(", ");
const titleOf = (answer: ClassAnswer) => (answer.name === String(answer.class) ? `class ${answer.class}` : answer.name);

function truthText(sample: Sample): string {
  if (!sample.truth) return "";
  return isClass(sample.truth) ? titleOf(sample.truth) : numbers(sample.truth);
}

function drawn(values: Values, low: number, high: number, index: number): SVGElement {
  const line = document.createElementNS(svgSpace, "polyline");
  const x = (i: number) => (curveBox.width * i) / Math.max(1, values.length - 1);
  const y = (value: number) => curveBox.height - 3 - ((curveBox.height - 6) * (value - low)) / (high - low || 1);
  line.setAttribute("points", values.flatMap((value, i) => (known(value) ? [`${x(i).toFixed(1)},${y(value).toFixed(1)}`] : [])).join(" "));
  line.setAttribute("class", `curve curve-${(index % 6) + 1}`);
  return line;
}

function curves(sample: Sample): Child {
  const all = sample.curves!.flat().filter(known);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const svg = document.createElementNS(svgSpace, "svg");
  svg.setAttribute("viewBox", `0 0 ${curveBox.width} ${curveBox.height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${sample.name}: ${count(sample.points)} values from ${number(low)} to ${number(high)}`);
  sample.curves!.forEach((values, i) => svg.append(drawn(values, low, high, i)));
  return [svg, h("p", { class: "range" }, `${number(low)} … ${number(high)}`)];
}

const row = (values: [string, Maybe][]) =>
  h("dl", { class: "values" }, values.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, known(value) ? String(value) : "–"))));

function view(sample: Sample): Child {
  if (sample.picture)
    return h("img", { src: sample.picture, alt: sample.name, width: sample.width, height: sample.height, loading: "lazy", class: Math.max(sample.width ?? 0, sample.height ?? 0) < 100 ? "coarse" : null });
  if (sample.curves) return curves(sample);
  return sample.row ? row(sample.row) : null;
}

function answers(sample: Sample): Child {
  const list = classAnswers(sample);
  if (list.length === 0)
    return h("dl", { class: "answers" }, h("div", {}, h("dt", {}, "truth"), h("dd", {}, truthText(sample))), h("div", {}, h("dt", {}, "answer"), h("dd", {}, numbers(sample.answers as Values))));
  const [first, ...others] = list;
  const truth = sample.truth as ClassAnswer;
  return [
    h("p", { class: "verdict" }, h("b", {}, titleOf(first!)), " ", percent(first!.probability)),
    h("p", { class: "is" }, "is ", h("b", {}, titleOf(truth)), known(truth.probability) ? h("small", {}, ` ${percent(truth.probability)}`) : null),
    h("p", { class: "others" }, others.filter((answer) => answer.class !== truth.class && (answer.probability ?? 0) >= 0.001).map((answer) => `${titleOf(answer)} ${percent(answer.probability)}`).join(", ")),
  ];
}

const card = (sample: Sample, below: Child) =>
  h("li", { class: sample.picture ? "sample" : "sample wide" }, view(sample), h("div", { class: "below" }, below, h("p", { class: "name" }, sample.name)));

const cards = (samples: Sample[], below: (sample: Sample) => Child) => h("ul", { class: samples.some((one) => one.picture) ? "samples" : "samples wide" }, samples.map((one) => card(one, below(one))));

// Short rows stand in one table, so that a column can be read down.
function rows(samples: Sample[], mistaken: boolean): HTMLElement {
  const columns = samples[0]!.row!.map(([name]) => name);
  const first = (sample: Sample) => classAnswers(sample)[0];
  return h("div", { class: "card" }, table("Samples", [
    { title: "Sample", key: true, cell: (sample: Sample) => sample.name },
    { title: "Truth", cell: (sample) => truthText(sample) },
    ...(mistaken ? [
      { title: "Answer", cell: (sample: Sample) => (first(sample) ? titleOf(first(sample)!) : numbers(sample.answers as Values)) },
      ...(first(samples[0]!) ? [{ title: "Probability", numeric: true, cell: (sample: Sample) => percent(first(sample)?.probability) }] : []),
    ] : []),
    ...columns.map((title, i) => ({ title, numeric: true, cell: (sample: Sample) => { const value = sample.row?.[i]?.[1]; return known(value) ? String(value) : "–"; } })),
  ], samples));
}

function list(samples: Sample[], mistaken: boolean): Child {
  if (samples.every((one) => one.row && one.row.length <= mostColumns)) return rows(samples, mistaken);
  return cards(samples, mistaken ? answers : (sample) => h("p", { class: "is" }, h("b", {}, truthText(sample))));
}

export function mistakeList(context: Context, found: Mistakes): Child {
  const shown = found.shown ?? [];
  const isPart = known(found.samples) && known(found.of) && found.samples < found.of;
  const of = `${count(found.samples)}${isPart ? ` of ${count(found.of)}` : ""} ${found.part ?? ""} samples`;
  if (shown.length === 0) return h("p", { class: "missing" }, `Of ${of} none was answered wrongly.`);
  const text = known(found.wrong)
    ? `${count(found.wrong)} of ${of} are answered wrongly${found.wrong > shown.length ? `; the ${count(shown.length)} most confident answers` : ""}. Above: the answer and its probability; below: what it is.`
    : `The ${count(shown.length)} largest errors of ${of}.`;
  const rest = shown.slice(shownAtFirst);
  return [h("p", { class: "hint" }, text), list(shown.slice(0, shownAtFirst), true),
    rest.length > 0 ? foldable(`${context.prefix}more-mistakes`, `${count(rest.length)} more`, () => list(rest, true)) : null];
}

function exampleList(examples: Examples): Child {
  const samples = examples.samples ?? [];
  const prepared = [examples.augmented, samples[0]?.picture ? "" : examples.normalized && examples.normalized !== "none" ? `normalised (${examples.normalized.replace("_", " ")})` : ""].filter(Boolean).join("; ");
  return [h("p", { class: "hint" }, `The first samples of the first epoch${prepared ? `, with ${prepared}` : ""}.`), list(samples, false)];
}

export const mistakes: Section = {
  id: "mistakes",
  title: ({ document }) => (known(document.mistakes?.wrong) || !document.mistakes ? "Most confident mistakes" : "Largest errors"),
  slice: (document) => document.mistakes,
  render: (context) => (context.document.mistakes ? mistakeList(context, context.document.mistakes) : null),
};

export const examples: Section = {
  id: "examples",
  title: () => "What the network sees",
  slice: (document) => document.examples,
  render: (context) => (context.document.examples?.samples?.length ? exampleList(context.document.examples) : null),
};
