// SPDX-License-Identifier: Apache-2.0
// CRC-32C by the CPU's own instruction where there is one, else by a table.
#include "trireme/base/crc32c.h"

#include <array>
#include <cstring>

namespace trireme {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78U : 0U);
    table[byte] = value;
  }
  return table;
}

std::uint32_t by_table(std::uint32_t crc, std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = make_table();
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::uint32_t crc, std::string_view bytes) {
  std::uint64_t wide = crc;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  return by_table(static_cast<std::uint32_t>(wide), bytes);
}
#endif

template <class Number>
void append(std::string& out, Number number) {
  std::array<char, sizeof number> bytes{};
  std::memcpy(bytes.data(), &number, sizeof number);
  out.append(bytes.data(), bytes.size());
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2") != 0) return ~by_instruction(~0U, bytes);
#endif
  return ~by_table(~0U, bytes);
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

std::string framed_record(std::string_view payload) {
  std::string out;
  out.reserve(payload.size() + kRecordHeader + kRecordFooter);
  append(out, static_cast<std::uint64_t>(payload.size()));
  append(out, masked_crc32c(out));
  out += payload;
  append(out, masked_crc32c(payload));
  return out;
}

}  // namespace trireme
