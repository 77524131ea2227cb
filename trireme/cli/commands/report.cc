// SPDX-License-Identifier: Apache-2.0
// report: what a run did, what limited it and what would change that; several runs side by side.
#include <fmt/format.h>

#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/cli/browser.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/report_files.h"
#include "trireme/report/read/run_reader.h"
#include "trireme/web/page.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string out;
  bool markdown = false;
  bool json = false;
  bool no_open = false;
  bool subtract_baseline = false;
};

// Of one run a page is written into the run, unless a text for the terminal is asked for.
std::filesystem::path file_of(const Options& o) {
  if (!o.out.empty()) return o.out;
  if (o.runs.size() > 1 || o.markdown || o.json) return {};
  return std::filesystem::path(o.runs.front()) / "report.html";
}

ReportForm form_of(const Options& o) {
  if (o.json) return ReportForm::json;
  if (o.markdown) return ReportForm::markdown;
  const std::filesystem::path file = file_of(o);
  return file.empty() ? ReportForm::markdown : form_of_file(file);
}

std::string text_of(const Options& o) {
  const ReportForm form = form_of(o);
  if (form == ReportForm::page) web::require_page("an HTML report");
  std::vector<report::RunDocument> documents;
  for (const std::string& run : o.runs) {
    documents.push_back(report::read_run(run));
    if (o.subtract_baseline) report::subtract_baseline(documents.back());
  }
  if (documents.size() == 1) return report_text(documents.front(), form);
  const std::string title = fmt::format("{} runs", documents.size());
  return report_text(report::compare_runs(title, std::move(documents)), form);
}

void write_report(const std::filesystem::path& file, const std::string& text) {
  try {
    write_file_atomically(file, text);
  } catch (const Error& error) {  // thrown again, with what to do
    throw Error{error.code(), "{}; -o FILE writes the report to another place", error.what()};
  }
}

int run(const Options& o, const run::Console& console) {
  const std::filesystem::path file = file_of(o);
  const std::string text = text_of(o);
  if (file.empty()) {
    console.out << text;
    return 0;
  }
  write_report(file, text);
  console.out << file.string() << "\n" << std::flush;
  if (form_of(o) == ReportForm::page && !o.no_open && has_screen()) open_in_browser(file);
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("run", options->runs, "directories of runs, e.g. runs/latest; several are compared").required().shown_as("RUN");
  arguments
      .option("-o,--output", options->out,
              "write it into this file; its ending says what it is: .html, .md or .json. Default: report.html in the run; several runs "
              "are printed")
      .shown_as("FILE");
  arguments.flag("--markdown", options->markdown, "print Markdown, or write it with -o");
  arguments.flag("--json", options->json, "print JSON, or write it with -o: all numbers of the report").excludes("--markdown");
  arguments.flag("--no-open", options->no_open, "only write the page, don't open a browser");
  arguments.flag("--subtract-baseline", options->subtract_baseline, "take off what the machines used before the training began");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry report() {
  return {.name = "report", .summary = "what a run did and what limited it, as a page; or several runs side by side", .declare = declare};
}

}  // namespace trireme::cli::commands
