// SPDX-License-Identifier: Apache-2.0
// A listener to the JSON parser, so that a header costs no tree and anything unexpected ends it at once.
#include "trireme/tensor/safetensors_header.h"

#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/json.h"

namespace trireme {
namespace {

constexpr std::size_t kShownName = 80;
constexpr std::string_view kMetadata = "__metadata__";

class HeaderListener final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderListener(const std::string& place) : place_(place) {}

  SafetensorsHeader header;

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a truth value"); }
  bool number_integer(number_integer_t value) override { unexpected(fmt::format("the number {}", value)); }
  bool number_float(number_float_t, const string_t& text) override { unexpected("the number " + text.substr(0, kShownName)); }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::shape) {
      header.rows.back().shape.push_back(value);
    } else if (state_ == State::offsets && offsets_ < 2) {
      header.rows.back().data_offsets[offsets_++] = value;
    } else {
      unexpected(fmt::format("the number {}", value));
    }
    return true;
  }

  bool string(string_t& text) override {
    if (state_ == State::metadata) {
      if (!header.metadata.emplace(key_, std::move(text)).second) fail("key {} of {} is there twice", shown_name(key_), kMetadata);
    } else if (state_ == State::tensor && key_ == "dtype") {
      header.rows.back().dtype = std::move(text);
    } else {
      unexpected("a text");
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (state_ == State::begin) {
      state_ = State::names;
    } else if (state_ == State::names && key_ == kMetadata) {
      if (std::exchange(has_metadata_, true)) fail("{} is there twice", kMetadata);
      state_ = State::metadata;
    } else if (state_ == State::names) {
      header.rows.push_back({.name = key_});
      seen_ = {};
      state_ = State::tensor;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(string_t& text) override {
    key_ = std::move(text);
    if (state_ == State::tensor) note_key();
    return true;
  }

  bool end_object() override {
    if (state_ == State::tensor) check_keys();
    state_ = state_ == State::names ? State::end : State::names;
    return true;
  }

  bool start_array(std::size_t) override {
    if (state_ == State::tensor && key_ == "shape") {
      state_ = State::shape;
    } else if (state_ == State::tensor && key_ == "data_offsets") {
      state_ = State::offsets;
      offsets_ = 0;
    } else {
      unexpected("a list");
    }
    return true;
  }

  bool end_array() override {
    if (state_ == State::offsets && offsets_ != 2) fail("data_offsets of {} are not two numbers", shown_name(header.rows.back().name));
    state_ = State::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    fail("no valid JSON at its byte {}", position);
  }

 private:
  enum class State { begin, names, metadata, tensor, shape, offsets, end };
  static constexpr std::array<std::string_view, 3> kKeys = {"dtype", "shape", "data_offsets"};

  void note_key() {
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (key_ != kKeys[i]) continue;
      if (std::exchange(seen_[i], true)) fail("{} of {} is there twice", key_, shown_name(header.rows.back().name));
      return;
    }
    fail("{} has the unknown key {}", shown_name(header.rows.back().name), shown_name(key_));
  }

  void check_keys() const {
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (!seen_[i]) fail("{} has no {}", shown_name(header.rows.back().name), kKeys[i]);
    }
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error{data_loss, "{}: {}", place_, fmt::format(format, std::forward<Args>(args)...)};
  }

  [[noreturn]] void unexpected(std::string_view what) const {
    if (state_ == State::begin) fail("{} instead of an object", what);
    fail("{} where none belongs, after the key {}", what, shown_name(key_));
  }

  const std::string& place_;
  State state_ = State::begin;
  std::string key_;  // the last one read
  std::array<bool, 3> seen_{};
  std::size_t offsets_ = 0;
  bool has_metadata_ = false;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& place) {
  HeaderListener listener(place);
  Json::sax_parse(json, &listener);
  return std::move(listener.header);
}

std::string shown_name(std::string_view name) {
  const std::string text = Json(std::string(name.substr(0, kShownName))).dump(-1, ' ', true, Json::error_handler_t::replace);
  return name.size() > kShownName ? text + "..." : text;
}

}  // namespace trireme
