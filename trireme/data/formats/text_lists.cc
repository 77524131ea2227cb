// SPDX-License-Identifier: Apache-2.0
// A visitor that passes over options of other types.
#include "trireme/data/formats/text_lists.h"

namespace trireme::data {
namespace {

using Visit = std::function<void(std::string_view, std::vector<std::string>&)>;

class TextLists final : public OptionVisitor {
 public:
  explicit TextLists(const Visit& visit) : visit_(visit) {}

 protected:
  void integer(std::string_view, std::int64_t&, std::string_view, std::int64_t, std::int64_t) override {}
  void real(std::string_view, double&, std::string_view, double, double) override {}
  void boolean(std::string_view, bool&, std::string_view) override {}
  void text(std::string_view, std::string&, std::string_view, const std::vector<std::string_view>&) override {}
  void reals(std::string_view, std::vector<double>&, std::string_view) override {}
  void texts(std::string_view name, std::vector<std::string>& value, std::string_view) override { visit_(name, value); }

 private:
  const Visit& visit_;
};

}  // namespace

void visit_text_lists(const ReaderEntry& reader, std::any& options, const Visit& visit) {
  TextLists lists(visit);
  reader.options.visit(options, lists);
}

}  // namespace trireme::data
