// SPDX-License-Identifier: Apache-2.0
// Joins the reader of runs and the server.
#include "trireme/run/training/run_page.h"

#include "trireme/base/files.h"
#include "trireme/report/read/run_reader.h"
#include "trireme/report/write/metrics.h"

namespace trireme::run {
namespace {

// Of the same reader, for the server's one thread.
web::ServerOptions with_metrics(web::ServerOptions options, const std::shared_ptr<report::RunReader>& reader) {
  options.metrics = [reader] {
    reader->look();
    return report::to_metrics(reader->document());
  };
  return options;
}

std::function<std::string()> document_of(const std::shared_ptr<report::RunReader>& reader) {
  return [reader] {
    reader->look();
    return report::to_json(reader->document());
  };
}

std::shared_ptr<report::RunReader> opened(const std::filesystem::path& run) {
  auto reader = std::make_shared<report::RunReader>(run);
  reader->look();
  return reader;
}

}  // namespace

RunPage::RunPage(const std::filesystem::path& run, const web::ServerOptions& options, std::filesystem::path token_file)
    : RunPage(opened(run), options, std::move(token_file)) {}

RunPage::RunPage(const std::shared_ptr<report::RunReader>& reader, const web::ServerOptions& options, std::filesystem::path token_file)
    : token_file_(std::move(token_file)), server_(document_of(reader), with_metrics(options, reader)) {
  if (!token_file_.empty()) write_secret_file(token_file_, server_.token());
}

RunPage::~RunPage() {
  std::error_code ignored;
  if (!token_file_.empty()) std::filesystem::remove(token_file_, ignored);
}

}  // namespace trireme::run
