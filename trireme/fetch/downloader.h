// SPDX-License-Identifier: Apache-2.0
// Files from http, https and file addresses, continued where an earlier attempt ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/fetch/progress.h"

namespace trireme::fetch {

struct DownloadLimits {
  Seconds connect{5};
  Seconds stall{20};                           // with less than a kilobyte a second the transfer is given up
  std::int64_t bytes = std::int64_t{2} << 30;  // of one file
  int attempts = 5;                            // at a transfer that was cut, as long as each brings something new
};

class Downloader {
 public:
  Downloader(const DownloadLimits& limits, Progress& progress) : limits_(limits), progress_(progress) {}

  // Writes what `url` holds into `file`; what is there already is taken for its beginning, which the caller's checksum must
  // confirm. Proxies come from the environment, as everywhere with curl. Throws unavailable; a host that did not answer once
  // is not asked again.
  void download(const std::string& url, const std::filesystem::path& file);

 private:
  DownloadLimits limits_;
  Progress& progress_;
  std::set<std::string> silent_hosts_;
};

}  // namespace trireme::fetch
