// SPDX-License-Identifier: Apache-2.0
// Elements from functions. Texts become text nodes, never markup, so a run's name can't be code.

export type Child = globalThis.Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void) | Record<string, string>>;

function append(parent: Element, children: Child[]) {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof globalThis.Node) parent.append(child);
    else if (child !== null && child !== undefined && child !== false) parent.append(String(child));
  }
}

export function h(tag: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (typeof value === "object") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export interface Column<Row> { title: string; cell: (row: Row) => Child; numeric?: boolean; key?: boolean }

// On a narrow screen each row becomes a card, and a cell shows its column's title.
export function table<Row>(caption: string, columns: Column<Row>[], rows: Row[]): HTMLElement {
  const kind = (column: Column<Row>) => (column.numeric ? "number" : null);
  return h("div", { class: "table-box" },
    h("table", { class: "data" },
      h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col", class: kind(column) }, column.title)))),
      h("tbody", {}, rows.map((row) =>
        h("tr", {}, columns.map((column) =>
          h(column.key ? "th" : "td", { scope: column.key ? "row" : null, class: kind(column), "data-title": column.title }, column.cell(row))))))));
}

// A <details> that stays as the reader left it when the page is drawn again.
const opened = new Map<string, boolean>();
export function foldable(key: string, summary: Child, content: () => Child, open = false): HTMLElement {
  const isOpen = opened.get(key) ?? open;
  const details = h("details", { open: isOpen }, h("summary", {}, summary));
  let filled = false;
  const fill = () => {
    if (!filled) append(details, [content()]);
    filled = true;
  };
  if (isOpen) fill();
  details.addEventListener("toggle", () => {
    opened.set(key, (details as HTMLDetailsElement).open);
    if ((details as HTMLDetailsElement).open) fill();
  });
  return details;
}
