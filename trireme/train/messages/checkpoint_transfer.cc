// SPDX-License-Identifier: Apache-2.0
// Pieces of at most a megabyte, in order.
#include "trireme/train/messages/checkpoint_transfer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "trireme/base/crc32c.h"
#include "trireme/base/error.h"
#include "trireme/base/rollback.h"
#include "trireme/train/messages/reports.h"
#include "trireme/wire/training.pb.h"

namespace trireme::train {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::string_view kUnwritten = "unwritten";  // the reply if the disk refused it

wire::Piece piece_of(const std::string& bytes) {
  wire::Piece piece;
  if (!piece.ParseFromString(bytes)) throw Error{invalid_argument, "{} bytes that are no piece of a checkpoint", bytes.size()};
  return piece;
}

wire::Piece cut(const std::string& bytes, std::size_t offset, std::int64_t number, std::uint64_t generation) {
  wire::Piece piece;
  piece.set_generation(generation);
  piece.set_number(number);
  piece.set_offset(static_cast<std::int64_t>(offset));
  piece.set_total(static_cast<std::int64_t>(bytes.size()));
  piece.set_bytes(bytes.substr(offset, kPieceBytes));
  return piece;
}

}  // namespace

CheckpointDesk::CheckpointDesk(std::int64_t most_bytes, std::function<bool(Checkpoint)> keep)
    : most_bytes_(most_bytes), keep_(std::move(keep)) {}

void CheckpointDesk::offer(const Checkpoint& checkpoint) {
  const std::lock_guard lock(mutex_);
  offered_ = pack(checkpoint);
  offered_position_ = checkpoint.position();
}

void CheckpointDesk::begin_generation(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  generation_ = number;
  number_ = -1;
  received_ = 0;
  incoming_.clear();
}

std::string CheckpointDesk::get(const std::string& request) {
  wire::CheckpointRequest wanted;
  if (!wanted.ParseFromString(request)) throw Error{invalid_argument, "{} bytes that ask for no checkpoint", request.size()};
  const std::lock_guard lock(mutex_);
  if (offered_position_ <= Position{.generation = wanted.generation(), .step = wanted.step(), .epoch = wanted.epoch()})
    return wire::Piece{}.SerializeAsString();
  if (wanted.offset() < 0 || wanted.offset() >= static_cast<std::int64_t>(offered_.size()))
    throw Error{out_of_range, "there is no byte {} in a checkpoint of {}", wanted.offset(), offered_.size()};
  return cut(offered_, static_cast<std::size_t>(wanted.offset()), offered_position_.step, generation_).SerializeAsString();
}

std::string CheckpointDesk::put(const std::string& request) {
  const wire::Piece piece = piece_of(request);
  const std::lock_guard lock(mutex_);
  if (piece.generation() != generation_)
    throw Error{failed_precondition, "a checkpoint of generation {} comes too late: {} holds", piece.generation(), generation_};
  if (piece.total() < 0 || piece.total() > most_bytes_)
    throw Error{resource_exhausted, "a checkpoint of {} bytes is larger than this model's can be ({})", piece.total(), most_bytes_};
  const std::int64_t end = piece.offset() + static_cast<std::int64_t>(piece.bytes().size());
  if (piece.number() == number_ && piece.checksum() == checksum_ && end <= received_)  // sent again
    return received_ == piece.total() ? reply_ : std::string{};
  receive(piece);
  if (received_ == piece.total()) reply_ = keep();
  return received_ == piece.total() ? reply_ : std::string{};
}

void CheckpointDesk::receive(const wire::Piece& piece) {
  if (piece.offset() == 0) {
    number_ = piece.number();
    checksum_ = piece.checksum();
    received_ = 0;
    incoming_.clear();
  }
  const std::int64_t end = piece.offset() + static_cast<std::int64_t>(piece.bytes().size());
  if (piece.number() != number_ || piece.checksum() != checksum_ || piece.offset() != received_ || end > piece.total())
    throw Error{failed_precondition, "a piece of a checkpoint at {} does not follow the one before it", piece.offset()};
  incoming_ += piece.bytes();
  received_ = end;
}

std::string CheckpointDesk::keep() {
  std::string whole = std::exchange(incoming_, {});
  Rollback failed([this] { number_ = -1; });  // it may be handed in again
  Checkpoint checkpoint = unpack_checkpoint(whole);
  const Position position = checkpoint.position();
  const bool is_kept = keep_(std::move(checkpoint));
  failed.keep();
  if (!is_kept) return std::string(kUnwritten);
  offered_ = std::move(whole);
  offered_position_ = position;
  return {};
}

bool hand_in(const Checkpoint& checkpoint, const CallDesk& put) {
  const std::string bytes = pack(checkpoint);
  const auto generation = static_cast<std::uint64_t>(checkpoint.generation);
  const std::uint32_t checksum = crc32c(bytes);
  std::string reply;
  for (std::size_t offset = 0; offset < bytes.size(); offset += kPieceBytes) {
    wire::Piece piece = cut(bytes, offset, checkpoint.cursor.step, generation);
    piece.set_checksum(checksum);
    reply = put(piece.SerializeAsString());
  }
  return reply != kUnwritten;
}

std::optional<Checkpoint> ask_for(const Position& newer_than, const CallDesk& get) {
  std::string bytes;
  std::int64_t total = 1;
  while (static_cast<std::int64_t>(bytes.size()) < total) {
    wire::CheckpointRequest wanted;
    wanted.set_generation(newer_than.generation);
    wanted.set_step(newer_than.step);
    wanted.set_epoch(newer_than.epoch);
    wanted.set_offset(static_cast<std::int64_t>(bytes.size()));
    const wire::Piece piece = piece_of(get(wanted.SerializeAsString()));
    if (piece.total() == 0) return std::nullopt;
    if (piece.bytes().empty()) throw Error{data_loss, "the checkpoint ends after {} of {} bytes", bytes.size(), piece.total()};
    total = piece.total();
    bytes += piece.bytes();
  }
  return unpack_checkpoint(bytes);
}

}  // namespace trireme::train
