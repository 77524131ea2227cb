// SPDX-License-Identifier: Apache-2.0
// Generations, steps and plans, the last of each.
#include "trireme/run/training/run_past.h"

#include <algorithm>

#include "trireme/observe/journal_reader.h"

namespace trireme::run {
namespace {

void take(RunPast& past, const observe::Record& generation) {
  past.generation = std::max(past.generation, static_cast<std::uint64_t>(generation.integer("generation")));
  if (generation.find("plan") == nullptr) return;
  past.last_plan = generation.text("plan");
  if (past.first_plan.empty()) past.first_plan = past.last_plan;
}

}  // namespace

RunPast read_past(const std::filesystem::path& journal) {
  RunPast past;
  observe::for_each_record(journal, [&](const observe::Record& record) {
    if (record.type == "generation") take(past, record);
    if (record.type == "step") past.step = record.integer("step");  // the last: earlier ones may have been done again
    if (record.type == "epoch") past.epochs = record.integer("epoch");
  });
  return past;
}

std::int64_t last_workers(const std::filesystem::path& journal) {
  std::int64_t workers = 1;
  observe::for_each_record(journal, [&](const observe::Record& record) {
    if (record.type == "generation") workers = record.integer("workers");
  });
  return workers;
}

train::Plan plan_after(const RunPast& past, train::Plan of_the_job) {
  if (past.last_plan.empty() || past.first_plan != train::text_of(of_the_job)) return of_the_job;
  train::Plan plan = train::parse_plan(past.last_plan);
  plan.until = of_the_job.until;
  return plan;
}

}  // namespace trireme::run
