// SPDX-License-Identifier: Apache-2.0
// Text files of spreadsheets in UTF-16, which begin with a byte order mark.
#pragma once

#include <string>
#include <string_view>

namespace trireme::data {

bool is_utf16(std::string_view bytes);

// As UTF-8, without the mark. data_loss, naming `name`, if the bytes are none.
std::string utf8_of_utf16(std::string_view bytes, std::string_view name);

}  // namespace trireme::data
