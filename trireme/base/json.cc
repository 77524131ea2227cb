// SPDX-License-Identifier: Apache-2.0
// The one place where the templates of nlohmann-json are instantiated.
#include "trireme/base/json.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace trireme {

Json parse_json(std::string_view text) { return Json::parse(text); }

Json parse_json_or_discard(std::string_view text) { return Json::parse(text, nullptr, false); }

}  // namespace trireme
