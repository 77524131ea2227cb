// SPDX-License-Identifier: Apache-2.0
// The skeleton of a FITS file, checked before cfitsio sees it: cfitsio takes memory for whatever a header promises.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace trireme::data {

inline constexpr std::size_t kFitsBlock = 2880;  // everything in a FITS file is a multiple of this

struct FitsUnit {                              // a header and its data
  std::int64_t header = 0, data = 0, end = 0;  // bytes where each begins; the end is that of the last block
  bool is_table = false;                       // a plain binary table
};

// The units fill the file exactly, and their sizes are those their headers promise; otherwise data_loss with place, expected and found.
std::vector<FitsUnit> check_fits_structure(std::string_view bytes, std::string_view name);

}  // namespace trireme::data
