// SPDX-License-Identifier: Apache-2.0
// F25: what a node with a good certificate can do to the coordinator with messages.
#include <fmt/format.h>

#include "tests/faults/parts.h"

namespace trireme::tests::rows {
namespace {

Outcome messages(Scene&) {
  Outcome outcome;
  const int count = run_tests("trireme_rpc_test", "Limits.*:ServerTest.Oversize*", outcome);
  outcome.result = fmt::format("{} tests: refused, memory within the server's limit, others are answered", count);
  return outcome;
}

}  // namespace

Rows f25_messages() {
  return {{.id = "F25.messages", .fault = "oversize, compressed, a flood of tiny ones, 64 MB of metadata", .run = messages}};
}

}  // namespace trireme::tests::rows
