// SPDX-License-Identifier: Apache-2.0
// Fuzzes the checkpoint reader. Checksums would keep every damage out, so they are made to fit unless the input's own say "keep".
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz/pieces.h"
#include "fuzz/sample_run.h"
#include "fuzz/workspace.h"
#include "trireme/base/digest.h"
#include "trireme/base/error.h"

namespace trireme::fuzz {
namespace {

std::string checksums_of(const std::vector<std::string_view>& pieces) {
  std::string sums;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
    sums += digest_of(Digest::Kind::sha256, pieces[i]) + "  " + std::string(kCheckpointFiles[i]) + "\n";
  return sums;
}

void run(std::string_view input) {
  static const Workspace workspace;
  static const graph::Graph graph = sample_graph();
  const std::vector<std::string_view> pieces = unpack(input, kCheckpointFiles.size());
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) overwrite(workspace.path() / kCheckpointFiles[i], pieces[i]);
  const bool keep = pieces.back().starts_with("keep");
  overwrite(workspace.path() / kCheckpointFiles.back(), keep ? std::string(pieces.back().substr(4)) : checksums_of(pieces));
  try {
    const train::Checkpoint checkpoint = train::load_checkpoint(workspace.path(), graph);
    if (checkpoint.parameters.size() != static_cast<std::size_t>(graph.parameters().size())) std::abort();
    for (const auto& slot : checkpoint.slots)
      if (slot.size() != checkpoint.parameters.size()) std::abort();
  } catch (const Error&) {  // what a damaged checkpoint should lead to
  }
}

}  // namespace
}  // namespace trireme::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  trireme::fuzz::run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
