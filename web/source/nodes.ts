// SPDX-License-Identifier: Apache-2.0
// The nodes: what each does, how fast, and what it uses; parameter servers and staleness with them.
import { chart } from "./chart";
import { missing, since, type Context, type Section } from "./context";
import { hasValues, known, last, type Node, type Server, type Values } from "./document";
import { h, table, type Child } from "./dom";
import { bytes, bytesPerSecond, capitalized, count, number, percent, perSecond, plural, seconds } from "./format";

const mostLines = 8;
const stateLooks: Record<string, string> = { training: "live", lost: "bad", ended: "" };

const rate = (node: Node, name: string) => {
  const value = last(node.series?.[name]);
  return known(value) ? bytesPerSecond(value) : "–";
};

// `now` while it trains; of a run that is over the totals.
function columns(running: boolean) {
  return [
    { title: "Node", key: true, cell: (node: Node) => [`${node.node ?? "?"}`, h("small", {}, node.host ?? "")] },
    { title: "State", cell: (node: Node) => h("span", { class: `pill small ${stateLooks[node.state ?? ""] ?? ""}` }, capitalized(node.state ?? "unknown")) },
    { title: "Duty", cell: (node: Node) => node.duty ?? "–" },
    { title: "Share", numeric: true, cell: (node: Node) => percent(node.share) },
    { title: "Steps", numeric: true, cell: (node: Node) => count(node.steps) },
    { title: "Samples/s", numeric: true, cell: (node: Node) => number(node.samples_per_second) },
    { title: "CPU", numeric: true, cell: (node: Node) => (known(node.cores_used) ? `${number(node.cores_used)} cores` : "–") },
    { title: "Memory", numeric: true, cell: (node: Node) => h("span", { title: known(node.memory_max_bytes) ? `at most ${bytes(node.memory_max_bytes)}` : null }, bytes(node.memory_bytes)) },
    { title: "Sent", numeric: true, cell: (node: Node) => (running ? rate(node, "sent_per_second") : bytes(node.bytes_sent)) },
    { title: "Received", numeric: true, cell: (node: Node) => (running ? rate(node, "received_per_second") : bytes(node.bytes_received)) },
  ];
}

function byNode(context: Context, name: string, title: string, format: (value: number | null | undefined) => string): Child {
  const nodes = (context.document.nodes ?? []).filter((node) => hasValues(node.series?.[name]));
  if (nodes.length === 0) return null;
  const shown = nodes.slice(0, mostLines);
  const times = [...new Set(shown.flatMap((node) => (node.series!["time"] ?? []).filter(known)))].sort((a, b) => a - b);
  const at = (node: Node): Values => {
    const values = new Map((node.series!["time"] ?? []).map((time, i) => [time, node.series![name]![i]]));
    return times.map((time) => values.get(time) ?? null);
  };
  return chart({ key: `${context.prefix}nodes-${name}`, title, x: since(context, times), format, range: [0, null], marks: context.marks,
    note: nodes.length > mostLines ? `the first ${mostLines} of ${nodes.length} nodes` : "",
    lines: shown.map((node, i) => ({ label: `Node ${node.node ?? i}`, values: at(node), color: `c${i + 1}`, dashed: i >= 4 })) });
}

function serverTable(servers: Server[]): Child {
  if (servers.length === 0) return null;
  return h("div", { class: "card" }, h("h3", {}, "Parameter servers"), table("Parameter servers", [
    { title: "Server", key: true, cell: (server: Server) => `${server.server ?? "?"}` },
    { title: "Pushes", numeric: true, cell: (server) => count(server.pushes) },
    { title: "Dropped", numeric: true, cell: (server) => count(server.dropped) },
    { title: "Busy", numeric: true, cell: (server) => percent(server.busy_share) },
    { title: "Held back", numeric: true, cell: (server) => seconds(server.held_seconds) },
    { title: "In", numeric: true, cell: (server) => bytes(server.bytes_in) },
    { title: "Out", numeric: true, cell: (server) => bytes(server.bytes_out) },
  ], servers));
}

function staleness({ document: { staleness } }: Context): Child {
  const counts = (staleness?.histogram ?? []).map((value) => value ?? 0);
  const all = counts.reduce((sum, value) => sum + value, 0);
  if (!staleness || all === 0) return null;
  const most = Math.max(...counts);
  const shown = counts.slice(0, 24);
  const rest = counts.slice(24).reduce((sum, value) => sum + value, 0);
  const column = (label: string, value: number) =>
    h("li", { title: `${label}: ${plural(value, "update")}, ${percent(value / all)}` },
      h("span", { class: "amount" }, value / all >= 0.005 ? percent(value / all) : ""),
      h("span", { class: "column", style: { height: `${Math.max(value > 0 ? 2 : 0, (100 * value) / most)}px` } }),
      h("span", { class: "label" }, label));
  return h("div", { class: "card" }, h("h3", {}, "Staleness of updates"),
    h("p", { class: "hint" }, `How many updates the parameters had seen between a worker's reading them and its gradient's arrival: mean ${number(staleness.mean)}, at most ${count(staleness.max)}.`),
    h("ol", { class: "histogram" }, shown.map((value, i) => column(String(i), value)), rest > 0 ? column("24+", rest) : null));
}

function render(context: Context): Child {
  const { nodes = [], servers = [] } = context.document;
  const extras = [staleness(context), serverTable(servers)].filter(Boolean);
  if (nodes.length === 0 && extras.length === 0)
    return missing(context.running ? "The nodes report once a second; the first reports are on their way." : "This run has no telemetry of its nodes.");
  return [
    nodes.length > 0 ? h("div", { class: "card" }, table("Nodes of the run", columns(context.running), nodes)) : null,
    h("div", { class: "charts" },
      byNode(context, "samples_per_second", "Throughput by node", perSecond),
      byNode(context, "cores_used", "CPU by node, in cores", number),
      byNode(context, "sent_per_second", "Sent by node", bytesPerSecond),
      byNode(context, "memory", "Memory by node", bytes)),
    extras.length > 0 ? h("div", { class: "pair" }, extras) : null,
  ];
}

export const nodes: Section = {
  id: "nodes",
  title: () => "Nodes",
  slice: (document) => [document.nodes, document.servers, document.staleness, document.run?.state],
  render,
};
