// SPDX-License-Identifier: Apache-2.0
// The page of one run, served on this machine.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "trireme/report/read/run_reader.h"
#include "trireme/web/server.h"

namespace trireme::run {

class RunPage {
 public:
  // Reads the run once, so that one that can't be read is refused here and not in the browser.
  // `token_file` has the token while the page is served, for programs that shall read it (Prometheus); empty: none.
  explicit RunPage(const std::filesystem::path& run, const web::ServerOptions& options = {}, std::filesystem::path token_file = {});
  ~RunPage();
  RunPage(const RunPage&) = delete;
  RunPage& operator=(const RunPage&) = delete;

  std::string url() const { return server_.url(); }
  // For the end of a training: a page that is open gets to see it.
  void wait_for_last_look() { server_.wait_for_last_look(Seconds(3)); }

 private:
  RunPage(const std::shared_ptr<report::RunReader>& reader, const web::ServerOptions& options, std::filesystem::path token_file);

  std::filesystem::path token_file_;
  web::Server server_;
};

}  // namespace trireme::run
