// SPDX-License-Identifier: Apache-2.0
// The page that `trireme errors` writes: scores, and the most confident mistakes.
import { contextOf } from "./context";
import { known, type ErrorsDocument } from "./document";
import { h, type Child } from "./dom";
import { scores } from "./learned";
import { mistakeList } from "./samples";

export function errorsView(document: ErrorsDocument): HTMLElement {
  const context = contextOf({ evaluation: document.evaluation, mistakes: document.mistakes });
  const section = (id: string, title: string, content: Child) =>
    h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), h("div", { class: "body" }, content));
  const classifies = known(document.mistakes?.wrong);
  return h("div", { class: "run" },
    h("header", { class: "head" }, h("div", { class: "title" }, h("h1", {}, `Errors of ${document.errors_of}`)),
      h("p", { class: "subtitle" }, [document.data, document.directory].filter(Boolean).join(" · "))),
    document.mistakes ? section("mistakes", classifies ? "Most confident mistakes" : "Largest errors", mistakeList(context, document.mistakes)) : null,
    document.evaluation ? section("learned", "Scores", scores(context, document.evaluation)) : null);
}
