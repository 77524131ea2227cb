// SPDX-License-Identifier: Apache-2.0
// Reads the directory of a run into one document, and again what was added since.
#pragma once

#include <filesystem>
#include <memory>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

class RunReader {
 public:
  // not_found if the directory is no run. Nothing is read yet.
  explicit RunReader(const std::filesystem::path& run_directory);
  ~RunReader();
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;

  // Reads what was appended since the last look. failed_precondition if the run is of a newer version. Lines that are no records are passed
  // over and counted in the warnings.
  void look();
  const RunDocument& document() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A run as it is now.
RunDocument read_run(const std::filesystem::path& run_directory);

}  // namespace trireme::report
