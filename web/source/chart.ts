// SPDX-License-Identifier: Apache-2.0
// Lines and stacked areas by uPlot, with a legend that reads the values under the cursor and marks for the run's events.
import uPlot from "uplot";
import { known, last, type Maybe, type Values } from "./document";
import { h } from "./dom";
import { elapsed, number, short, type Format } from "./format";
import { color, onThemeChange } from "./theme";

// Faint: what a line was smoothed from, behind it and not in the legend.
export interface Line { label: string; values: Values; color: string; format?: Format; points?: boolean; dashed?: boolean; faint?: boolean }
export interface Mark { at: number; title: string; color: string }
export interface ChartSpec {
  key: string; // charts with the same key are the same chart, drawn again
  title: string;
  note?: string;
  x: Values;
  xText?: (x: number) => string; // default: time since the beginning
  xAxis?: "time" | "number";
  lines: Line[];
  format?: Format;
  stacked?: boolean;
  range?: [number | null, number | null]; // null: as the values have it
  marks?: Mark[];
  logarithmic?: boolean;
}

const height = 190;
const timeSteps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];

function sums(lines: Line[], length: number): (number | null)[][] {
  const total: number[] = new Array(length).fill(0);
  return lines.map((line) => {
    for (let i = 0; i < length; ++i) total[i]! += line.values[i] ?? 0;
    return lines.length ? total.map((value, i) => (known(line.values[i]) ? value : null)) : [];
  });
}

const plain = (values: Values) => values.map((value) => (known(value) ? value : null));

function dataOf(spec: ChartSpec): uPlot.AlignedData {
  const lines = spec.stacked ? sums(spec.lines, spec.x.length) : spec.lines.map((line) => plain(line.values));
  return [plain(spec.x), ...lines] as uPlot.AlignedData;
}

class Chart {
  readonly element: HTMLElement;
  private readonly box = h("div", { class: "plot", role: "img", tabindex: 0 });
  private readonly legend = h("ul", { class: "legend" });
  private readonly when = h("span", { class: "when" });
  private readonly heading = h("span", {});
  private plot: uPlot | null = null;
  private drawn = ""; // what can't be changed by new data alone
  private zoomed = false;

  constructor(private spec: ChartSpec) {
    this.element = h("figure", { class: "chart" }, h("figcaption", {}, h("h3", {}, this.heading), this.when), this.legend, this.box);
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    this.box.addEventListener("blur", () => this.plot?.setCursor({ left: -10, top: -10 }));
    this.show(spec);
  }

  show(spec: ChartSpec) {
    this.spec = spec;
    this.heading.textContent = spec.title;
    this.read(this.plot?.cursor.idx ?? null);
    this.box.setAttribute("aria-label", `${spec.title}. ${this.legendTexts(null).join(", ")}. Left and right arrow keys read the values.`);
    this.draw();
  }

  redraw() {
    this.drawn = "";
    this.draw();
  }

  private format = (line: Line): Format => line.format ?? this.spec.format ?? number;

  private named = () => this.spec.lines.filter((line) => !line.faint);

  private legendTexts(index: number | null): string[] {
    return this.named().map((line) => `${line.label} ${this.format(line)(index === null ? last(line.values) : line.values[index])}`);
  }

  private read(index: number | null) {
    this.legend.replaceChildren(
      ...this.named().map((line) =>
        h("li", {},
          h("span", { class: line.points ? "swatch dot" : line.dashed ? "swatch dashed" : "swatch", style: { "--color": `var(--${line.color})` } }),
          `${line.label} `, h("b", {}, this.format(line)(index === null ? last(line.values) : this.near(line.values, index))))));
    const x = index === null ? null : this.spec.x[index];
    const mark = known(x) ? this.markNear(x) : null;
    this.when.textContent = known(x) ? (mark ? `${mark.title} · ` : "") + (this.spec.xText ?? elapsed)(x) : this.spec.note ?? "";
  }

  // Where lines have their points at unlike times (validation: once an epoch) the one before counts.
  private near(values: Values, index: number): Maybe {
    for (let i = index; i >= 0; --i) if (known(values[i])) return values[i];
    return null;
  }

  private markNear(x: number): Mark | null {
    const reach = this.plot ? Math.abs(this.plot.posToVal(5, "x") - this.plot.posToVal(0, "x")) : 0;
    return this.spec.marks?.find((mark) => Math.abs(mark.at - x) <= reach) ?? null;
  }

  private onKey(event: KeyboardEvent) {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step || !this.plot) return;
    event.preventDefault();
    const size = this.spec.x.length;
    const now = this.plot.cursor.idx ?? (step > 0 ? -1 : size);
    const next = Math.min(size - 1, Math.max(0, now + step * Math.max(1, Math.round(size / 60))));
    const x = this.spec.x[next];
    if (known(x)) this.plot.setCursor({ left: this.plot.valToPos(x, "x"), top: 10 });
  }

  private draw() {
    const width = Math.floor(this.box.clientWidth);
    if (width === 0) return; // not on the page yet, or folded away; the observer calls again
    const signature = JSON.stringify([this.spec.lines.map((line) => [line.label, line.color]), this.spec.stacked, this.spec.range, this.spec.logarithmic]);
    if (this.plot && signature === this.drawn) {
      if (this.plot.width !== width) this.plot.setSize({ width, height });
      this.plot.setData(dataOf(this.spec), !this.zoomed);
      return;
    }
    this.plot?.destroy();
    this.drawn = signature;
    this.plot = new uPlot(this.options(width), dataOf(this.spec), this.box);
  }

  private options(width: number): uPlot.Options {
    const { spec } = this;
    const font = "11px Inter, system-ui, sans-serif";
    const axis = { stroke: color("text-soft"), font, grid: { stroke: color("grid"), width: 1 }, ticks: { show: false } };
    const lines = spec.lines.map((line) => this.seriesOf(line));
    return {
      width, height,
      padding: [10, 12, 0, 0],
      legend: { show: false },
      cursor: {
        points: { size: 7 },
        drag: { x: true, y: false, setScale: true },
        ...(spec.xAxis === "number" ? {} : { sync: { key: "time", scales: ["x", null] as [string, null] } }),
      },
      scales: { x: { time: false }, y: { distr: spec.logarithmic ? 3 : 1, range: (_, low, high) => this.range(low, high) } },
      series: [{}, ...lines],
      bands: spec.stacked ? spec.lines.slice(1).map((line, i) => ({ series: [i + 2, i + 1] as [number, number], fill: color(line.color) + "b0" })) : [],
      axes: [
        { ...axis, grid: { show: false }, ...(spec.xAxis === "number" ? {} : { incrs: timeSteps }), space: 70, size: 26, gap: 6,
          values: (_, splits) => splits.map((value) => (spec.xText ?? elapsed)(value)) },
        { ...axis, size: (_, values) => Math.max(34, 12 + 6.2 * Math.max(0, ...(values ?? []).map((text) => text.length))), gap: 6, space: 34,
          values: (_, splits) => splits.map((value) => (known(value) ? short((spec.format ?? number)(value)) : "")) },
      ],
      hooks: {
        setCursor: [(plot) => this.read(plot.cursor.idx ?? null)],
        setSelect: [(plot) => (this.zoomed = this.zoomed || plot.select.width > 0)],
        ready: [(plot) => plot.over.addEventListener("dblclick", () => (this.zoomed = false))],
        drawClear: [(plot) => this.drawMarks(plot)],
      },
    };
  }

  private seriesOf(line: Line): uPlot.Series {
    const stroke = color(line.color);
    const first = this.spec.stacked && this.spec.lines[0] === line;
    return {
      label: line.label, stroke: line.faint ? stroke + "55" : stroke, spanGaps: true,
      width: this.spec.stacked ? 0.75 : line.faint ? 1 : 1.75,
      ...(line.dashed ? { dash: [5, 4] } : {}),
      ...(first ? { fill: stroke + "b0" } : {}),
      points: { show: line.points === true || line.values.filter(known).length === 1, size: 6, fill: stroke },
    };
  }

  private range(low: number | null, high: number | null): uPlot.Range.MinMax {
    const [from, to] = this.spec.range ?? [null, null];
    if (low === null || high === null) return [from ?? 0, to ?? 1];
    if (this.spec.logarithmic) return [low, high === low ? high * 2 : high];
    const room = 0.06 * (high - low || Math.abs(high) || 1);
    // Close to zero the axis begins there, so that heights can be compared.
    const bottom = from ?? (low >= 0 && low < 0.35 * high ? 0 : low - room);
    return [bottom, Math.max(to ?? high + room, bottom + 1e-12)];
  }

  private drawMarks(plot: uPlot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const mark of this.spec.marks ?? []) {
      const x = Math.round(plot.valToPos(mark.at, "x", true)) + 0.5;
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.strokeStyle = color(mark.color);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }
}

const charts = new Map<string, Chart>();
onThemeChange(() => charts.forEach((chart) => chart.redraw()));

export function chart(spec: ChartSpec): HTMLElement {
  const existing = charts.get(spec.key);
  if (existing) {
    existing.show(spec);
    return existing.element;
  }
  const made = new Chart(spec);
  charts.set(spec.key, made);
  return made.element;
}

// Lines with points at different places, on one axis: [x, values of the first, of the second ...].
export function joined(tables: [Values, ...Values[]][]): Values[] {
  const usable = tables.filter(([x]) => x.length > 0).map((table) => table.map(plain) as unknown as uPlot.AlignedData);
  return usable.length === 0 ? [[]] : usable.length === 1 ? (usable[0] as unknown as Values[]) : (uPlot.join(usable) as unknown as Values[]);
}
