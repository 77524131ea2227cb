// SPDX-License-Identifier: Apache-2.0
// Event journals of a folder, and what can be read off them at once.
#include "tests/faults/history.h"

#include <algorithm>
#include <chrono>

#include "trireme/base/error.h"

namespace trireme::tests {
namespace {

constexpr std::string_view kNode = "node-";
constexpr std::string_view kCoordinator = "coordinator-";

// "node-3-4711.jsonl" -> "3"
std::string node_of(const std::string& file) {
  const std::size_t end = file.rfind('-');
  return file.substr(kNode.size(), end - kNode.size());
}

std::optional<ProcessLog> read_log(const std::filesystem::path& path) {
  const std::string name = path.filename();
  const bool is_node = name.starts_with(kNode);
  if (path.extension() != ".jsonl" || (!is_node && !name.starts_with(kCoordinator))) return std::nullopt;
  ProcessLog log{.file = name, .node = is_node ? node_of(name) : "", .records = observe::read_journal(path)};
  if (log.records.empty()) return std::nullopt;
  return log;
}

template <class Visit>
void for_each_record(const std::vector<ProcessLog>& logs, std::string_view type, const Visit& visit) {
  for (const ProcessLog& log : logs)
    for (const observe::Record& record : log.records)
      if (record.type == type) visit(record);
}

// A step that a node wrote down, or a lease that was used: an update that has one part or more.
struct Done {
  double time = 0;
  std::int64_t generation = 0;
  std::int64_t step = 0;
};

std::vector<Done> all_done(const History& history) {
  std::vector<Done> done;
  for (const ProcessLog& log : history.nodes) {
    std::int64_t used = 0;  // with all before
    for (const observe::Record& r : log.records) {
      if (r.type == "joined") used = r.integer("step");
      if (r.type == "used") done.push_back({r.time, r.integer("generation"), ++used});
      if (r.type == "stepped") done.push_back({r.time, r.integer("generation"), r.integer("step")});
    }
  }
  return done;
}

}  // namespace

History read_history(const std::filesystem::path& folder) {
  History history;
  if (!std::filesystem::exists(folder)) return history;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::optional<ProcessLog> log = read_log(entry.path());
    if (!log) continue;
    (log->is_coordinator() ? history.coordinators : history.nodes).push_back(std::move(*log));
  }
  for (auto* logs : {&history.coordinators, &history.nodes}) std::ranges::sort(*logs, {}, &ProcessLog::begin);
  return history;
}

Standing standing(const History& history) {
  Standing now;
  for_each_record(history.coordinators, "generation",
                  [&](const observe::Record& r) { now.generation = std::max(now.generation, r.integer("generation")); });
  for_each_record(history.coordinators, "commit",
                  [&](const observe::Record& r) { now.committed = std::max(now.committed, r.integer("step")); });
  for (const Done& done : all_done(history)) now.step = std::max(now.step, done.step);
  return now;
}

Recovery recovery(const History& history, double since, std::int64_t generation) {
  Recovery found;
  const auto earliest = [&](std::optional<double>& best, double time) {
    if (time >= since && (!best || time - since < *best)) best = time - since;
  };
  // A node whose launcher sees its process end before its connection breaks has "left".
  for (const char* type : {"lost", "left"})
    for_each_record(history.coordinators, type, [&](const observe::Record& r) { earliest(found.detected, r.time); });
  std::int64_t done = -1;   // in the old generation
  std::int64_t begin = -1;  // of the first new one that took a step
  std::int64_t next = -1;
  for (const Done& each : all_done(history)) {
    if (each.generation <= generation) {
      done = std::max(done, each.step);
      continue;
    }
    earliest(found.recovered, each.time);
    if (next < 0 || each.generation < next) next = each.generation;
  }
  for_each_record(history.nodes, "joined", [&](const observe::Record& r) {
    if (r.integer("generation") == next) begin = r.integer("step");
  });
  if (begin >= 0 && done >= 0) found.lost_steps = std::max<std::int64_t>(0, done - begin);
  return found;
}

double wall_time() { return observe::seconds_since_1970(std::chrono::system_clock::now()); }

}  // namespace trireme::tests
