// SPDX-License-Identifier: Apache-2.0
// Everything a job file or a flag can name, as text: what `trireme list` prints and completion offers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/options.h"

namespace trireme::cli {

struct CatalogItem {
  std::string name;
  std::string summary;
  std::vector<OptionRow> options;
};

struct Catalog {
  std::string_view name;  // as `trireme list` takes it
  std::string_view kind;  // the word for an item of it
  std::vector<CatalogItem> items;
};

std::vector<Catalog> all_catalogs();

}  // namespace trireme::cli
