// SPDX-License-Identifier: Apache-2.0
// Reads a text, whatever it is packed in.
#include "trireme/data/formats/text_file.h"

#include "trireme/base/error.h"
#include "trireme/data/formats/byte_stream.h"
#include "trireme/data/formats/utf16.h"

namespace trireme::data {

TextFile::TextFile(const std::filesystem::path& path) {
  ByteStream in(path);
  name_ = in.name();
  bytes_ = in.read_rest();
  if (is_utf16(as_text(bytes_))) decoded_ = utf8_of_utf16(as_text(bytes_), name_);
  if (text().substr(0, 1000).find('\0') != std::string_view::npos)
    throw Error{data_loss, "{}: expected text, found bytes of value 0; a table in UTF-16 or of a spreadsheet must be saved as CSV in UTF-8",
                name_};
}

std::string_view TextFile::text() const { return decoded_.empty() ? as_text(bytes_) : std::string_view(decoded_); }

}  // namespace trireme::data
