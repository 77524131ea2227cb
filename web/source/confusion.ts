// SPDX-License-Identifier: Apache-2.0
// The confusion matrix: a table of numbers for a few classes, a picture that is read by pointer or arrow keys for many.
import { known, type Evaluation } from "./document";
import { h, type Child } from "./dom";
import { count, percent } from "./format";
import { color, onThemeChange } from "./theme";

const mostInTable = 16; // classes
const widest = 620; // pixels of the picture

interface Matrix { names: string[]; cells: number[][]; sums: number[] }

function matrixOf(evaluation: Evaluation): Matrix | null {
  const cells = evaluation.confusion;
  if (!cells || cells.length < 2) return null;
  const sums = cells.map((row) => row.reduce((sum, value) => sum + value, 0));
  return { names: cells.map((_, i) => evaluation.classes?.[i]?.name ?? String(i)), cells, sums };
}

const shareOf = (matrix: Matrix, label: number, answer: number) => (matrix.sums[label]! > 0 ? matrix.cells[label]![answer]! / matrix.sums[label]! : 0);
const isNumber = (matrix: Matrix, i: number) => matrix.names[i] === String(i);
const named = (matrix: Matrix, i: number) => (isNumber(matrix, i) ? `class ${i}` : matrix.names[i]!);

function sentence(matrix: Matrix, label: number, answer: number): string {
  const what = label === answer ? `${named(matrix, label)} answered rightly` : `${named(matrix, label)} taken for ${named(matrix, answer)}`;
  return `${what}: ${count(matrix.cells[label]![answer])} of ${count(matrix.sums[label])} (${percent(shareOf(matrix, label, answer))})`;
}

// Colours are faint enough for the numbers on them.
function asTable(matrix: Matrix): HTMLElement {
  const cell = (value: number, label: number, answer: number) => {
    const strength = Math.round(100 * Math.sqrt(shareOf(matrix, label, answer)));
    return h("td", { class: value === 0 ? "none" : label === answer ? "right" : "wrong", title: sentence(matrix, label, answer), style: { "--strength": String(strength) } }, value === 0 ? "·" : count(value));
  };
  return h("div", { class: "table-box", role: "region", tabindex: 0, "aria-label": "Confusion matrix" },
    h("table", { class: "matrix" },
      h("caption", { class: "hidden" }, "Rows: the class of the samples. Columns: the answer."),
      h("thead", {}, h("tr", {}, h("td", {}), matrix.names.map((name, i) => h("th", { scope: "col", title: name }, String(i))))),
      h("tbody", {}, matrix.cells.map((row, label) => h("tr", {},
        h("th", { scope: "row" }, isNumber(matrix, label) ? String(label) : [h("small", {}, String(label)), " ", matrix.names[label]]),
        row.map((value, answer) => cell(value, label, answer)))))));
}

class Picture {
  private readonly canvas = h("canvas", {}) as HTMLCanvasElement;
  private readonly reading = h("p", { class: "reading", role: "status" });
  private readonly box: HTMLElement;
  readonly element: HTMLElement;
  private at: [number, number] | null = null;
  private size = 0; // pixels of a cell

  constructor(private readonly matrix: Matrix) {
    this.box = h("div", { class: "matrix-picture", role: "img", tabindex: 0,
      "aria-label": `Confusion matrix of ${matrix.names.length} classes. Rows are the class of the samples, columns the answer. Arrow keys read its cells.` }, this.canvas);
    this.element = h("div", {}, this.box, this.reading);
    this.read();
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.box.addEventListener("pointermove", (event) => this.onPointer(event));
    this.box.addEventListener("pointerdown", (event) => this.onPointer(event));
    this.box.addEventListener("pointerleave", () => this.move(null));
    this.box.addEventListener("keydown", (event) => this.onKey(event));
  }

  draw() {
    const classes = this.matrix.names.length;
    const room = Math.min(widest, this.element.clientWidth);
    if (room === 0) return; // not on the page yet, or folded away; the observer calls again
    this.size = Math.max(1, room / classes);
    const scale = globalThis.devicePixelRatio || 1;
    this.canvas.width = this.canvas.height = Math.round(room * scale);
    this.canvas.style.width = this.canvas.style.height = `${room}px`;
    const pen = this.canvas.getContext("2d")!;
    pen.scale(scale, scale);
    pen.fillStyle = color("grid");
    pen.fillRect(0, 0, room, room);
    const [right, wrong] = [color("c1"), color("c2")];
    this.matrix.cells.forEach((row, label) => row.forEach((value, answer) => {
      if (value === 0) return;
      pen.globalAlpha = 0.15 + 0.85 * Math.sqrt(shareOf(this.matrix, label, answer));
      pen.fillStyle = label === answer ? right : wrong;
      pen.fillRect(answer * this.size, label * this.size, this.size, this.size);
    }));
    pen.globalAlpha = 1;
    if (!this.at) return;
    const [label, answer] = this.at;
    pen.strokeStyle = color("text");
    pen.lineWidth = 1.5;
    pen.strokeRect(answer * this.size, label * this.size, this.size, this.size);
  }

  private read() {
    this.reading.textContent = this.at ? sentence(this.matrix, ...this.at) : "Rows: the class of the samples; columns: the answer, in the same order. Blue: right, orange: confused. Point at a cell to read it.";
  }

  private move(to: [number, number] | null) {
    this.at = to;
    this.read();
    this.draw();
  }

  private onPointer(event: PointerEvent) {
    const box = this.canvas.getBoundingClientRect();
    const last = this.matrix.names.length - 1;
    const inside = (value: number) => Math.min(last, Math.max(0, Math.floor(value / this.size)));
    this.move([inside(event.clientY - box.top), inside(event.clientX - box.left)]);
  }

  private onKey(event: KeyboardEvent) {
    const steps: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const last = this.matrix.names.length - 1;
    const [label, answer] = this.at ?? [0, 0];
    this.move(this.at ? [Math.min(last, Math.max(0, label + step[0])), Math.min(last, Math.max(0, answer + step[1]))] : [0, 0]);
  }
}

const pictures = new Map<string, Picture>();
onThemeChange(() => pictures.forEach((picture) => picture.draw()));

// Null: there is none, or too many classes for one.
export function confusionMatrix(key: string, evaluation: Evaluation): Child {
  const matrix = matrixOf(evaluation);
  if (!matrix || !matrix.sums.some((sum) => known(sum) && sum > 0)) return null;
  if (matrix.names.length <= mostInTable)
    return h("div", {}, h("h3", {}, "Confusion matrix"), h("p", { class: "hint" }, "Rows: the class of the samples; columns: the answer."), asTable(matrix));
  const picture = new Picture(matrix);
  pictures.set(key, picture);
  return h("div", {}, h("h3", {}, "Confusion matrix"), picture.element);
}
