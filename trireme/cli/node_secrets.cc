// SPDX-License-Identifier: Apache-2.0
// One line of JSON.
#include "trireme/cli/node_secrets.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"

namespace trireme::cli {
namespace {

using Json = nlohmann::json;

std::string to_hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

// A JSON document whose texts are overwritten when it goes.
struct SecretJson {
  Json json;
  ~SecretJson() {
    for (Json& value : json)
      if (value.is_string()) wipe(value.get_ref<std::string&>());
  }
};

}  // namespace

std::string to_line(const NodeSecrets& secrets) {
  const SecretJson document{Json{{"coordinator", secrets.coordinator},
                                 {"authority", secrets.credentials.authority},
                                 {"certificate", secrets.credentials.certificate},
                                 {"private_key", secrets.credentials.key},
                                 {"job_key", to_hex(secrets.key)},
                                 {"host", secrets.host},
                                 {"slots", secrets.slots}}};
  return document.json.dump() + "\n";
}

NodeSecrets node_secrets(const std::string& line) {
  try {
    const SecretJson document{Json::parse(line)};
    const Json& json = document.json;
    return {.coordinator = json.at("coordinator"),
            .credentials = {.authority = json.at("authority"), .certificate = json.at("certificate"), .key = json.at("private_key")},
            .key = from_hex(json.at("job_key")),
            .host = json.at("host"),
            .slots = json.at("slots")};
  } catch (const std::exception&) {  // its text would quote what it read
    throw Error{invalid_argument, "the first line of standard input is not what a launcher sends; `trireme train` starts nodes by itself"};
  }
}

}  // namespace trireme::cli
