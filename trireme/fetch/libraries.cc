// SPDX-License-Identifier: Apache-2.0
// The versions of libcurl and libarchive.
#include "trireme/fetch/libraries.h"

#include <archive.h>
#include <curl/curl.h>

#include <string_view>

namespace trireme::fetch {

std::vector<LibraryVersion> libraries() {
  const std::string_view archive = archive_version_string();  // "libarchive 3.6.2"
  return {{"libcurl", curl_version_info(CURLVERSION_NOW)->version}, {"libarchive", std::string(archive.substr(archive.rfind(' ') + 1))}};
}

}  // namespace trireme::fetch
