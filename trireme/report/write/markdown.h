// SPDX-License-Identifier: Apache-2.0
// Reports as Markdown that also reads well in a terminal.
#pragma once

#include <string>

#include "trireme/report/compare/comparison_document.h"

namespace trireme::report {

std::string to_markdown(const RunDocument& document);
std::string to_markdown(const ComparisonDocument& document);

// Columns padded to the same width; numbers to the right.
std::string markdown_table(const Table& table);
// "▁▂▅█" of at most `width` means; nothing for fewer than two values.
std::string sparkline(const std::vector<double>& values, std::size_t width);

}  // namespace trireme::report
