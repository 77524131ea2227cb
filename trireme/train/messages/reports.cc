// SPDX-License-Identifier: Apache-2.0
// Field by field.
#include "trireme/train/messages/reports.h"

#include <cstring>
#include <span>

#include "trireme/base/error.h"
#include "trireme/train/messages/message_parsing.h"
#include "trireme/wire/training.pb.h"

namespace trireme::train {
namespace {

void fill(wire::ScoreReport& to, const Score& score) {
  to.set_samples(score.samples);
  to.set_loss(score.loss);
  to.set_accuracy(score.accuracy);
}
Score score_of(const wire::ScoreReport& from) { return {.samples = from.samples(), .loss = from.loss(), .accuracy = from.accuracy()}; }

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

std::string pack(const StepRecord& record) {
  wire::StepReport out;
  out.set_step(record.step);
  out.set_epoch(record.epoch);
  out.set_samples_seen(record.samples_seen);
  out.set_samples_total(record.samples_total);
  fill(*out.mutable_batch(), record.batch);
  fill(*out.mutable_epoch_mean(), record.epoch_mean);
  out.set_learning_rate(record.learning_rate);
  out.set_samples_per_second(record.samples_per_second);
  out.set_workers(record.workers);
  out.set_seconds(record.seconds);
  out.set_wait_seconds(record.wait_seconds);
  out.set_compute_seconds(record.compute_seconds);
  out.set_exchange_seconds(record.exchange_seconds);
  out.set_optimizer_seconds(record.optimizer_seconds);
  out.set_hidden_seconds(record.hidden_seconds);
  out.set_worker(record.worker);
  out.set_staleness(record.staleness);
  out.set_noise_scale(record.noise_scale);
  out.set_skipped_steps(record.skips.steps);
  for (const int rank : record.skips.ranks) out.add_faulty_ranks(rank);
  return out.SerializeAsString();
}

StepRecord unpack_step(const std::string& bytes) {
  const auto in = parse_message<wire::StepReport>(bytes);
  return {.step = in.step(),
          .epoch = in.epoch(),
          .samples_seen = in.samples_seen(),
          .samples_total = in.samples_total(),
          .batch = score_of(in.batch()),
          .epoch_mean = score_of(in.epoch_mean()),
          .learning_rate = in.learning_rate(),
          .samples_per_second = in.samples_per_second(),
          .workers = in.workers(),
          .seconds = in.seconds(),
          .wait_seconds = in.wait_seconds(),
          .compute_seconds = in.compute_seconds(),
          .exchange_seconds = in.exchange_seconds(),
          .optimizer_seconds = in.optimizer_seconds(),
          .hidden_seconds = in.hidden_seconds(),
          .worker = in.worker(),
          .staleness = in.staleness(),
          .noise_scale = in.noise_scale(),
          .skips = {.steps = in.skipped_steps(), .ranks = {in.faulty_ranks().begin(), in.faulty_ranks().end()}}};
}

std::string pack(const EpochRecord& record) {
  wire::EpochReport out;
  out.set_epoch(record.epoch);
  fill(*out.mutable_train(), record.train);
  out.set_penalty(record.penalty);
  out.set_learning_rate(record.learning_rate);
  fill(*out.mutable_validation(), record.validation);
  fill(*out.mutable_test(), record.test);
  out.set_seconds(record.seconds);
  out.set_samples_per_second(record.samples_per_second);
  out.set_wait_seconds(record.wait_seconds);
  out.set_background_seconds(record.background_seconds);
  out.set_exchange_seconds(record.exchange_seconds);
  out.set_hidden_seconds(record.hidden_seconds);
  return out.SerializeAsString();
}

EpochRecord unpack_epoch(const std::string& bytes) {
  const auto in = parse_message<wire::EpochReport>(bytes);
  return {.epoch = in.epoch(),
          .train = score_of(in.train()),
          .penalty = in.penalty(),
          .learning_rate = in.learning_rate(),
          .validation = score_of(in.validation()),
          .test = score_of(in.test()),
          .seconds = in.seconds(),
          .samples_per_second = in.samples_per_second(),
          .wait_seconds = in.wait_seconds(),
          .background_seconds = in.background_seconds(),
          .exchange_seconds = in.exchange_seconds(),
          .hidden_seconds = in.hidden_seconds()};
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
  fill(*out.mutable_test(), finish.test);
  return out.SerializeAsString();
}

Finish unpack_finish(const std::string& bytes) {
  const auto in = parse_message<wire::FinishReport>(bytes);
  return {
      .interrupted = in.interrupted(), .stopped_early = in.stopped_early(), .cursor = cursor_of(in.cursor()), .test = score_of(in.test())};
}

std::string pack(const Cursor& cursor) {
  wire::CursorReport out;
  fill(out, cursor);
  return out.SerializeAsString();
}

Cursor unpack_cursor(const std::string& bytes) { return cursor_of(parse_message<wire::CursorReport>(bytes)); }

std::string pack(const StragglerRecord& record) {
  wire::StragglerReport out;
  out.set_rank(record.rank);
  out.set_slowness(record.slowness);
  out.set_share(record.share);
  return out.SerializeAsString();
}

StragglerRecord unpack_straggler(const std::string& bytes) {
  const auto in = parse_message<wire::StragglerReport>(bytes);
  return {.rank = in.rank(), .slowness = in.slowness(), .share = in.share()};
}

std::string pack(const SlowLinkRecord& record) {
  wire::SlowLinkReport out;
  out.set_rank(record.rank);
  out.set_bytes_per_second(record.bytes_per_second);
  out.set_typical(record.typical);
  out.set_wait_share(record.wait_share);
  return out.SerializeAsString();
}

SlowLinkRecord unpack_slow_link(const std::string& bytes) {
  const auto in = parse_message<wire::SlowLinkReport>(bytes);
  return {.rank = in.rank(), .bytes_per_second = in.bytes_per_second(), .typical = in.typical(), .wait_share = in.wait_share()};
}

std::string pack(const ServerRecord& record) {
  wire::ServerReport out;
  out.set_server(record.server);
  out.set_servers(record.servers);
  out.set_workers(record.workers);
  out.set_epoch(record.epoch);
  out.set_parameter_bytes(record.parameter_bytes);
  out.set_imbalance(record.imbalance);
  out.set_seconds(record.seconds);
  out.set_busy_seconds(record.busy_seconds);
  out.set_held_seconds(record.held_seconds);
  out.set_pushes(record.pushes);
  out.set_dropped(record.dropped);
  out.set_bytes_in(record.bytes_in);
  out.set_bytes_out(record.bytes_out);
  out.mutable_staleness()->Add(record.staleness.begin(), record.staleness.end());
  out.set_most_ahead(record.most_ahead);
  out.set_wait_share(record.wait_share);
  out.set_servers_needed(record.servers_needed);
  return out.SerializeAsString();
}

ServerRecord unpack_server(const std::string& bytes) {
  const auto in = parse_message<wire::ServerReport>(bytes);
  return {.server = in.server(),
          .servers = in.servers(),
          .workers = in.workers(),
          .epoch = in.epoch(),
          .parameter_bytes = in.parameter_bytes(),
          .imbalance = in.imbalance(),
          .seconds = in.seconds(),
          .busy_seconds = in.busy_seconds(),
          .held_seconds = in.held_seconds(),
          .pushes = in.pushes(),
          .dropped = in.dropped(),
          .bytes_in = in.bytes_in(),
          .bytes_out = in.bytes_out(),
          .staleness = {in.staleness().begin(), in.staleness().end()},
          .most_ahead = in.most_ahead(),
          .wait_share = in.wait_share(),
          .servers_needed = in.servers_needed()};
}

// u32 length of the header, header, values.
std::string pack(const Checkpoint& checkpoint) {
  wire::CheckpointHeader header;
  fill(*header.mutable_cursor(), checkpoint.cursor);
  header.set_generation(checkpoint.generation);
  header.set_rank(checkpoint.rank);
  header.set_parameters(static_cast<std::int64_t>(checkpoint.parameters.size()));
  header.set_states(static_cast<std::int64_t>(checkpoint.states.size()));
  for (const std::string& name : checkpoint.slot_names) header.add_slot_names(name);
  const std::string text = header.SerializeAsString();
  const auto length = static_cast<std::uint32_t>(text.size());
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes += text;
  append(bytes, checkpoint.parameters);
  append(bytes, checkpoint.states);
  for (const std::vector<float>& slot : checkpoint.slots) append(bytes, slot);
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
  if (!bytes.empty()) throw Error{data_loss, "{} bytes too many after a checkpoint", bytes.size()};
  return checkpoint;
}

}  // namespace trireme::train
