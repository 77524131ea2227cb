// SPDX-License-Identifier: Apache-2.0
// Which runs of a folder are listed, and in which order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/report/folder/run_entry.h"

namespace trireme::report {

struct RunFilter {
  std::string model;    // a part of its name; upper and lower case are the same
  std::string outcome;  // "finished"; empty: any
  std::string text;     // each word stands somewhere in name, job, model, data, strategy, host or note
  double since = 0;     // seconds since 1970
};
bool passes(const RunFilter& filter, const RunEntry& entry);

// "2026-11-17", "2026-11-17 08:30" (of this machine's time zone), or back from `now`: "90m", "12h", "3d", "2w".
// invalid_argument for anything else.
double parse_since(const std::string& text, double now);

// when: newest first. name, model, data: A to Z. accuracy, epochs, speed: highest first. loss, time: lowest first. Unknown ones are last.
enum class RunOrder { when, name, model, data, outcome, epochs, loss, accuracy, best, time, speed };
RunOrder run_order(std::string_view name);
void sort_runs(std::vector<RunEntry>& entries, RunOrder order);

}  // namespace trireme::report
