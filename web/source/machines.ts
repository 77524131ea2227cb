// SPDX-License-Identifier: Apache-2.0
// CPU, memory, network and disk of every machine, and of all together.
import { chart, type Line } from "./chart";
import { missing, since, type Context, type Section } from "./context";
import { hasValues, known, type Extent, type Machine } from "./document";
import { foldable, h, type Child } from "./dom";
import { bytes, bytesPerSecond, number, percent, plural, type Format } from "./format";

const openAtFirst = 2;

function span(extent: Extent | undefined, format: Format, of = ""): string {
  if (!extent || !known(extent.mean)) return "";
  return `${of}mean ${format(extent.mean)}, ${format(extent.min)} to ${format(extent.max)}`;
}

function lines(machine: Machine, wanted: [name: string, label: string, color: string][]): Line[] {
  return wanted.filter(([name]) => hasValues(machine.series?.[name])).map(([name, label, color]) => ({ label, color, values: machine.series![name]! }));
}

const isBusy = (machine: Machine, names: string[]) => names.some((name) => machine.series?.[name]?.some((value) => known(value) && value > 0));

function charts(context: Context, machine: Machine, key: string): Child {
  const x = since(context, machine.series?.["time"]);
  const one = (name: string, title: string, format: Format, wanted: [string, string, string][], more: object = {}, summary = name) => {
    const found = lines(machine, wanted);
    return found.length === 0 ? null
      : chart({ key: `${context.prefix}${key}-${name}`, title, note: span(machine.summary?.[summary], format, summary === "network_out" ? "out: " : ""), x, lines: found, format, range: [0, null], marks: context.marks, ...more });
  };
  return h("div", { class: "charts" },
    one("cpu", "CPU", percent, [["cpu_user", "User", "c1"], ["cpu_system", "System", "c2"], ["cpu_wait", "Waiting for disk", "c5"]], { stacked: true, range: [0, 1] }),
    one("memory", "Memory", bytes, [["memory", "Used", "c4"]], known(machine.memory_total_bytes) ? { range: [0, machine.memory_total_bytes] } : {}),
    one("network", "Network", bytesPerSecond, [["network_in", "In", "c1"], ["network_out", "Out", "c2"], ...(isBusy(machine, ["loopback"]) ? [["loopback", "Within the machine", "c5"] as [string, string, string]] : [])], {}, "network_out"),
    isBusy(machine, ["disk_read", "disk_write"]) ? one("disk", "Disk", bytesPerSecond, [["disk_read", "Read", "c1"], ["disk_write", "Written", "c2"]]) : null,
    one("temperature", "Temperature", (value) => (known(value) ? `${number(value)} °C` : "–"), [["temperature", "Hottest", "c2"]], { range: [null, null] }),
    one("frequency", "Frequency", (value) => (known(value) ? `${number(value)} MHz` : "–"), [["frequency", "Mean of the cores", "c3"]], { range: [null, null] }),
    one("power", "Power", (value) => (known(value) ? `${number(value)} W` : "–"), [["power", "Packages", "c6"]]));
}

function facts(machine: Machine): string {
  const { baseline } = machine;
  return [
    known(machine.cores) ? plural(machine.cores, "core") : null,
    known(machine.memory_total_bytes) ? `${bytes(machine.memory_total_bytes)} of memory` : null,
    baseline && known(baseline["cpu"]) ? `before the training: CPU ${percent(baseline["cpu"])}${known(baseline["memory"]) ? `, memory ${bytes(baseline["memory"])}` : ""}` : null,
  ].filter(Boolean).join(" · ");
}

function render(context: Context): Child {
  const machines = (context.document.machines ?? []).filter((machine) => hasValues(machine.series?.["time"]));
  if (machines.length === 0)
    return missing(context.running ? "The machines are measured once a second; the first values are on their way." : "This run has no telemetry of its machines.");
  const heading = (title: string, machine: Machine) => h("span", { class: "machine" }, h("b", {}, title), h("small", {}, facts(machine)));
  const all = context.document.cluster;
  const showsAll = machines.length > 1 && !!all && hasValues(all.series?.["time"]);
  return [
    showsAll ? foldable(`${context.prefix}cluster`, heading(`All ${machines.length} machines`, all), () => charts(context, all, "cluster"), true) : null,
    machines.map((machine, i) =>
      foldable(`${context.prefix}machine-${i}`, heading(machine.host ?? `machine ${i}`, machine), () => charts(context, machine, `machine-${i}`),
        machines.length <= openAtFirst)),
  ];
}

export const machines: Section = {
  id: "machines",
  title: () => "Machines",
  slice: (document) => [document.machines, document.cluster, document.run?.state],
  render,
};
