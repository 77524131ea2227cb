// SPDX-License-Identifier: Apache-2.0
// report: what a run did, what limited it and what would change that; several runs side by side.
#include <fmt/format.h>

#include <memory>

#include "trireme/base/files.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/report_files.h"
#include "trireme/report/read/run_reader.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string out;
  bool markdown = false;
  bool json = false;
  bool subtract_baseline = false;
};

ReportForm form_of(const Options& o) {
  if (o.json) return ReportForm::json;
  if (o.markdown || o.out.empty()) return ReportForm::markdown;
  return form_of_file(o.out);
}

std::string text_of(const Options& o) {
  std::vector<report::RunDocument> documents;
  for (const std::string& run : o.runs) {
    documents.push_back(report::read_run(run));
    if (o.subtract_baseline) report::subtract_baseline(documents.back());
  }
  if (documents.size() == 1) return report_text(documents.front(), form_of(o));
  const std::string title = fmt::format("{} runs", documents.size());
  return report_text(report::compare_runs(title, std::move(documents)), form_of(o));
}

int run(const Options& o, const run::Console& console) {
  const std::string text = text_of(o);
  if (o.out.empty()) {
    console.out << text;
    return 0;
  }
  write_file_atomically(o.out, text);
  console.err << fmt::format("wrote {}\n", o.out);
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("run", options->runs, "directories of runs, e.g. runs/latest; several are compared").required().shown_as("RUN");
  arguments.option("-o,--output", options->out, "write it into this file; its ending says what it is: .html, .md or .json")
      .shown_as("FILE");
  arguments.flag("--markdown", options->markdown, "Markdown, also the default without -o");
  arguments.flag("--json", options->json, "print JSON: all numbers of the report").excludes("--markdown");
  arguments.flag("--subtract-baseline", options->subtract_baseline, "take off what the machines used before the training began");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry report() {
  return {.name = "report", .summary = "what a run did and what limited it, or several runs side by side", .declare = declare};
}

}  // namespace trireme::cli::commands
