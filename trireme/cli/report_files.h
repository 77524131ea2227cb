// SPDX-License-Identifier: Apache-2.0
// Reports of runs and comparisons in the form that was asked for: a page, Markdown or JSON.
#pragma once

#include <filesystem>
#include <string>

#include "trireme/report/compare/comparison_document.h"
#include "trireme/report/document/run_document.h"

namespace trireme::cli {

enum class ReportForm { markdown, json, page };

// By the file's ending; invalid_argument if it is none of .html, .md and .json.
ReportForm form_of_file(const std::filesystem::path& file);

std::string report_text(const report::RunDocument& document, ReportForm form);
std::string report_text(const report::ComparisonDocument& document, ReportForm form);

}  // namespace trireme::cli
