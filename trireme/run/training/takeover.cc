// SPDX-License-Identifier: Apache-2.0
// One JSON object in a file of mode 0600.
#include "trireme/run/training/takeover.h"

#include <fmt/format.h>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/hexadecimal.h"
#include "trireme/base/json.h"

namespace trireme::run {

std::filesystem::path takeover_file(const std::filesystem::path& run) { return run / "coordinator.json"; }

Takeover::File::File(std::filesystem::path path, const Takeover& takeover) : path_(std::move(path)) {
  write_secret_file(path_, Json{{"secret", to_hex(takeover.secret)},
                                {"port", takeover.port},
                                {"launcher", takeover.launcher},
                                {"addresses", takeover.addresses},
                                {"nodes", takeover.nodes}}
                               .dump());
}

Takeover::File::~File() {
  std::error_code gone;
  if (!path_.empty()) std::filesystem::remove(path_, gone);
}

std::optional<Takeover> read_takeover(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  constexpr std::uintmax_t kMaxBytes = 1 << 20;
  const std::string text = read_file(file, kMaxBytes);
  try {
    const Json json = parse_json(text);
    return Takeover{.secret = from_hex(json.at("secret")),
                    .port = json.at("port"),
                    .launcher = json.at("launcher"),
                    .addresses = json.at("addresses"),
                    .nodes = json.at("nodes")};
  } catch (const std::exception&) {  // its text would quote the secret
    throw Error{data_loss, "{} is not what a coordinator leaves; remove it to resume without the nodes that may still wait", file.string()};
  }
}

}  // namespace trireme::run
