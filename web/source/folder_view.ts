// SPDX-License-Identifier: Apache-2.0
// The page of a folder of runs: curves of the chosen ones over each other, and the list.
import { chart, joined, type Line } from "./chart";
import { hasValues, known, type FolderDocument, type FolderEntry, type Values } from "./document";
import { h, table, type Child } from "./dom";
import { accuracy, count, dateAndTime, duration, number, percent, plural } from "./format";

const mostLines = 8;
const chosenAtFirst = 4;
const looks: Record<string, string> = { running: "live", finished: "good", stopped: "warn", failed: "bad", killed: "bad" };
const outcomes = ["running", "finished", "stopped", "failed", "killed"];

const hasCurve = (entry: FolderEntry) => hasValues(entry.curve?.["loss"]) || hasValues(entry.curve?.["training_loss"]);
const addressOf = (entry: FolderEntry) => `?run=${encodeURIComponent(entry.name)}`;

function matches(entry: FolderEntry, words: string, outcome: string): boolean {
  if (outcome && entry.outcome !== outcome) return false;
  const text = [entry.name, entry.job, entry.model, entry.data, entry.strategy, entry.host, entry.note].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function bestOf(entry: FolderEntry): string {
  if (!known(entry.best_epoch)) return "–";
  return `${known(entry.best_accuracy) ? accuracy(entry.best_accuracy) : number(entry.best_loss)} (${count(entry.best_epoch)})`;
}

const nodesOf = (entry: FolderEntry) =>
  !entry.strategy || entry.strategy === "local" ? entry.strategy ?? "–" : `${entry.strategy}, ${known(entry.workers) ? plural(entry.workers, "node") : "–"}`;

export class FolderView {
  readonly element: HTMLElement;
  private entries: FolderEntry[] = [];
  private folder = "";
  private readonly colors = new Map<string, string>(); // of the chosen ones; a colour stays with its run
  private hasChosen = false;
  private readonly boxes = new Map<string, HTMLInputElement>();
  private readonly title = h("h1", {});
  private readonly subtitle = h("p", { class: "subtitle" });
  private readonly curves = h("div", { class: "body" });
  private readonly list = h("div", { class: "body" });
  private readonly found = h("p", { class: "hint", role: "status" });
  private readonly words = h("input", { type: "search", id: "words", input: () => this.draw() }) as HTMLInputElement;
  private readonly outcome = h("select", { id: "outcome", change: () => this.draw() },
    h("option", { value: "" }, "any"), outcomes.map((name) => h("option", { value: name }, name))) as HTMLSelectElement;

  constructor() {
    const section = (id: string, title: string, ...content: Child[]) =>
      h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), content);
    this.element = h("div", { class: "run" },
      h("header", { class: "head" }, h("div", { class: "title" }, this.title), this.subtitle),
      section("learning", "Learning", this.curves),
      section("runs", "Runs",
        h("div", { class: "filters" },
          h("span", {}, h("label", { for: "words" }, "Find "), this.words), h("span", {}, h("label", { for: "outcome" }, "Outcome "), this.outcome), this.found),
        this.list));
  }

  show(document: FolderDocument) {
    this.entries = document.entries ?? [];
    this.folder = document.folder ?? "";
    for (const name of [...this.colors.keys()]) if (!this.entries.some((entry) => entry.name === name)) this.colors.delete(name);
    if (!this.hasChosen)
      for (const entry of this.entries.filter(hasCurve).slice(0, chosenAtFirst)) this.choose(entry.name);
    this.hasChosen ||= this.colors.size > 0;
    this.draw();
  }

  private choose(name: string) {
    const used = new Set(this.colors.values());
    for (let i = 1; i <= mostLines; ++i) if (!used.has(`c${i}`)) return this.colors.set(name, `c${i}`);
    return undefined;
  }

  private draw() {
    const live = this.entries.filter((entry) => entry.outcome === "running").length;
    this.title.textContent = plural(this.entries.length, "run");
    this.subtitle.textContent = [this.folder, live > 0 ? `${count(live)} running` : ""].filter(Boolean).join(" · ");
    this.curves.replaceChildren(...h("div", {}, this.overlays()).childNodes);
    const shown = this.entries.filter((entry) => matches(entry, this.words.value, this.outcome.value));
    this.found.textContent = shown.length === this.entries.length ? "" : `${count(shown.length)} of ${plural(this.entries.length, "run")}`;
    const focused = globalThis.document.activeElement;
    this.list.replaceChildren(...h("div", {}, this.listOf(shown)).childNodes);
    if (focused instanceof HTMLElement && focused !== globalThis.document.activeElement && focused.isConnected) focused.focus();
  }

  private boxOf(entry: FolderEntry): HTMLInputElement {
    let box = this.boxes.get(entry.name);
    if (!box) {
      box = h("input", { type: "checkbox", "aria-label": `Curves of ${entry.name}`, change: () => this.toggle(entry.name) }) as HTMLInputElement;
      this.boxes.set(entry.name, box);
    }
    const color = this.colors.get(entry.name);
    box.checked = color !== undefined;
    box.disabled = !hasCurve(entry) || (!color && this.colors.size >= mostLines);
    box.style.setProperty("accent-color", color ? `var(--${color})` : "");
    return box;
  }

  private toggle(name: string) {
    if (!this.colors.delete(name)) this.choose(name);
    this.hasChosen = true;
    this.draw();
  }

  private listOf(shown: FolderEntry[]): Child {
    if (this.entries.length === 0) return h("p", { class: "missing" }, "There is no run yet. trireme train makes one; it will appear here.");
    if (shown.length === 0) return h("p", { class: "missing" }, "No run matches.");
    return h("div", { class: "card" }, table("Runs", [
      { title: "Run", key: true, cell: (run: FolderEntry) => [
        h("span", { class: "choice" }, this.boxOf(run), h("a", { href: addressOf(run) }, run.name)), run.note ? h("small", { class: "note" }, run.note) : null] },
      { title: "Outcome", cell: (run) => h("span", { class: `pill small ${looks[run.outcome ?? ""] ?? ""}` }, run.outcome ?? "–") },
      { title: "Began", cell: (run) => h("span", {}, dateAndTime(run.started).slice(0, 16).split(" ").map((part) => [h("span", { class: "whole" }, part), " "])) },
      { title: "Model, data", cell: (run) => h("span", {}, run.model || "–", " ", h("small", { class: "whole" }, run.data ?? "")) },
      { title: "Strategy", cell: nodesOf },
      { title: "Epochs", numeric: true, cell: (run) => `${count(run.epochs_done)}/${count(run.epochs)}` },
      { title: "Time", numeric: true, cell: (run) => duration(run.seconds) },
      { title: "Loss", numeric: true, cell: (run) => number(run.loss) },
      { title: "Accuracy", numeric: true, cell: (run) => accuracy(run.accuracy) },
      { title: "Best (epoch)", numeric: true, cell: bestOf },
    ], shown), this.colors.size >= mostLines ? h("p", { class: "hint" }, `At most ${mostLines} runs have their curves shown.`) : null);
  }

  private overlays(): Child {
    const chosen = this.entries.filter((entry) => this.colors.has(entry.name));
    const charts = [this.overlay(chosen, "accuracy", "Accuracy on held-out samples", percent), this.overlay(chosen, "loss", "Loss on held-out samples", number),
      this.overlay(chosen, "training_loss", "Training loss", number)].filter(Boolean);
    if (charts.length > 0) return h("div", { class: "charts three" }, charts);
    return h("p", { class: "missing" }, this.entries.some(hasCurve) ? "Choose runs in the list below to see their curves." : "Curves begin with a run's first epoch.");
  }

  // By epochs, so that runs of unlike speed are compared at the same amount of learning.
  private overlay(chosen: FolderEntry[], name: string, title: string, format: typeof number): Child {
    const usable = chosen.filter((entry) => hasValues(entry.curve?.[name]));
    if (usable.length === 0) return null;
    const [x, ...columns] = joined(usable.map((entry) => [entry.curve!["epoch"] ?? [], entry.curve![name]!] as [Values, Values]));
    const lines: Line[] = usable.map((entry, i) => ({ label: entry.name, values: columns[i] ?? [], color: this.colors.get(entry.name)!, points: (x?.length ?? 0) < 40 }));
    return chart({ key: `folder-${name}`, title, note: "by epochs", x: x ?? [], xAxis: "number", xText: (value) => (Number.isInteger(value) ? String(value) : ""), lines, format });
  }
}
