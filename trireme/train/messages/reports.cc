// SPDX-License-Identifier: Apache-2.0
// Records as they are described, the rest field by field.
#include "trireme/train/messages/reports.h"

#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/observe/record_wire.h"
#include "trireme/train/messages/message_parsing.h"
#include "trireme/wire/training.pb.h"

namespace trireme::train {
namespace {

void fill(wire::CursorReport& to, const Cursor& cursor) {
  to.set_step(cursor.step);
  to.set_samples_seen(cursor.samples_seen);
  to.set_epoch(cursor.epoch);
  to.set_epoch_offset(cursor.epoch_offset);
  to.set_correct(cursor.correct);
  to.set_left_out(cursor.left_out);
  to.set_loss_sum(cursor.loss_sum);
  to.set_penalty(cursor.penalty);
  to.set_epoch_seconds(cursor.epoch_seconds);
  to.set_train_seconds(cursor.train_seconds);
  to.set_best(cursor.best);
  to.set_best_epoch(cursor.best_epoch);
  to.set_phase(cursor.phase);
  to.set_slots_from(cursor.slots_from);
}
Cursor cursor_of(const wire::CursorReport& from) {
  return {.step = from.step(),
          .samples_seen = from.samples_seen(),
          .epoch = from.epoch(),
          .epoch_offset = from.epoch_offset(),
          .correct = from.correct(),
          .left_out = from.left_out(),
          .loss_sum = from.loss_sum(),
          .penalty = from.penalty(),
          .epoch_seconds = from.epoch_seconds(),
          .train_seconds = from.train_seconds(),
          .best = from.best(),
          .best_epoch = from.best_epoch(),
          .phase = from.phase(),
          .slots_from = from.slots_from()};
}

void append(std::string& bytes, const std::vector<float>& values) {
  const auto stored = std::as_bytes(std::span(values));
  bytes.append(reinterpret_cast<const char*>(stored.data()), stored.size());
}

// Takes `count` floats from the front of `bytes`, of which there must be enough.
std::vector<float> take(std::string_view& bytes, std::int64_t count) {
  if (count < 0 || static_cast<std::uint64_t>(count) > bytes.size() / sizeof(float))
    throw Error{data_loss, "a checkpoint promises {} values and has {} bytes left", count, bytes.size()};
  std::vector<float> values(static_cast<std::size_t>(count));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));  // a model may have no states
  bytes.remove_prefix(values.size() * sizeof(float));
  return values;
}

}  // namespace

std::string pack(const Welcome& welcome) {
  wire::Brief out;
  out.set_job(welcome.job);
  return out.SerializeAsString();
}

Welcome unpack_welcome(const std::string& bytes) {
  const auto in = parse_message<wire::Brief>(bytes);
  return {.job = in.job()};
}

std::string pack(const Requests& requests) {
  wire::RequestReport out;
  out.set_stop(requests.stop);
  out.set_checkpoint(requests.checkpoint);
  out.set_regroup(requests.regroup);
  return out.SerializeAsString();
}

Requests unpack_requests(const std::string& bytes) {
  const auto in = parse_message<wire::RequestReport>(bytes);
  return {.stop = in.stop(), .checkpoint = in.checkpoint(), .regroup = in.regroup()};
}

std::string pack(const Finish& finish) {
  wire::FinishReport out;
  out.set_interrupted(finish.interrupted);
  out.set_stopped_early(finish.stopped_early);
  fill(*out.mutable_cursor(), finish.cursor);
  observe::write_record(*out.mutable_test(), finish.test);
  return out.SerializeAsString();
}

Finish unpack_finish(const std::string& bytes) {
  const auto in = parse_message<wire::FinishReport>(bytes);
  return {.interrupted = in.interrupted(),
          .stopped_early = in.stopped_early(),
          .cursor = cursor_of(in.cursor()),
          .test = observe::read_record<Score>(in.test())};
}

std::string pack(const Cursor& cursor) {
  wire::CursorReport out;
  fill(out, cursor);
  return out.SerializeAsString();
}

Cursor unpack_cursor(const std::string& bytes) { return cursor_of(parse_message<wire::CursorReport>(bytes)); }

std::string pack(const StepRecord& record) { return observe::pack_record(record); }
std::string pack(const EpochRecord& record) { return observe::pack_record(record); }
std::string pack(const StragglerRecord& record) { return observe::pack_record(record); }
std::string pack(const SlowLinkRecord& record) { return observe::pack_record(record); }
std::string pack(const ServerRecord& record) { return observe::pack_record(record); }
std::string pack(const SwitchRecord& record) { return observe::pack_record(record); }
StepRecord unpack_step(const std::string& bytes) { return observe::unpack_record<StepRecord>(bytes); }
EpochRecord unpack_epoch(const std::string& bytes) { return observe::unpack_record<EpochRecord>(bytes); }
StragglerRecord unpack_straggler(const std::string& bytes) { return observe::unpack_record<StragglerRecord>(bytes); }
SlowLinkRecord unpack_slow_link(const std::string& bytes) { return observe::unpack_record<SlowLinkRecord>(bytes); }
ServerRecord unpack_server(const std::string& bytes) { return observe::unpack_record<ServerRecord>(bytes); }
SwitchRecord unpack_switch(const std::string& bytes) { return observe::unpack_record<SwitchRecord>(bytes); }

// u32 length of the header, header, values.
std::string pack(const Checkpoint& checkpoint) {
  wire::CheckpointHeader header;
  fill(*header.mutable_cursor(), checkpoint.cursor);
  header.set_generation(checkpoint.generation);
  header.set_rank(checkpoint.rank);
  header.set_parameters(static_cast<std::int64_t>(checkpoint.parameters.size()));
  header.set_states(static_cast<std::int64_t>(checkpoint.states.size()));
  for (const std::string& name : checkpoint.slot_names) header.add_slot_names(name);
  header.set_has_best(checkpoint.best != nullptr);
  const std::string text = header.SerializeAsString();
  const auto length = static_cast<std::uint32_t>(text.size());
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes += text;
  append(bytes, checkpoint.parameters);
  append(bytes, checkpoint.states);
  for (const std::vector<float>& slot : checkpoint.slots) append(bytes, slot);
  if (checkpoint.best == nullptr) return bytes;
  append(bytes, checkpoint.best->parameters);
  append(bytes, checkpoint.best->states);
  return bytes;
}

Checkpoint unpack_checkpoint(std::string_view bytes) {
  std::uint32_t length = 0;
  if (bytes.size() < sizeof length) throw Error{data_loss, "a checkpoint of {} bytes has no header", bytes.size()};
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.remove_prefix(sizeof length);
  if (length > bytes.size()) throw Error{data_loss, "a checkpoint's header promises {} bytes, {} are there", length, bytes.size()};
  const auto header = parse_message<wire::CheckpointHeader>(std::string(bytes.substr(0, length)));
  bytes.remove_prefix(length);
  Checkpoint checkpoint{.cursor = cursor_of(header.cursor()), .generation = header.generation()};
  checkpoint.rank = header.rank();
  checkpoint.parameters = take(bytes, header.parameters());
  checkpoint.states = take(bytes, header.states());
  for (const std::string& name : header.slot_names()) {
    checkpoint.slot_names.push_back(name);
    checkpoint.slots.push_back(take(bytes, header.parameters()));
  }
  if (header.has_best()) {
    KeptWeights best{.parameters = take(bytes, header.parameters())};
    best.states = take(bytes, header.states());
    checkpoint.best = std::make_shared<const KeptWeights>(std::move(best));
  }
  if (!bytes.empty()) throw Error{data_loss, "{} bytes too many after a checkpoint", bytes.size()};
  return checkpoint;
}

}  // namespace trireme::train
