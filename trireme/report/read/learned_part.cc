// SPDX-License-Identifier: Apache-2.0
// Reads whole files: they are replaced, never appended to.
#include "trireme/report/read/learned_part.h"

#include <fmt/format.h>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/report/scores/evaluation_json.h"

namespace trireme::report {
namespace {

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{32} << 20;

}  // namespace

bool LearnedPart::Watched::look(const std::filesystem::path& path) {
  std::error_code gone;
  const auto now = std::filesystem::last_write_time(path, gone);
  const std::uintmax_t bytes = gone ? 0 : std::filesystem::file_size(path, gone);
  if (gone) {
    const bool was_there = !text.empty();
    *this = {};
    return was_there;
  }
  if (now == time && bytes == size) return false;
  text = read_file(path, kMaxBytes);
  time = now;
  size = bytes;
  return true;
}

void LearnedPart::look(const std::filesystem::path& run) {
  try {
    mistakes_.look(run / "mistakes.json");
    examples_.look(run / "examples.json");
    if (!evaluation_file_.look(run / "evaluation.json")) return;
    warnings_.clear();
    evaluation_.reset();
    if (!evaluation_file_.text.empty()) evaluation_ = evaluation_of(parse_json_or_discard(evaluation_file_.text));
  } catch (const Error& error) {  // a report of the rest is worth more than none
    warnings_ = {fmt::format("what the network learned can't be shown: {}", error.what())};
  }
}

void LearnedPart::write_to(RunDocument& document) const {
  document.evaluation = evaluation_;
  document.mistakes_json = mistakes_.text;
  document.examples_json = examples_.text;
}

}  // namespace trireme::report
