// SPDX-License-Identifier: Apache-2.0
// The page of a folder of runs, and of each run in it, served on this machine.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "trireme/web/server.h"

namespace trireme::run {

class FolderPage {
 public:
  // Reads the list once, so that a folder that can't be read is refused here. `cache` remembers what was read, see report::RunFolder.
  // `token_file` has the token while the page is served; empty: none.
  explicit FolderPage(const std::filesystem::path& folder, const std::filesystem::path& cache, const web::ServerOptions& options = {},
                      std::filesystem::path token_file = {});
  ~FolderPage();
  FolderPage(const FolderPage&) = delete;
  FolderPage& operator=(const FolderPage&) = delete;

  std::string url() const { return server_.url(); }

 private:
  class Documents;
  FolderPage(const std::shared_ptr<Documents>& documents, const web::ServerOptions& options, std::filesystem::path token_file);

  std::filesystem::path token_file_;
  web::Server server_;
};

}  // namespace trireme::run
