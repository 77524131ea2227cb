// SPDX-License-Identifier: Apache-2.0
// What every section of a run's page needs to draw itself.
import type { Child } from "./dom";
import { h } from "./dom";
import { known, type Maybe, type RunDocument, type RunEvent, type Values } from "./document";
import { capitalized } from "./format";
import type { Mark } from "./chart";

export interface Context {
  document: RunDocument;
  prefix: string; // of the keys of this run's charts: a comparison shows several runs
  start: number; // of its time axis
  running: boolean;
  marks: Mark[];
}

// What a kind of event looks like: a colour, and a sign for those who can't distinguish it.
const looks: Record<string, { color: string; sign: string }> = {
  begun: { color: "text-soft", sign: "▶" },
  joined: { color: "c3", sign: "+" },
  lost: { color: "bad", sign: "✕" },
  switch: { color: "c4", sign: "⇄" },
  rollback: { color: "bad", sign: "↺" },
  straggler: { color: "c2", sign: "…" },
  skip: { color: "bad", sign: "∅" },
  disk: { color: "bad", sign: "!" },
  checkpoint: { color: "text-faint", sign: "◆" },
  resume: { color: "c3", sign: "▶" },
  verdict: { color: "c1", sign: "✓" },
  interrupt: { color: "c2", sign: "❚" },
  end: { color: "text-soft", sign: "■" },
};
export const lookOf = (event: RunEvent) => looks[event.kind] ?? { color: "text-soft", sign: "•" };

const marked = new Set(["joined", "lost", "switch", "rollback", "resume", "interrupt", "disk"]);

export function contextOf(document: RunDocument, prefix = ""): Context {
  const times = [document.run?.started, document.curves?.steps?.["time"]?.[0], document.events?.[0]?.time, document.cluster?.series?.["time"]?.[0]];
  const start = times.find(known) ?? 0;
  const marks = (document.events ?? [])
    .filter((event) => marked.has(event.kind) && known(event.time) && event.step !== 0) // who was there from the beginning is no change
    .slice(-60)
    .map((event) => ({ at: event.time! - start, title: capitalized(event.title ?? event.kind), color: lookOf(event).color }));
  return { document, prefix, start, running: document.run?.state === "running", marks };
}

export const since = (context: Context, time: Values | undefined): Values => (time ?? []).map((value) => (known(value) ? value - context.start : null));
export const sinceStart = (context: Context, time: Maybe): Maybe => (known(time) ? time - context.start : null);

export const missing = (text: string): HTMLElement => h("p", { class: "missing" }, text);

export interface Section {
  id: string;
  title: (context: Context) => string;
  slice: (document: RunDocument) => unknown; // the section is drawn again when this changes
  render: (context: Context) => Child; // null: there is nothing to show, and nothing is said about it
}
