// SPDX-License-Identifier: Apache-2.0
// Rows of a table of numbers to the anatomy of steps.
#include "trireme/cli/step_rows.h"

#include <fstream>
#include <string>

#include "trireme/observe/record_table.h"

namespace trireme::cli {

std::deque<observe::StepAnatomy> read_step_rows(const std::filesystem::path& file, std::int64_t first, std::int64_t last,
                                                std::size_t most) {
  std::deque<observe::StepAnatomy> rows;
  std::ifstream in(file);
  observe::NumberTable table;
  for (std::string line; std::getline(in, line);) {
    if (!table.take(line)) continue;
    const auto row = observe::record_of_row<observe::StepAnatomy>(table);
    if (row.step < first || row.step > last || row.start <= 0) continue;
    rows.push_back(row);
    if (rows.size() > most) rows.pop_front();
  }
  return rows;
}

}  // namespace trireme::cli
