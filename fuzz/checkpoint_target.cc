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
#include "trireme/base/files.h"

namespace trireme::fuzz {
namespace {

std::string checksums_of(const std::vector<std::string_view>& pieces) {
  std::string sums;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
    sums += digest_of(Digest::Kind::sha256, pieces[i]) + "  " + std::string(kCheckpointFiles[i]) + "\n";
  return sums;
}

class Target {
 public:
  // An undamaged checkpoint must load: otherwise every input would end at the same early check.
  Target() {
    const train::CheckpointStore store(workspace_.path(), graph_);
    const std::filesystem::path saved = store.save(sample_checkpoint(graph_));
    std::vector<std::string> contents;
    for (const std::string_view name : kCheckpointFiles) contents.push_back(read_file(saved / name));
    load(pack(contents));
  }

  void load(std::string_view input) const {
    const std::vector<std::string_view> pieces = unpack(input, kCheckpointFiles.size());
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) overwrite(workspace_.path() / kCheckpointFiles[i], pieces[i]);
    const bool keep = pieces.back().starts_with("keep");
    overwrite(workspace_.path() / kCheckpointFiles.back(), keep ? std::string(pieces.back().substr(4)) : checksums_of(pieces));
    const train::Checkpoint checkpoint = train::load_checkpoint(workspace_.path(), graph_);
    if (checkpoint.parameters.size() != static_cast<std::size_t>(graph_.parameters().size())) std::abort();
    for (const auto& slot : checkpoint.slots)
      if (slot.size() != checkpoint.parameters.size()) std::abort();
  }

 private:
  Workspace workspace_;
  graph::Graph graph_ = sample_graph();
};

void run(std::string_view input) {
  static const Target target;
  try {
    target.load(input);
  } catch (const Error&) {  // what a damaged checkpoint should lead to
  }
}

}  // namespace
}  // namespace trireme::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  trireme::fuzz::run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
