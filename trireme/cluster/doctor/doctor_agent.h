// SPDX-License-Identifier: Apache-2.0
// The doctor's hands on a machine: answers its questions, a line each, until its input ends.
#pragma once

#include <filesystem>
#include <istream>
#include <ostream>
#include <string_view>

namespace trireme::cluster {

// Stands before each answer, a JSON object, to distinguish it from what a login prints.
inline constexpr std::string_view kAgentMark = "trireme-doctor ";

// Questions: "facts" -> {"facts": ...}; "time" -> {"time": seconds since 1970}; "listen ADDRESS TOKEN" -> {"port": ...};
// "connect ADDRESS PORT TOKEN MILLISECONDS" -> {"fault": ..., "words": ..., "round_trip": ..., "bits_per_second": ...}. What can't
// be done is {"error": words}. Listens on the given address only, and only until the input ends.
void serve_doctor(std::istream& in, std::ostream& out, const std::filesystem::path& folder);

}  // namespace trireme::cluster
