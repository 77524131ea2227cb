// SPDX-License-Identifier: Apache-2.0
// convert: writes a set in another format, e.g. as TFRecord shards.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/table.h"
#include "trireme/cli/command_entry.h"
#include "trireme/data/formats/named_files.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/formats/writer_entry.h"
#include "trireme/fetch/fetch.h"
#include "trireme/run/setup/data_directory.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/fetch_progress.h"

namespace trireme::cli::commands {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string set;
  std::string reader;
  std::vector<fs::path> files;
  std::vector<fs::path> test_files;
  std::vector<std::string> settings;
  std::string directory;
  std::string to;
  std::string out;
  std::int64_t shards = 0;
  std::string compression = "none";
  std::string encoding;
};

// What is to be read: a public set's files, or those the command line names.
struct Input {
  const data::ReaderEntry* reader = nullptr;
  std::vector<fs::path> train;
  std::vector<fs::path> test;
  std::vector<std::string> class_names;

  bool has(data::Part part) const { return !reader->reads_files || !(part == data::Part::train ? train : test).empty(); }
};

Input public_set(const Options& o, const run::Console& console) {
  const fetch::SetEntry* entry = fetch::find_set(o.set);
  if (entry == nullptr)
    throw Error{invalid_argument, "there is no public set '{}'; 'trireme fetch' lists them, --reader and --files take your own", o.set};
  const fs::path directory = run::data_directory(o.directory);
  const SteadyClock clock;
  run::FetchProgress progress(console.err, clock, {.terminal = run::rewrites_lines(STDERR_FILENO)});
  fetch::fetch_set(*entry, directory, progress);
  const fetch::SetPaths paths = fetch::set_files(*entry, directory);
  return {.reader = &data::find_reader(entry->reader),
          .train = paths.train,
          .test = paths.test,
          .class_names = {entry->class_names.begin(), entry->class_names.end()}};
}

Input input_of(const Options& o, const run::Console& console) {
  if (!o.set.empty() && !o.reader.empty()) throw Error{invalid_argument, "name a public set or a reader, not both"};
  if (!o.set.empty()) return public_set(o, console);
  if (o.reader.empty()) throw Error{invalid_argument, "say what to convert: a public set, or --reader and --files"};
  Input input{.reader = &data::find_reader(o.reader), .train = data::named_files(o.files), .test = data::named_files(o.test_files)};
  if (input.reader->reads_files && o.files.empty() && o.test_files.empty())
    throw Error{invalid_argument, "the reader {} needs files; name them with --files and --test-files", o.reader};
  return input;
}

std::any reader_options(const data::ReaderEntry& reader, const std::vector<std::string>& settings) {
  Config table;
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos) throw Error{invalid_argument, "--set {}: write it as option=value", setting};
    table.set(setting.substr(0, equals), setting.substr(equals + 1), "--set " + setting);
  }
  std::any options = reader.options.defaults();
  OptionReader visitor(table, fmt::format("reader {}", reader.name));
  reader.options.visit(options, visitor);
  visitor.finish();
  return options;
}

// Shows how far the writer is by counting what it reads, and gives the classes the names that the files don't have.
class WatchedSource final : public data::Source {
 public:
  WatchedSource(const data::Source& base, const std::vector<std::string>& class_names, std::string_view part, std::ostream* line)
      : base_(base), format_(base.format()), part_(part), line_(line) {
    if (format_.class_names.empty() && std::ssize(class_names) == format_.classes) format_.class_names = class_names;
  }
  ~WatchedSource() override {
    if (line_ != nullptr) *line_ << "\r\033[K" << std::flush;
  }
  WatchedSource(const WatchedSource&) = delete;
  WatchedSource& operator=(const WatchedSource&) = delete;

  const data::SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return base_.size(); }
  std::int32_t label(std::int64_t index) const override { return base_.label(index); }
  std::span<const float> target(std::int64_t index) const override { return base_.target(index); }
  std::string sample_name(std::int64_t index) const override { return base_.sample_name(index); }
  std::vector<std::int64_t> file_starts() const override { return base_.file_starts(); }
  void read(std::int64_t index, std::span<std::byte> sample) const override {
    base_.read(index, sample);
    if (const std::int64_t count = ++read_; line_ != nullptr && count % kStep == 0)
      *line_ << fmt::format("\r\033[K{}: {} of {} samples", part_, with_thousands(count), with_thousands(size())) << std::flush;
  }

 private:
  static constexpr std::int64_t kStep = 1000;

  const data::Source& base_;
  data::SampleFormat format_;
  std::string_view part_;
  std::ostream* line_;  // null: nothing is shown
  mutable std::atomic<std::int64_t> read_{0};
};

// A folder that gets its name when everything is in it: what a killed conversion left is never taken for a set.
class NewFolder {
 public:
  explicit NewFolder(const std::string& path) : path_(fs::absolute(path)) {
    if (!path_.has_filename()) path_ = path_.parent_path();
    if (fs::exists(path_) && !(fs::is_directory(path_) && fs::is_empty(path_)))
      throw Error{invalid_argument, "{} is there and not empty; choose another --out or remove it", path_.string()};
    partial_ = path_.parent_path() / fmt::format(".{}.partial", path_.filename().string());
    fs::remove_all(partial_);
    fs::create_directories(partial_);
  }
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(partial_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const fs::path& path() const { return path_; }
  const fs::path& partial() const { return partial_; }
  void publish() const { fs::rename(partial_, path_); }

 private:
  fs::path path_;
  fs::path partial_;
};

struct Size {
  std::int64_t files = 0;
  std::uintmax_t bytes = 0;
};

Size size_of(const std::vector<fs::path>& paths) {
  Size size;
  const auto add = [&](const fs::path& file) { size = {size.files + 1, size.bytes + fs::file_size(file)}; };
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      add(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file()) add(entry.path());
  }
  return size;
}

// The last columns are what a reader is given again.
std::vector<std::string> convert_part(const Options& o, const Input& input, data::Part part, const NewFolder& out,
                                      const run::Console& console) {
  const std::string_view name = part == data::Part::train ? "train" : "test";
  const data::ReaderRequest request{
      .files = part == data::Part::train ? input.train : input.test, .part = part, .options = reader_options(*input.reader, o.settings)};
  const std::unique_ptr<data::Source> source = input.reader->open(request);
  for (const std::string& warning : source->warnings()) console.err << "trireme: warning: " << warning << "\n";
  const WatchedSource watched(*source, input.class_names, name, run::rewrites_lines(STDERR_FILENO) ? &console.err : nullptr);
  const std::vector<fs::path> files =
      data::write_set(data::find_writer(o.to), watched,
                      {.folder = out.partial(), .part = part, .shards = o.shards, .compression = o.compression, .encoding = o.encoding});
  const Size size = size_of(files);
  const fs::path first = out.path() / files.front().lexically_relative(out.partial());
  return {std::string(name),
          with_thousands(source->size()),
          source->format().shape.to_string(),
          with_thousands(size.files),
          human_bytes(static_cast<double>(size.bytes)),
          first.string()};
}

int run(const Options& o, const run::Console& console) {
  const SteadyClock clock;
  const Seconds start = clock.now();
  data::find_writer(o.to);  // a wrong name is the first thing to say
  const Input input = input_of(o, console);
  const NewFolder out(o.out);
  constexpr auto kRight = TextTable::Align::right;
  TextTable table({{"part"}, {"samples", kRight}, {"shape"}, {"files", kRight}, {"size", kRight}, {"first"}});
  for (const data::Part part : {data::Part::train, data::Part::test})
    if (input.has(part)) table.add_row(convert_part(o, input, part, out, console));
  out.publish();
  console.out << table.to_string() << fmt::format("\nwritten in {:.1f} s; the reader {} reads it\n", (clock.now() - start).count(), o.to);
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  // Not "set": newer versions of CLI11 take that for --set.
  arguments.option("dataset", options->set, "a public set of 'trireme fetch'; it is fetched if it is not here").shown_as("SET");
  arguments.option("--reader", options->reader, "how to read your own files").shown_as("READER");
  arguments.option("--files", options->files, "files of the training part, in the reader's order; patterns are possible").shown_as("FILE");
  arguments.option("--test-files", options->test_files, "files of the test part").shown_as("FILE");
  arguments.option("--set", options->settings, "an option of the reader").shown_as("OPTION=VALUE").one_at_a_time();
  arguments.option("--directory", options->directory, "where public sets are kept, instead of the cache directory").shown_as("DIR");
  arguments.option("--to", options->to, "the format; `trireme list writers`").required().shown_as("WRITER");
  arguments.option("--out", options->out, "the folder to write; new or empty").required().shown_as("DIR");
  arguments.option("--shards", options->shards, "files of each part").shown_as("N").between(1, 99999);
  arguments.option("--compression", options->compression, "none, gzip or zlib").shows_default().shown_as("KIND");
  arguments.option("--encoding", options->encoding, "of the images in a tfrecord: raw or png").shown_as("KIND");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry convert() {
  return {
      .name = "convert", .summary = "write a set in another format, e.g. as TFRecord shards", .declare = declare, .goes_on_unread = true};
}

}  // namespace trireme::cli::commands
