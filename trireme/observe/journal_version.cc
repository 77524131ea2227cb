// SPDX-License-Identifier: Apache-2.0
// Names of version 1, and what they are called now.
#include "trireme/observe/journal_version.h"

#include <array>
#include <string>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::observe {
namespace {

using Names = std::pair<std::string_view, std::string_view>;

// Parts of a step in steps/NODE.csv and telemetry.jsonl. No name of then has another meaning now.
constexpr std::array<Names, 9> kPartNames{{{"input_wait", "input_wait_seconds"},
                                           {"forward", "forward_seconds"},
                                           {"backward", "backward_seconds"},
                                           {"exchange_exposed", "exposed_seconds"},
                                           {"optimizer", "optimizer_seconds"},
                                           {"idle", "idle_seconds"},
                                           {"read", "read_seconds"},
                                           {"decode", "decode_seconds"},
                                           {"exchange", "exchange_seconds"}}};

double number_or_zero(const Record& record, std::string_view name) { return record.find(name) == nullptr ? 0 : record.real(name); }

void rename(Record& record, std::string_view from, std::string_view to) {
  for (auto& [name, value] : record.fields)
    if (name == from) name = to;
}

// `exchange_seconds` was the exposed part, and the hidden one stood beside it.
void upgrade_times(Record& record) {
  if (record.find("exchange_seconds") == nullptr) return;
  const double exchange = number_or_zero(record, "exchange_seconds") + number_or_zero(record, "hidden_seconds");
  rename(record, "wait_seconds", "input_wait_seconds");
  rename(record, "exchange_seconds", "exposed_seconds");
  std::erase_if(record.fields, [](const auto& field) { return field.first == "hidden_seconds"; });
  record.fields.emplace_back("exchange_seconds", exchange);
}

}  // namespace

void JournalUpgrade::apply(Record& record) {
  if (record.type == "run" || record.type == "resume") {
    version_ = record.find("journal") == nullptr ? 1 : record.integer("journal");
    if (version_ > kJournalVersion)
      throw Error{failed_precondition,
                  "the journal has version {}, this Trireme reads versions 1 to {}; use the Trireme that wrote it, or a newer one",
                  version_, kJournalVersion};
    if (version_ < 1) throw Error{data_loss, "there is no journal of version {}", version_};
  }
  if (record.type == "node")
    for (const auto& [from, to] : kPartNames) rename(record, from, to);
  if (version_ == 1 && (record.type == "step" || record.type == "epoch")) upgrade_times(record);
}

std::string_view current_name(std::string_view column) {
  for (const auto& [from, to] : kPartNames)
    if (column == from) return to;
  return column;
}

}  // namespace trireme::observe
