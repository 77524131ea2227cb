// SPDX-License-Identifier: Apache-2.0
// The manifest as JSON and back.
#include "trireme/train/checkpoint/manifest.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/json.h"
#include "trireme/train/checkpoint/checkpoint_layout.h"

namespace trireme::train {
namespace {

constexpr std::string_view kFormat = "trireme-checkpoint";
constexpr std::int64_t kVersion = 2;             // the newest that is read
constexpr std::int64_t kVersionWithoutBest = 1;  // written where a Trireme from before can read all of it

// One list of the fields for both directions.
template <class AnyCursor, class Visit>
void visit_fields(AnyCursor& cursor, Visit visit) {
  static_assert(sizeof(Cursor) == 14 * sizeof(double), "a new field of Cursor needs its line here");
  visit("step", cursor.step);
  visit("samples_seen", cursor.samples_seen);
  visit("epoch", cursor.epoch);
  visit("epoch_offset", cursor.epoch_offset);
  visit("correct", cursor.correct);
  visit("left_out", cursor.left_out);
  visit("loss_sum", cursor.loss_sum);
  visit("penalty", cursor.penalty);
  visit("epoch_seconds", cursor.epoch_seconds);
  visit("train_seconds", cursor.train_seconds);
  visit("best", cursor.best);
  visit("best_epoch", cursor.best_epoch);
  visit("phase", cursor.phase);
  visit("slots_from", cursor.slots_from);
}

// Checkpoints made before there were switches, or skipped steps, lack them.
bool is_newer(std::string_view name) { return name == "phase" || name == "slots_from" || name == "left_out"; }

Json to_json(std::int64_t value) { return value; }

// JSON has no word for infinity and NaN.
Json to_json(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("0x{:016x}", std::bit_cast<std::uint64_t>(value));
}

Json to_json(const std::vector<float>& values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(to_json(static_cast<double>(value)));
  return list;
}

void from_json(const Json& json, std::int64_t& value) {
  if (!json.is_number_integer()) throw Error{data_loss, "a whole number is missing"};
  value = json.get<std::int64_t>();
}

void from_json(const Json& json, double& value) {
  if (json.is_number()) {
    value = json.get<double>();
    return;
  }
  const auto& text = json.get_ref<const std::string&>();
  std::uint64_t bits = 0;
  const char* end = text.data() + text.size();
  const bool prefixed = text.starts_with("0x");
  if (!prefixed || std::from_chars(text.data() + 2, end, bits, 16).ptr != end) throw Error{data_loss, "'{}' is no number", text};
  value = std::bit_cast<double>(bits);
}

std::vector<float> floats(const Json& json) {
  std::vector<float> values;
  for (const Json& element : json) {
    double value = 0;
    from_json(element, value);
    values.push_back(static_cast<float>(value));
  }
  return values;
}

void check_version(const Json& json, const std::string& place) {
  if (json.at("format") != kFormat) throw Error{data_loss, "its format is not {}", kFormat};
  std::int64_t version = 0;
  from_json(json.at("version"), version);
  if (version > kVersion)
    throw Error{failed_precondition, "{} has format version {}, this Trireme reads up to version {}; use a newer Trireme", place, version,
                kVersion};
  if (version < 1) throw Error{data_loss, "there is no format version {}", version};
}

Manifest from_json(const Json& json) {
  Manifest manifest;
  const Json& cursor = json.at("cursor");
  visit_fields(manifest.cursor, [&](const char* name, auto& value) {
    if (cursor.contains(name) || !is_newer(name)) from_json(cursor.at(name), value);
  });
  from_json(json.at("generation"), manifest.generation);
  manifest.model = json.at("model").get<std::string>();
  manifest.slot_names = json.at("slots").get<std::vector<std::string>>();
  const Json& normalization = json.at("normalization");
  manifest.normalization = {.kind = normalization.at("kind").get<std::string>(),
                            .mean = floats(normalization.at("mean")),
                            .scale = floats(normalization.at("scale"))};
  manifest.class_names = json.at("class_names").get<std::vector<std::string>>();
  manifest.bytes = json.at("bytes").get<std::map<std::string, std::uintmax_t>>();
  return manifest;
}

}  // namespace

std::string manifest_text(const Manifest& manifest) {
  const bool has_best = manifest.bytes.contains(std::string(kBestFile));
  Json json = {{"format", kFormat}, {"version", has_best ? kVersion : kVersionWithoutBest}, {"model", manifest.model}};
  visit_fields(manifest.cursor, [&](const char* name, const auto& value) { json["cursor"][name] = to_json(value); });
  json["generation"] = manifest.generation;
  json["slots"] = manifest.slot_names;
  json["normalization"] = {{"kind", manifest.normalization.kind},
                           {"mean", to_json(manifest.normalization.mean)},
                           {"scale", to_json(manifest.normalization.scale)}};
  json["class_names"] = manifest.class_names;
  json["bytes"] = manifest.bytes;
  // Class names may be names of folders, which need not be UTF-8; that must not cost the checkpoint.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Manifest parse_manifest(std::string_view text, const std::string& place) {
  try {
    const Json json = parse_json(text);
    check_version(json, place);
    return from_json(json);
  } catch (const Json::exception& error) {  // a foreign exception becomes an Error
    throw Error{data_loss, "{} is no manifest of a checkpoint: {}", place, error.what()};
  } catch (const Error& error) {  // values that JSON can hold and a manifest can't
    if (error.code() != data_loss) throw;
    throw Error{data_loss, "{} is no manifest of a checkpoint: {}", place, error.what()};
  }
}

}  // namespace trireme::train
