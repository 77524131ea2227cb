// SPDX-License-Identifier: Apache-2.0
// Looks up readers by name.
#include "trireme/data/formats/reader_entry.h"

#include "trireme/base/catalog_lookup.h"

namespace trireme::data {

const ReaderEntry& find_reader(std::string_view name) { return find_entry(readers::catalog(), name, "reader"); }

}  // namespace trireme::data
