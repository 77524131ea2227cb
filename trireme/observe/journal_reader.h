// SPDX-License-Identifier: Apache-2.0
// Reads a journal back, for reports and tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/observe/journal.h"

namespace trireme::observe {

struct Record {
  std::string type;
  double time = 0;                                    // seconds since 1970
  std::vector<std::pair<std::string, Value>> fields;  // in the line's order; null is read as NaN

  const Value* find(std::string_view field) const;  // null if absent
  // Each throws data_loss naming type and field if it is absent or something else.
  std::int64_t integer(std::string_view field) const;
  double real(std::string_view field) const;  // a whole number too
  const std::string& text(std::string_view field) const;
};

// One line without its end, with the names it was written with. Empty if it is the beginning of a record: what a crash leaves. data_loss if
// it is no record.
std::optional<Record> parse_record(std::string_view line);

// Calls `take` with each record, in the order they were written and under today's names (journal_version.h), and returns the number of
// lines that a crash cut short: those are passed over. Any other line that is no record is data_loss with the file and the number of the
// line. Never has more than a line in memory; one longer than kMaxLineBytes is no record.
constexpr std::size_t kMaxLineBytes = 1 << 20;
std::int64_t for_each_record(const std::filesystem::path& path, const std::function<void(const Record&)>& take);

// All records, in the order they were written. For journals of tests and short runs: a long one does not fit into
// memory.
std::vector<Record> read_journal(const std::filesystem::path& path, std::int64_t* cut_lines = nullptr);

}  // namespace trireme::observe
