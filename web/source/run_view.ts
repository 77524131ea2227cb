// SPDX-License-Identifier: Apache-2.0
// The page of one run: its sections in order, each drawn again only when its own part of the document changed.
import { anatomy } from "./anatomy";
import { configuration } from "./configuration";
import { contextOf, type Section } from "./context";
import type { RunDocument } from "./document";
import { h, type Child } from "./dom";
import { header } from "./header";
import { learned } from "./learned";
import { learning } from "./learning";
import { limit, warnings } from "./limit";
import { machines } from "./machines";
import { nodes } from "./nodes";
import { ops } from "./ops";
import { examples, mistakes } from "./samples";
import { timeline } from "./timeline";

const sections: Section[] = [warnings, limit, learning, learned, mistakes, examples, anatomy, timeline, nodes, machines, ops, configuration];

interface Place { section: Section; element: HTMLElement; heading: HTMLElement; body: HTMLElement; seen: string | null }

export class RunView {
  readonly element: HTMLElement;
  private readonly head = h("header", { class: "head" });
  private readonly links = h("nav", { class: "links", "aria-label": "Sections" });
  private readonly places: Place[];
  private seenHead = "";

  constructor(private readonly prefix = "") {
    this.places = sections.map((section) => {
      const id = `${prefix}${section.id}`;
      const heading = h("h2", { id: `${id}-title` });
      const body = h("div", { class: "body" });
      return { section, heading, body, seen: null, element: h("section", { id, "aria-labelledby": `${id}-title` }, heading, body) };
    });
    this.element = h("div", { class: "run" }, this.head, prefix ? null : this.links, this.places.map((place) => place.element));
  }

  show(document: RunDocument) {
    const context = contextOf(document, this.prefix);
    const headSlice = JSON.stringify([document.run, document.progress, document.result, document.curves?.epochs]);
    if (headSlice !== this.seenHead) fill(this.head, header(context));
    this.seenHead = headSlice;
    for (const place of this.places) {
      const slice = JSON.stringify(place.section.slice(document)) ?? "";
      if (slice === place.seen) continue;
      place.seen = slice;
      const content = place.section.render(context);
      place.element.hidden = !content;
      place.heading.textContent = place.section.title(context);
      fill(place.body, content);
    }
    const shown = this.places.filter((place) => !place.element.hidden);
    fill(this.links, shown.map((place) => h("a", { href: `#${place.element.id}` }, place.heading.textContent)));
  }
}

function fill(parent: HTMLElement, content: Child) {
  parent.replaceChildren(...h("div", {}, content).childNodes);
}
