// SPDX-License-Identifier: Apache-2.0
// An option is described once: a struct has `void describe(T&, OptionVisitor&)`, and parsing, range checks, help and dumps visit it.
#pragma once

#include <any>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/config.h"

namespace trireme {

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;

  void operator()(std::string_view name, std::int64_t& value, std::string_view help, std::int64_t min = -kNoLimit,
                  std::int64_t max = kNoLimit) {
    integer(name, value, help, min, max);
  }
  void operator()(std::string_view name, double& value, std::string_view help, double min = -std::numeric_limits<double>::infinity(),
                  double max = std::numeric_limits<double>::infinity()) {
    real(name, value, help, min, max);
  }
  void operator()(std::string_view name, bool& value, std::string_view help) { boolean(name, value, help); }
  // `choices` empty: any text.
  void operator()(std::string_view name, std::string& value, std::string_view help, const std::vector<std::string_view>& choices = {}) {
    text(name, value, help, choices);
  }
  void operator()(std::string_view name, std::vector<double>& value, std::string_view help) { reals(name, value, help); }
  // A single text is accepted for a list of one.
  void operator()(std::string_view name, std::vector<std::string>& value, std::string_view help) { texts(name, value, help); }

 protected:
  virtual void integer(std::string_view name, std::int64_t& value, std::string_view help, std::int64_t min, std::int64_t max) = 0;
  virtual void real(std::string_view name, double& value, std::string_view help, double min, double max) = 0;
  virtual void boolean(std::string_view name, bool& value, std::string_view help) = 0;
  virtual void text(std::string_view name, std::string& value, std::string_view help, const std::vector<std::string_view>& choices) = 0;
  virtual void reals(std::string_view name, std::vector<double>& value, std::string_view help) = 0;
  virtual void texts(std::string_view name, std::vector<std::string>& value, std::string_view help) = 0;
};

// Fills options from a table of a configuration file. A key no option has is an error that names the nearest
// one; `finish` must be called after the visits. Keys in `reserved` belong to other code and are passed over.
class OptionReader final : public OptionVisitor {
 public:
  // `place` begins each message, e.g. "layer 'conv1' (conv2d)".
  OptionReader(const Config& table, std::string place, std::vector<std::string_view> reserved = {});
  void finish() const;

 protected:
  void integer(std::string_view name, std::int64_t& value, std::string_view help, std::int64_t min, std::int64_t max) override;
  void real(std::string_view name, double& value, std::string_view help, double min, double max) override;
  void boolean(std::string_view name, bool& value, std::string_view help) override;
  void text(std::string_view name, std::string& value, std::string_view help, const std::vector<std::string_view>& choices) override;
  void reals(std::string_view name, std::vector<double>& value, std::string_view help) override;
  void texts(std::string_view name, std::vector<std::string>& value, std::string_view help) override;

 private:
  const Config* find(std::string_view name);

  const Config& table_;
  std::string place_;
  std::vector<std::string_view> known_;
};

// What help, docs and `--print-config` show of an option.
struct OptionRow {
  std::string name;
  std::string value;
  std::string limits;
  std::string help;
};

class OptionLister final : public OptionVisitor {
 public:
  std::vector<OptionRow> rows;

 protected:
  void integer(std::string_view name, std::int64_t& value, std::string_view help, std::int64_t min, std::int64_t max) override;
  void real(std::string_view name, double& value, std::string_view help, double min, double max) override;
  void boolean(std::string_view name, bool& value, std::string_view help) override;
  void text(std::string_view name, std::string& value, std::string_view help, const std::vector<std::string_view>& choices) override;
  void reals(std::string_view name, std::vector<double>& value, std::string_view help) override;
  void texts(std::string_view name, std::vector<std::string>& value, std::string_view help) override;
};

template <class Options>
Options read_options(const Config& table, std::string place, std::vector<std::string_view> reserved = {}) {
  Options options;
  OptionReader reader(table, std::move(place), std::move(reserved));
  describe(options, reader);
  reader.finish();
  return options;
}

template <class Options>
std::vector<OptionRow> list_options(Options options = {}) {
  OptionLister lister;
  describe(options, lister);
  return lister.rows;
}

// The type of a catalogue entry's options, erased: `T` as std::any, visited through its description.
struct OptionsType {
  std::any (*defaults)();
  void (*visit)(std::any& options, OptionVisitor& visitor);
};

template <class T>
OptionsType options_type() {
  return {.defaults = [] { return std::any(T{}); },
          .visit = [](std::any& options, OptionVisitor& visitor) { describe(std::any_cast<T&>(options), visitor); }};
}

// The candidate nearest to `word` by edit distance, or empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace trireme
