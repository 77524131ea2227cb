// SPDX-License-Identifier: Apache-2.0
// The fault table as Markdown: rows are replaced by newer ones of the same id, so that it can be made piece by piece.
#pragma once

#include <filesystem>
#include <string>

#include "tests/faults/fault_row.h"

namespace trireme::tests {

std::string table_header();
std::string table_row(const FaultRow& row, const Outcome& outcome);  // one line

// Of the same row, run several times: the worst of each figure, and every problem.
Outcome worst_of(const std::vector<Outcome>& outcomes);

// Puts `line` into the table of `file`, which is made if it isn't there, in the order of the catalogue.
void put_row(const std::filesystem::path& file, const std::string& line);

// An outcome as a line of JSON, to hand it from one process to another.
std::string outcome_text(const Outcome& outcome);
Outcome parse_outcome(const std::string& text);

}  // namespace trireme::tests
