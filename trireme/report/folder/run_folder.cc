// SPDX-License-Identifier: Apache-2.0
// Directories, locks, notes and the cache of what was read.
#include "trireme/report/folder/run_folder.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/file_lock.h"
#include "trireme/base/files.h"

namespace trireme::report {
namespace {

constexpr int kCacheVersion = 1;
constexpr int kMaxDepth = 3;  // of sub-folders
constexpr std::uintmax_t kMaxCache = 256 << 20;

// A run that has recorded nothing yet began just now.
double age_of(const RunEntry& entry) { return std::isfinite(entry.summary.started) ? entry.summary.started : HUGE_VAL; }

bool is_newer(const RunEntry& a, const RunEntry& b) {
  const double one = age_of(a), other = age_of(b);
  return one != other ? one > other : a.name > b.name;
}

std::filesystem::path note_file(const std::filesystem::path& run) { return run / "note.txt"; }

// On one line, without what a terminal would obey.
std::string on_one_line(std::string_view text) {
  std::string line(text.substr(0, std::min(text.size(), kMaxNote)));
  for (char& letter : line)
    if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7f') letter = ' ';
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

// In sub-folders too: `train --folds` and `compare` make one for their trainings. One that can't be read hides no other.
void find_runs(const std::filesystem::path& folder, int depth, std::vector<std::filesystem::path>& found) {
  if (is_run(folder)) {
    found.push_back(folder);
    return;
  }
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder, error); !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const bool is_hidden = entry->path().filename().string().starts_with('.');
    std::error_code fault;
    if (depth > 0 && !is_hidden && !entry->is_symlink(fault) && entry->is_directory(fault)) find_runs(entry->path(), depth - 1, found);
  }
}

}  // namespace

bool is_run(const std::filesystem::path& directory) {
  std::error_code error;
  return std::filesystem::exists(directory / "journal.jsonl", error) || std::filesystem::exists(directory / "config.toml", error);
}

RunFolder::RunFolder(const std::filesystem::path& folder, std::filesystem::path cache) : cache_(std::move(cache)) {
  std::error_code error;
  folder_ = std::filesystem::canonical(folder, error);
  if (error) throw Error{not_found, "there is no folder {}: {}", folder.string(), error.message()};
  if (!std::filesystem::is_directory(folder_, error)) throw Error{not_found, "{} is no folder of runs: it is a file", folder.string()};
  load();
}

std::vector<std::filesystem::path> RunFolder::directories() const {
  std::vector<std::filesystem::path> found;
  find_runs(folder_, kMaxDepth, found);
  return found;
}

RunEntry RunFolder::entry_of(const std::filesystem::path& run) {
  JournalScan& scan = scans_[run.string()];
  // A process that ends between two looks leaves a journal with an end, so the lock is looked at first.
  const bool is_running = is_locked(run / "lock");
  is_changed_ |= scan.look(run / "journal.jsonl");
  const std::filesystem::path name = run == folder_ ? run.filename() : run.lexically_relative(folder_);
  RunEntry entry{.name = name.string(), .directory = run.string(), .note = note_of(run), .summary = scan.summary()};
  entry.outcome = outcome_of(entry.summary, is_running);
  return entry;
}

std::vector<RunEntry> RunFolder::look() {
  const std::vector<std::filesystem::path> found = directories();
  std::vector<RunEntry> entries;
  entries.reserve(found.size());
  for (const std::filesystem::path& run : found) entries.push_back(entry_of(run));
  std::ranges::sort(entries, is_newer);
  return entries;
}

// Whatever is wrong with it: journals are read again.
void RunFolder::load() {
  std::error_code error;
  if (cache_.empty() || !std::filesystem::exists(cache_, error)) return;
  try {
    const Json json = parse_json_or_discard(read_file(cache_, kMaxCache));
    if (json.is_discarded() || json.at("version").get<int>() != kCacheVersion) return;
    for (const auto& [run, scan] : json.at("runs").items()) scans_.emplace(run, JournalScan::from_json(scan));
  } catch (const Error&) {
    scans_.clear();
  } catch (const Json::exception&) {
    scans_.clear();
  }
}

void RunFolder::save() {
  if (cache_.empty() || !is_changed_) return;
  Json runs = Json::object();
  std::error_code error;
  // Of runs that are gone nothing is kept.
  for (const auto& [run, scan] : scans_)
    if (std::filesystem::exists(run, error)) runs[run] = scan.to_json();
  try {
    make_directories(cache_.parent_path());
    write_secret_file(cache_, Json{{"version", kCacheVersion}, {"runs", std::move(runs)}}.dump());
    is_changed_ = false;
  } catch (const Error&) {  // then the journals are read again
  }
}

std::string to_json(const std::filesystem::path& folder, const std::vector<RunEntry>& entries, Curves curves) {
  Json list = Json::array();
  for (const RunEntry& entry : entries) list.push_back(json_of(entry, curves));
  const auto replace = Json::error_handler_t::replace;  // names of folders need not be UTF-8
  return Json{{"version", 1}, {"folder", folder.string()}, {"entries", std::move(list)}}.dump(-1, ' ', false, replace);
}

std::string note_of(const std::filesystem::path& run) {
  std::error_code error;
  if (!std::filesystem::exists(note_file(run), error)) return {};
  try {
    return on_one_line(read_file(note_file(run), 64 * kMaxNote));
  } catch (const Error&) {  // one that can't be read hides no run
    return {};
  }
}

void write_note(const std::filesystem::path& run, std::string_view text) {
  if (text.size() > kMaxNote) throw Error{invalid_argument, "a note has at most {} bytes, this one has {}", kMaxNote, text.size()};
  const std::string line = on_one_line(text);
  if (!line.empty()) {
    write_file_atomically(note_file(run), line + "\n");
    return;
  }
  std::error_code error;
  std::filesystem::remove(note_file(run), error);
  if (error) throw Error{unavailable, "can't remove the note of {}: {}", run.string(), error.message()};
}

}  // namespace trireme::report
