// SPDX-License-Identifier: Apache-2.0
// The versions of protobuf, zlib, liblzma, libpng, libjpeg-turbo and CFITSIO.
#include "trireme/data/formats/libraries.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>
#include <lzma.h>
#include <png.h>
#include <zlib.h>

// After fmt: it defines names like TSTRING as macros.
#include <fitsio.h>

namespace trireme::data {

std::vector<LibraryVersion> libraries() {
  return {{"protobuf", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)},
          {"zlib", zlibVersion()},
          {"liblzma", lzma_version_string()},
          {"libpng", png_get_libpng_ver(nullptr)},
          {"libjpeg-turbo", TRIREME_TURBOJPEG_VERSION},
          {"CFITSIO", fmt::format("{}.{}.{}", CFITSIO_MAJOR, CFITSIO_MINOR, CFITSIO_MICRO)}};
}

}  // namespace trireme::data
