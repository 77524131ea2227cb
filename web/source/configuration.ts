// SPDX-License-Identifier: Apache-2.0
// Every setting of the run and where it came from.
import type { Context, Section } from "./context";
import type { ConfigRow } from "./document";
import { foldable, h, table, type Child } from "./dom";
import { dateAndTime, plural } from "./format";

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value) ?? "");

function facts({ document: { run = {} } }: Context): Child {
  const rows: [string, string | undefined][] = [
    ["Directory", run.directory], ["Job", run.job], ["Plan", run.plan], ["Machine of the coordinator", run.host],
    ["Began", dateAndTime(run.started)], ["Ended", run.ended ? dateAndTime(run.ended) : undefined], ["Trireme", run.trireme],
  ];
  return h("dl", { class: "facts" }, rows.filter(([, value]) => value && value !== "–").map(([name, value]) => [h("dt", {}, name), h("dd", {}, value!)]));
}

function render(context: Context): Child {
  const rows = context.document.run?.config ?? [];
  return h("div", { class: "card" }, facts(context),
    rows.length > 0
      ? foldable(`${context.prefix}config`, plural(rows.length, "setting"), () => table("Settings", [
          { title: "Setting", key: true, cell: (row: ConfigRow) => h("code", {}, row.key) },
          { title: "Value", cell: (row) => h("code", {}, textOf(row.value)) },
          { title: "From", cell: (row) => row.origin ?? "" },
        ], rows), rows.length <= 40)
      : null);
}

export const configuration: Section = { id: "configuration", title: () => "Configuration", slice: (document) => document.run, render };
