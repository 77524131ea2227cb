// SPDX-License-Identifier: Apache-2.0
// trace: one file with what all nodes of a run did when, for Perfetto.
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/run_trace.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string run;
  std::string file;
  std::string steps;
  std::int64_t most_steps = 2000;
};

StepRange parse_steps(const std::string& text) {
  StepRange range;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  range.last = range.first;
  auto rest = first;
  if (first.ec == std::errc{} && first.ptr < end && *first.ptr == '-') rest = std::from_chars(first.ptr + 1, end, range.last);
  if (first.ec != std::errc{} || rest.ec != std::errc{} || rest.ptr != end || range.first < 1 || range.last < range.first)
    throw Error{invalid_argument, "--steps {}: write the first and the last one, e.g. --steps 100-200", text};
  return range;
}

int run(const Options& o, const run::Console& console) {
  const train::RunDirectory directory = train::RunDirectory::open(o.run);
  TraceOrder order{.file = o.file.empty() ? directory.path() / "trace.json" : std::filesystem::path(o.file), .most_steps = o.most_steps};
  if (!o.steps.empty()) order.steps = parse_steps(o.steps);
  const TraceFacts facts = write_trace(directory, order);
  console.out << fmt::format("{} events of {} {}, {} messages with both ends\ntrace {}\n", facts.events, facts.nodes,
                             facts.nodes == 1 ? "node" : "nodes", facts.messages, order.file.string());
  if (facts.clock_uncertainty > 0)
    console.out << fmt::format("the nodes' clocks are put right to within {:.2g} ms\n",
                               1e3 * (facts.clock_uncertainty + facts.clock_shift));
  if (facts.dropped_spans > 0)
    console.err << fmt::format("note: {} spans were more than the nodes keep, and are not in it; profile fewer steps\n",
                               facts.dropped_spans);
  if (facts.profiled_spans == 0)
    console.err
        << "note: no step of this run was profiled: the file has whole steps only; train --profile \"steps 100-119\" shows every op\n";
  console.out << "open it at ui.perfetto.dev, which shows it without uploading it, or in chrome://tracing\n";
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("run", options->run, "the run's directory, e.g. runs/latest").required().shown_as("RUN");
  arguments.option("-o,--output", options->file, "where to write; without it, trace.json in the run's directory").shown_as("FILE");
  arguments.option("--steps", options->steps, "only these, e.g. 100-200").shown_as("RANGE");
  arguments.option("--most-steps", options->most_steps, "of each node, the last ones, beside those that are profiled")
      .between(0, 1 << 20)
      .shows_default();
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry trace() {
  return {.name = "trace", .summary = "write what all nodes of a run did when, for Perfetto or chrome://tracing", .declare = declare};
}

}  // namespace trireme::cli::commands
