// SPDX-License-Identifier: Apache-2.0
// Makes the list's document and those of the runs that are looked at.
#include "trireme/run/training/folder_page.h"

#include <algorithm>
#include <list>
#include <set>
#include <system_error>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/report/folder/run_folder.h"
#include "trireme/report/read/run_reader.h"

namespace trireme::run {
namespace {

constexpr std::size_t kMaxReaders = 4;  // one holds a run's curves and tables in memory

}  // namespace

// For the server's one thread.
class FolderPage::Documents {
 public:
  Documents(const std::filesystem::path& folder, const std::filesystem::path& cache) : folder_(folder, cache) {
    list();
    folder_.save();
  }

  std::string list() {
    std::vector<report::RunEntry> entries = folder_.look();
    names_.clear();
    for (const report::RunEntry& entry : entries) names_.insert(entry.name);
    std::stable_partition(entries.begin(), entries.end(),
                          [](const report::RunEntry& entry) { return entry.outcome == report::Outcome::running; });
    return report::to_json(folder_.path(), entries, report::Curves::with);
  }

  std::string of_run(const std::string& name) {
    report::RunReader& reader = reader_of(name);
    reader.look();
    return report::to_json(reader.document());
  }

 private:
  // The one that was asked for last is in front.
  report::RunReader& reader_of(const std::string& name) {
    const auto found = std::ranges::find(readers_, name, &std::pair<std::string, report::RunReader>::first);
    if (found != readers_.end()) {
      readers_.splice(readers_.begin(), readers_, found);
      return readers_.front().second;
    }
    // A name leads nowhere but to a run of the list.
    if (!names_.contains(name)) list();
    if (!names_.contains(name)) throw Error{not_found, "there is no run {} in {}", name, folder_.path().string()};
    readers_.emplace_front(name, report::RunReader(folder_.path() / name));
    if (readers_.size() > kMaxReaders) readers_.pop_back();
    return readers_.front().second;
  }

  report::RunFolder folder_;
  std::set<std::string> names_;
  std::list<std::pair<std::string, report::RunReader>> readers_;
};

namespace {

template <class Documents>
web::ServerOptions with_runs(web::ServerOptions options, const std::shared_ptr<Documents>& documents) {
  options.run_document = [documents](const std::string& run) { return documents->of_run(run); };
  return options;
}

}  // namespace

FolderPage::FolderPage(const std::filesystem::path& folder, const std::filesystem::path& cache, const web::ServerOptions& options,
                       std::filesystem::path token_file)
    : FolderPage(std::make_shared<Documents>(folder, cache), options, std::move(token_file)) {}

FolderPage::FolderPage(const std::shared_ptr<Documents>& documents, const web::ServerOptions& options, std::filesystem::path token_file)
    : token_file_(std::move(token_file)), server_([documents] { return documents->list(); }, with_runs(options, documents)) {
  if (!token_file_.empty()) write_secret_file(token_file_, server_.token());
}

FolderPage::~FolderPage() {
  std::error_code ignored;
  if (!token_file_.empty()) std::filesystem::remove(token_file_, ignored);
}

}  // namespace trireme::run
