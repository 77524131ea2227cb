// SPDX-License-Identifier: Apache-2.0
// Chooses the form of a report by the ending of its file.
#include "trireme/cli/report_files.h"

#include "trireme/base/error.h"
#include "trireme/report/write/markdown.h"
#include "trireme/web/page.h"

namespace trireme::cli {
namespace {

template <class Document>
std::string text_of(const Document& document, ReportForm form) {
  if (form == ReportForm::markdown) return report::to_markdown(document);
  const std::string json = report::to_json(document);
  return form == ReportForm::json ? json + "\n" : web::page_with(json);
}

}  // namespace

ReportForm form_of_file(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".html" || ending == ".htm") return ReportForm::page;
  if (ending == ".md") return ReportForm::markdown;
  if (ending == ".json") return ReportForm::json;
  throw Error{invalid_argument, "{}: a report ends with .html, .md or .json", file.string()};
}

std::string report_text(const report::RunDocument& document, ReportForm form) { return text_of(document, form); }
std::string report_text(const report::ComparisonDocument& document, ReportForm form) { return text_of(document, form); }

}  // namespace trireme::cli
