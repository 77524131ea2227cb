// SPDX-License-Identifier: Apache-2.0
// Everything that happened to the run, on one line of time and as a list.
import { lookOf, missing, sinceStart, type Context, type Section } from "./context";
import { known, last, type RunEvent } from "./document";
import { foldable, h, type Child } from "./dom";
import { capitalized, count, elapsed, plural, timeOfDay } from "./format";

const shownAtFirst = 12;

function endOf(context: Context): number {
  const { run, curves, events = [], cluster } = context.document;
  const times = [run?.ended, last(curves?.steps?.["time"]), last(cluster?.series?.["time"]), ...events.map((event) => event.time)].filter(known);
  return Math.max(1e-3, ...times.map((time) => time - context.start));
}

function line(context: Context, events: RunEvent[]): HTMLElement {
  const end = endOf(context);
  return h("div", { class: "timeline", "aria-hidden": "true" },
    h("div", { class: "rail" }),
    events.map((event) => {
      const at = sinceStart(context, event.time);
      if (!known(at)) return null;
      const look = lookOf(event);
      return h("span", { class: `event ${event.kind}`, title: `${elapsed(Math.floor(at))}  ${event.title ?? event.kind}${event.detail ? `: ${event.detail}` : ""}`,
        style: { left: `${Math.min(100, Math.max(0, (100 * at) / end))}%`, "--color": `var(--${look.color})` } }, event.kind === "checkpoint" ? "" : look.sign);
    }),
    h("span", { class: "from" }, "0:00"), h("span", { class: "to" }, elapsed(Math.floor(end))));
}

function entry(context: Context, event: RunEvent): HTMLElement {
  const look = lookOf(event);
  const at = sinceStart(context, event.time);
  return h("li", {},
    h("span", { class: "sign", "aria-hidden": "true", style: { "--color": `var(--${look.color})` } }, look.sign),
    h("time", { title: timeOfDay(event.time) }, known(at) ? elapsed(Math.floor(at)) : "–"),
    h("span", {}, h("b", {}, capitalized(event.title ?? event.kind)), event.detail ? ` ${event.detail}` : "", known(event.step) ? h("small", {}, ` step ${count(event.step)}`) : null));
}

function render(context: Context): Child {
  const events = context.document.events ?? [];
  if (events.length === 0) return missing(context.running ? "Nothing has happened yet: no checkpoint, no node joined or left." : "This run recorded no events.");
  const checkpoints = events.filter((event) => event.kind === "checkpoint");
  // A long run has hundreds of checkpoints; they would hide what matters.
  const told = checkpoints.length > 6 ? events.filter((event) => event.kind !== "checkpoint") : events;
  const list = (some: RunEvent[]) => h("ol", { class: "events" }, some.map((event) => entry(context, event)));
  const newest = told.slice(-shownAtFirst).reverse();
  const older = told.slice(0, -shownAtFirst).reverse();
  return h("div", { class: "card" }, line(context, events.slice(-400)), list(newest),
    older.length > 0 ? foldable(`${context.prefix}older`, plural(older.length, "earlier event"), () => list(older)) : null,
    told !== events ? foldable(`${context.prefix}checkpoints`, plural(checkpoints.length, "checkpoint"), () => list(checkpoints.slice(-200).reverse())) : null);
}

export const timeline: Section = {
  id: "events",
  title: () => "What happened",
  slice: (document) => [document.events, document.run?.ended, document.run?.state === "running" ? last(document.curves?.steps?.["time"]) : 0],
  render,
};
