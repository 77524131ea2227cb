// SPDX-License-Identifier: Apache-2.0
// A word and one or two numbers.
#include "trireme/train/job/profile_window.h"

#include <charconv>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  if (text.starts_with('s')) text.remove_prefix(1);
  return text.starts_with(' ');
}

bool take_number(std::string_view& text, std::int64_t& number) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || number < 1) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

bool take_range(std::string_view text, ProfileWindow& window) {
  if (!take_number(text, window.first)) return false;
  window.last = window.first;
  if (text.empty()) return true;
  if (!text.starts_with('-')) return false;
  text.remove_prefix(1);
  return take_number(text, window.last) && text.empty() && window.last >= window.first;
}

}  // namespace

ProfileWindow parse_profile(std::string_view text) {
  ProfileWindow window;
  if (text.empty()) return window;
  std::string_view rest = text;
  if (take_word(rest, "step"))
    window.unit = ProfileWindow::Unit::steps;
  else if (take_word(rest, "epoch"))
    window.unit = ProfileWindow::Unit::epochs;
  if (!window.is_on() || !take_range(rest, window))
    throw Error{invalid_argument, "observe.profile = \"{}\": write which steps or epochs, e.g. \"steps 100-119\" or \"epochs 2-3\"", text};
  return window;
}

}  // namespace trireme::train
