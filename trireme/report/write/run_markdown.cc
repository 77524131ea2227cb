// SPDX-License-Identifier: Apache-2.0
// Writes the report of one run as Markdown.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "trireme/report/compare/factors.h"
#include "trireme/report/document/words.h"
#include "trireme/report/write/learned_markdown.h"
#include "trireme/report/write/markdown.h"

namespace trireme::report {
namespace {

constexpr std::size_t kMaxOps = 25;
constexpr std::size_t kMaxEvents = 60;
constexpr std::size_t kMaxEpochs = 40;
constexpr std::size_t kCurveWidth = 60;

std::string time_text(double time) {
  if (!std::isfinite(time)) return "–";
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(time)));
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : fmt::format("## {}\n\n{}\n", title, body);
}

std::string share(double value) { return fixed(value, 4); }

std::string head(const RunDocument& d) {
  const RunFacts& run = d.run;
  std::string text = fmt::format("# {}\n\n{} on {}, {} parameters, {}, {} {}, batch {}, seed {}: **{}**.\n", run.name, run.model, run.data,
                                 plain(run.parameters), strategy_title(d), plain(run.workers), run.workers == 1 ? "worker" : "nodes",
                                 plain(run.batch_size), plain(run.seed), run.state);
  text += fmt::format("Begun {}{}, Trireme {}, on {}.\n\n", time_text(run.started),
                      std::isfinite(run.ended) ? ", ended " + time_text(run.ended) : "", run.trireme, run.host);
  for (const std::string& warning : d.warnings) text += fmt::format("- **warning** {}\n", warning);
  return text + (d.warnings.empty() ? "" : "\n");
}

std::string results(const RunDocument& d) {
  const Result& r = d.result;
  Table table{.columns = {"", "accuracy (share)", "loss"}};
  table.rows.push_back({"training, last epoch", share(r.training_accuracy), share(r.training_loss)});
  if (!r.measured_on.empty())
    table.rows.push_back(
        {fmt::format("{}{}", r.measured_on, std::isfinite(r.measured_samples) ? ", " + plain(r.measured_samples) + " samples" : ""),
         share(r.accuracy), share(r.loss)});
  std::string text = markdown_table(table) + "\n";
  text += fmt::format("Epoch {} of {}, step {}, {} of {} samples.", plain(d.progress.epoch), plain(d.progress.epochs),
                      plain(d.progress.step), plain(d.progress.samples_seen), plain(d.progress.samples_total));
  text += fmt::format(" {} from the first step to the end of the last epoch, of it {} in steps", duration(r.seconds),
                      duration(r.training_seconds));
  if (std::isfinite(r.switch_seconds)) text += fmt::format(" and {} in switches", duration(r.switch_seconds));
  text += fmt::format("; {:.0f} samples/s; {:.0f} updates an epoch.", d.progress.samples_seen / r.training_seconds, r.updates_per_epoch);
  if (r.penalty > 0) text += fmt::format(" The L2 penalty, not part of the losses, was {:.4g} at the end.", r.penalty);
  if (d.progress.skipped_steps > 0)
    text += fmt::format(" Steps skipped, since a loss or a gradient was not finite: {}.", plain(d.progress.skipped_steps));
  if (d.run.state == "running") text += fmt::format(" About {} left.", duration(d.progress.seconds_left));
  return text + "\n";
}

std::string limits(const RunDocument& d) {
  std::string text = d.limit.sentence + "\n";
  if (!d.predictions.empty()) text += "\nBy the model of a step, calibrated with this run:\n\n";
  for (const Prediction& prediction : d.predictions) text += fmt::format("- {}\n", prediction.sentence);
  if (!d.traffic) return text;
  return text + fmt::format("\nTraffic of a step: {} measured, {} by the model ({}), ratio {}.\n",
                            bytes(d.traffic->measured_bytes_per_step), bytes(d.traffic->model_bytes_per_step), d.traffic->model,
                            fixed(d.traffic->ratio, 3));
}

std::string anatomy(const RunDocument& d) {
  if (d.anatomy.parts.empty()) return "";
  Table table{.columns = {"part", "mean (ms)", "share (%)", "spread (ms)"}};
  const auto row = [](const AnatomyPart& part, const std::string& prefix) {
    return std::vector<std::string>{prefix + part.name, fixed(1e3 * part.seconds, 3), fixed(100 * part.share, 1),
                                    fixed(1e3 * part.spread, 3)};
  };
  for (const AnatomyPart& part : d.anatomy.parts) table.rows.push_back(row(part, ""));
  table.rows.push_back({"step", fixed(1e3 * d.anatomy.step_seconds, 3), "100.0", ""});
  for (const AnatomyPart& part : d.anatomy.beside) table.rows.push_back(row(part, "beside it: "));
  return markdown_table(table) + fmt::format(
                                     "\nMeans of {} steps of {}, the first one left out; spread is the standard deviation. What "
                                     "is beside a step happens at "
                                     "the same time on other threads.\n",
                                     plain(d.anatomy.steps), d.nodes.empty() ? "the first worker" : "all workers");
}

std::string extent(const MachineFacts& machine, const char* name, double unit, int digits) {
  const Extent* e = find(machine.summary, name);
  if (e == nullptr) return "–";
  return fmt::format("{} / {} / {}", fixed(e->min / unit, digits), fixed(e->mean / unit, digits), fixed(e->max / unit, digits));
}

std::string resources(const RunDocument& d) {
  if (d.machines.empty()) return "";
  Table table{
      .columns = {"machine", "cores", "CPU (%)", "memory (GB)", "network in (MB/s)", "network out (MB/s)", "loopback (MB/s)", "load"}};
  const auto add = [&](const std::string& name, const MachineFacts& m) {
    table.rows.push_back({name, plain(m.cores), extent(m, "cpu", 0.01, 1), extent(m, "memory", 1e9, 2), extent(m, "network_in", 1e6, 2),
                          extent(m, "network_out", 1e6, 2), extent(m, "loopback", 1e6, 2), extent(m, "load", 1, 2)});
  };
  for (const MachineFacts& machine : d.machines) add(machine.host, machine);
  if (d.machines.size() > 1) add("all", d.cluster);
  std::string text = markdown_table(table) + "\nMin / mean / max from the first step's beginning to the last step's end.";
  if (d.is_above_baseline) text += " What the idle machines used before is subtracted.";
  if (!d.is_above_baseline && d.cluster.baseline)
    text += fmt::format(" Before the training the machines used {} of their CPU and {} of memory; --subtract-baseline takes that off.",
                        percent(d.cluster.baseline->cpu), bytes(d.cluster.baseline->memory));
  return text + "\n";
}

std::string nodes(const RunDocument& d) {
  if (d.nodes.empty()) return "";
  Table table{.columns = {"node", "machine", "duty", "state", "share (%)", "steps", "samples/s", "cores used", "memory, most", "sent",
                          "received", "step (ms)", "exposed exchange (%)"}};
  for (const NodeFacts& n : d.nodes)
    table.rows.push_back({n.node, n.host, n.duty, n.state, fixed(100 * n.share, 1), plain(n.steps), fixed(n.samples_per_second, 0),
                          fixed(n.cores_used, 2), bytes(n.memory_max_bytes), bytes(n.bytes_sent), bytes(n.bytes_received),
                          fixed(1e3 * n.anatomy.step_seconds, 2), fixed(100 * n.anatomy.share("exposed"), 1)});
  return markdown_table(table);
}

std::string servers(const RunDocument& d) {
  if (d.servers.empty()) return "";
  Table table{.columns = {"server", "pushes", "dropped", "busy (%)", "held answers (s)", "in", "out"}};
  for (const ServerFacts& s : d.servers)
    table.rows.push_back({plain(s.server), plain(s.pushes), plain(s.dropped), fixed(100 * s.busy_share, 1), fixed(s.held_seconds, 2),
                          bytes(s.bytes_in), bytes(s.bytes_out)});
  std::string text = markdown_table(table);
  if (d.staleness) text += fmt::format("\nStaleness: mean {:.2f}, most {}.\n", d.staleness->mean, plain(d.staleness->max));
  return text;
}

std::string ops(const RunDocument& d) {
  if (!d.ops) return "";
  Table kinds{.columns = {"category", "mean (ms)", "share (%)", "spread (ms)"}};
  for (const OpCategory& c : d.ops->categories)
    kinds.rows.push_back({c.category, fixed(1e3 * c.seconds, 3), fixed(100 * c.share, 1), fixed(1e3 * c.spread, 3)});
  Table table{.columns = {"operator", "pass", "category", "mean (ms)", "share (%)", "spread (ms)", "GFLOP/s", "GB/s"}};
  std::vector<OpFacts> list = d.ops->ops;
  std::ranges::stable_sort(list, std::greater<>(), &OpFacts::seconds);
  for (std::size_t i = 0; i < std::min(list.size(), kMaxOps); ++i) {
    const OpFacts& op = list[i];
    table.rows.push_back({op.name, op.pass, op.category, fixed(1e3 * op.seconds, 3), fixed(100 * op.share, 1), fixed(1e3 * op.spread, 3),
                          fixed(op.flops_per_second / 1e9, 1), fixed(op.bytes_per_second / 1e9, 1)});
  }
  return fmt::format("{}\n{}\nMeans over {} profiled steps{}.\n", markdown_table(kinds), markdown_table(table), plain(d.ops->steps),
                     list.size() > kMaxOps ? fmt::format("; the {} longest of {}", kMaxOps, list.size()) : "");
}

std::string curve(const std::string& title, const std::vector<double>& values) {
  const std::string line = sparkline(values, kCurveWidth);
  if (line.empty()) return "";
  const auto is_known = [](double v) { return std::isfinite(v); };
  const auto first = std::ranges::find_if(values, is_known);
  const auto last = std::find_if(values.rbegin(), values.rend(), is_known);
  return fmt::format("{:<18} {}  {:.4g} → {:.4g}\n", title, line, *first, *last);
}

std::string curves(const RunDocument& d) {
  std::string lines = curve("loss", d.steps.at("loss")) + curve("accuracy", d.steps.at("accuracy")) +
                      curve("samples/s", d.steps.at("samples_per_second")) + curve("learning rate", d.steps.at("learning_rate"));
  if (!lines.empty()) lines = "```\n" + lines + "```\n";
  const Series& e = d.epochs;
  if (e.size() == 0) return lines;
  Table table{.columns = {"epoch", "training loss", "training accuracy", "held-out loss", "held-out accuracy", "seconds", "samples/s"}};
  const std::size_t stride = (e.size() + kMaxEpochs - 1) / kMaxEpochs;
  for (std::size_t i = 0; i < e.size(); ++i)
    if (i % stride == 0 || i + 1 == e.size())
      table.rows.push_back({plain(e.at("epoch")[i]), share(e.at("training_loss")[i]), share(e.at("training_accuracy")[i]),
                            share(e.at("validation_loss")[i]), share(e.at("validation_accuracy")[i]), fixed(e.at("seconds")[i], 2),
                            fixed(e.at("samples_per_second")[i], 0)});
  return lines + "\n" + markdown_table(table) + "\nAccuracies are shares from 0 to 1, losses are without a penalty.\n";
}

std::string events(const RunDocument& d) {
  Table table{.columns = {"after (s)", "step", "what", "detail"}};
  const std::size_t first = d.events.size() > kMaxEvents ? d.events.size() - kMaxEvents : 0;
  for (std::size_t i = first; i < d.events.size(); ++i) {
    const Event& event = d.events[i];
    table.rows.push_back({fixed(event.time - d.run.started, 1), plain(event.step), event.title, event.detail});
  }
  if (table.rows.empty()) return "";
  return markdown_table(table) + (first > 0 ? fmt::format("\nThe last {} of {}.\n", kMaxEvents, d.events.size()) : "");
}

std::string configuration(const RunDocument& d) {
  Table table{.columns = {"setting", "value", "from"}};
  std::size_t defaults = 0;
  for (const ConfigRow& row : d.run.config) {
    if (row.origin == "default")
      ++defaults;
    else
      table.rows.push_back({row.key, row.value, row.origin});
  }
  if (d.run.config.empty()) return "";
  return (table.rows.empty() ? "" : markdown_table(table) + "\n") + fmt::format("{} other settings are at their defaults.\n", defaults);
}

}  // namespace

std::string to_markdown(const RunDocument& d) {
  return head(d) + section("Results", results(d)) + section("What it learned", learned_markdown(d)) +
         section("What limited it", limits(d)) + section("Where a step's time goes", anatomy(d)) +
         section("Use of the machines", resources(d)) + section("Nodes", nodes(d)) + section("Parameter servers", servers(d)) +
         section("Operators", ops(d)) + section("Curves", curves(d)) + section("What happened", events(d)) +
         section("Configuration", configuration(d));
}

}  // namespace trireme::report
