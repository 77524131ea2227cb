// SPDX-License-Identifier: Apache-2.0
// JSON: values, parsing, writing. Templates are instantiated in json.cc only: a file that does it by itself takes a second more.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace trireme {

using Json = nlohmann::ordered_json;  // objects keep the order in which they were filled

Json parse_json(std::string_view text);             // throws Json::exception
Json parse_json_or_discard(std::string_view text);  // is_discarded() if it is no JSON

}  // namespace trireme
