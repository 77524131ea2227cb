// SPDX-License-Identifier: Apache-2.0
// What a run keeps of its samples and of what its network learned.
#include <fmt/format.h>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/run/training/run_records.h"

namespace trireme::run {

RunFindings RunRecords::findings() {
  return {.job = job_,
          .data = data_,
          .algorithms = directory_.algorithms(),
          .clock = guard_.clock(),
          .write =
              [this](const std::string& file, const std::string& text) {
                const DiskGuard::Write writing(guard_, {.what = "findings", .bytes = static_cast<std::int64_t>(text.size())});
                write_secret_file(directory_.path() / file, text);  // samples, or what tells of them
              },
          .progress = [this](std::int64_t done, std::int64_t all) { progress_.evaluation(done, all); }};
}

// Neither of both is worth a training: what fails there is reported, and nothing else.
void RunRecords::write_examples() {
  if (!job_.observe.samples || !request_.resume.empty()) return;
  try {
    run::write_examples(findings());
  } catch (const Error& error) {
    console_.err << fmt::format("trireme: warning: no examples for the page: {}\n", error.what());
  }
}

void RunRecords::evaluate(const train::SessionResult& result, const std::atomic<int>& stop) {
  if (result.checkpoint.empty()) return;
  try {
    findings_text_ = write_evaluation(findings(), result.checkpoint, stop);
    progress_.evaluation(0, 0);
  } catch (const Error& error) {
    console_.err << fmt::format("{}trireme: warning: no scores of classes: {}; `trireme eval {}` makes them\n",
                                request_.terminal ? "\r\033[K" : "", error.what(), directory_.path().string());
  }
}

}  // namespace trireme::run
