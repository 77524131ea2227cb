// SPDX-License-Identifier: Apache-2.0
// Reads the doctor's questions from a stream and answers each with a line of JSON.
#include "trireme/cluster/doctor/doctor_agent.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/json.h"
#include "trireme/cluster/doctor/link_probe.h"
#include "trireme/cluster/doctor/machine_facts.h"

namespace trireme::cluster {
namespace {

class Agent {
 public:
  explicit Agent(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Json answer(const std::string& question) {
    std::istringstream words(question);
    std::string verb;
    words >> verb;
    try {
      if (verb == "facts") return {{"facts", parse_json(to_json(this_machine(folder_)))}};
      if (verb == "time") return {{"time", std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()}};
      if (verb == "listen") return listen(words);
      if (verb == "connect") return connect(words);
      return {{"error", "unknown question"}};
    } catch (const Error& error) {  // a handler of requests: the doctor learns of it
      return {{"error", error.what()}};
    }
  }

 private:
  Json listen(std::istringstream& words) {
    constexpr auto kLifetime = std::chrono::minutes(5);
    std::string address;
    std::string token;
    words >> address >> token;
    listener_ = std::make_unique<LinkListener>(address, token, kLifetime);
    return {{"port", listener_->port()}};
  }

  static Json connect(std::istringstream& words) {
    constexpr std::int64_t kLongest = 5000;
    LinkTry link;
    std::int64_t sending = 0;
    words >> link.address >> link.port >> link.token >> sending;
    link.sending = std::chrono::milliseconds(std::clamp<std::int64_t>(sending, 0, kLongest));
    const LinkResult result = try_link(link);
    return {
        {"fault", result.fault}, {"words", result.words}, {"round_trip", result.round_trip}, {"bits_per_second", result.bits_per_second}};
  }

  std::filesystem::path folder_;
  std::unique_ptr<LinkListener> listener_;
};

}  // namespace

void serve_doctor(std::istream& in, std::ostream& out, const std::filesystem::path& folder) {
  Agent agent(folder);
  for (std::string question; std::getline(in, question);)
    out << kAgentMark << agent.answer(question).dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

}  // namespace trireme::cluster
