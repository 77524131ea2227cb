// SPDX-License-Identifier: Apache-2.0
// Lines of a node's event journal.
#include "trireme/train/node/node_history.h"

#include <fmt/format.h>
#include <unistd.h>

#include "trireme/base/crc32c.h"
#include "trireme/data/source/division.h"

namespace trireme::train {
namespace {

std::string digest(std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  return fmt::format("{:08x}", crc32c(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
}

}  // namespace

NodeHistory::NodeHistory(const std::filesystem::path& folder, const std::string& node) {
  if (folder.empty()) return;
  journal_.emplace(folder / fmt::format("node-{}-{}.jsonl", node, ::getpid()));
  write("start", {{"node", node}, {"process", std::int64_t{::getpid()}}});
}

void NodeHistory::write(std::string_view type, const observe::Fields& fields) {
  if (journal_) journal_->write(type, fields);
}

void NodeHistory::joined(const coord::Generation& generation, const Trainer& trainer, const Joined& how) {
  if (!journal_) return;
  generation_ = static_cast<std::int64_t>(generation.number);
  const Cursor& cursor = trainer.cursor();
  last_step_ = cursor.step;
  by_lease_ = trainer.team().is_by_lease;
  write("joined", {{"generation", generation_.load()},
                   {"rank", std::int64_t{trainer.team().rank}},
                   {"size", std::int64_t{generation.size()}},
                   {"step", cursor.step},
                   {"epoch", cursor.epoch},
                   {"offset", cursor.epoch_offset},
                   {"samples", how.samples},
                   {"batch_size", how.batch_size},
                   {"root", std::int64_t{how.root}},
                   {"by_lease", by_lease_},
                   {"resumed", trainer.team().is_resumed},
                   {"weights", digest(trainer.replica().parameters())}});
}

PushEvents NodeHistory::push_events() {
  if (!journal_) return {};
  return {.applied =
              [this](const ps::Applied& push) {
                write("applied", {{"worker", push.worker},
                                  {"id", static_cast<std::int64_t>(push.id)},
                                  {"taken", push.taken},
                                  {"whole", push.is_whole},
                                  {"stretch", push.stretch},
                                  {"lease", push.lease},
                                  {"samples", push.samples},
                                  {"pieces", static_cast<std::int64_t>(push.pieces)},
                                  {"all", static_cast<std::int64_t>(push.all)}});
              },
          .acknowledged =
              [this](std::uint64_t id) {
                write("acknowledged", {{"id", static_cast<std::int64_t>(id)}});
              },
          .used =
              [this](const ps::WorkDone& done, std::int64_t epoch) {
                write("used", {{"generation", generation_.load()},
                               {"epoch", epoch},
                               {"begin", done.lease.begin},
                               {"end", done.lease.end},
                               {"worker", done.worker},
                               {"stretch", done.stretch},
                               {"lease", done.first_lease}});
              }};
}

void NodeHistory::stepped(const Trainer& trainer) {
  const LastBatch& batch = trainer.team().last_batch;
  if (!journal_ || by_lease_ || batch.shares.empty()) return;  // without shares: it failed before its first batch
  const Cursor& cursor = trainer.cursor();
  if (cursor.step > last_step_) {
    last_step_ = cursor.step;
    const data::Range part = data::part_of(batch.whole, batch.shares, trainer.team().rank);
    write("stepped", {{"generation", generation_.load()},
                      {"step", cursor.step},
                      {"epoch", batch.epoch},
                      {"offset", batch.offset},
                      {"whole", batch.whole},
                      {"begin", part.begin},
                      {"end", part.end},
                      {"weights", digest(trainer.replica().parameters())}});
  }
  if (cursor.epoch_offset == 0) write("epoch", {{"generation", generation_.load()}, {"epoch", cursor.epoch - 1}});
}

void NodeHistory::handed(std::int64_t step) { write("handed", {{"generation", generation_.load()}, {"step", step}}); }

void NodeHistory::broken(std::int64_t step, std::string_view cause) {
  write("broken", {{"generation", generation_.load()}, {"step", step}, {"cause", std::string(cause)}});
}

void NodeHistory::ended(std::string_view reason) { write("ended", {{"reason", std::string(reason)}}); }

}  // namespace trireme::train
