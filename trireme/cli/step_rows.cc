// SPDX-License-Identifier: Apache-2.0
// Rows of a table of numbers to the anatomy of steps.
#include "trireme/cli/step_rows.h"

#include <cmath>
#include <fstream>
#include <string>

#include "trireme/observe/number_table.h"

namespace trireme::cli {
namespace {

observe::StepAnatomy row_of(const observe::NumberTable& table) {
  const auto real = [&](const char* name) { return std::isfinite(table.cell(name)) ? table.cell(name) : 0.0; };
  const auto whole = [&](const char* name) { return static_cast<std::int64_t>(real(name)); };
  return {.step = whole("step"),
          .epoch = whole("epoch"),
          .start = real("start"),
          .seconds = real("seconds"),
          .samples = whole("samples"),
          .input_wait = real("input_wait"),
          .forward = real("forward"),
          .backward = real("backward"),
          .exchange_exposed = real("exchange_exposed"),
          .optimizer = real("optimizer"),
          .idle = real("idle"),
          .read = real("read"),
          .decode = real("decode"),
          .exchange = real("exchange"),
          .bytes_sent = whole("bytes_sent"),
          .bytes_received = whole("bytes_received"),
          .staleness = whole("staleness")};
}

}  // namespace

std::deque<observe::StepAnatomy> read_step_rows(const std::filesystem::path& file, std::int64_t first, std::int64_t last,
                                                std::size_t most) {
  std::deque<observe::StepAnatomy> rows;
  std::ifstream in(file);
  observe::NumberTable table;
  for (std::string line; std::getline(in, line);) {
    if (!table.take(line)) continue;
    const observe::StepAnatomy row = row_of(table);
    if (row.step < first || row.step > last || row.start <= 0) continue;
    rows.push_back(row);
    if (rows.size() > most) rows.pop_front();
  }
  return rows;
}

}  // namespace trireme::cli
