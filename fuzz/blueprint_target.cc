// SPDX-License-Identifier: Apache-2.0
// Fuzzes blueprints, and hostfiles with the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/cluster/inventory/inventory.h"

namespace {

using trireme::cluster::Inventory;

// Whatever was accepted may end in a command line.
void check(const Inventory& inventory) {
  for (const trireme::cluster::Machine& machine : inventory.machines) {
    for (const std::string_view text :
         {std::string_view(machine.address), std::string_view(machine.user), std::string_view(machine.name)}) {
      if (!text.starts_with('-') && text.find_first_of(std::string_view(" \t\n\"'`$;&|<>(){}\\*?!#\0", 23)) == std::string_view::npos)
        continue;
      std::fprintf(stderr, "a dangerous text was accepted\n");
      std::abort();
    }
  }
}

template <class Parse>
void attempt(Parse parse) {
  try {
    check(parse());
  } catch (const trireme::Error&) {  // what a bad input should lead to
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  attempt([&] { return trireme::cluster::parse_blueprint(text, "blueprint.json"); });
  attempt([&] { return trireme::cluster::parse_hostfile(text, "hosts"); });
  return 0;
}
