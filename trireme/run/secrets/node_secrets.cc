// SPDX-License-Identifier: Apache-2.0
// Packs a node's secrets into one line of JSON, and reads them back.
#include "trireme/run/secrets/node_secrets.h"

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/hexadecimal.h"
#include "trireme/base/json.h"

namespace trireme::run {
namespace {

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
    const SecretJson document{parse_json(line)};
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

}  // namespace trireme::run
