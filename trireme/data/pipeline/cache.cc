// SPDX-License-Identifier: Apache-2.0
// A state a sample, and behind it one buffer or one file with a place for every sample.
#include "trireme/data/pipeline/cache.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "trireme/base/descriptor.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::data {
namespace {

// Places for `size` samples. Two threads never write the same place, and no thread reads it before it is written.
class Store {
 public:
  virtual ~Store() = default;
  virtual void put(std::size_t index, std::span<const std::byte> sample) = 0;
  virtual void get(std::size_t index, std::span<std::byte> sample) const = 0;

 protected:
  Store() = default;
  Store(const Store&) = default;
  Store& operator=(const Store&) = default;
};

std::size_t bytes_of(const Source& source) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(source.format().sample_bytes(), static_cast<std::size_t>(source.size()), &bytes))
    throw Error{resource_exhausted, "{} samples of {} bytes are too many to cache; set data.pipeline.cache = \"none\"", source.size(),
                source.format().sample_bytes()};
  return bytes;
}

class MemoryStore final : public Store {
 public:
  // Linux grants memory it doesn't have and kills the process when it is used, so what is there is asked for first.
  MemoryStore(const Source& source, MemoryBudget& budget) : extent_(source.format().sample_bytes()) {
    const std::size_t bytes = bytes_of(source);
    budget.take(bytes, source.size());
    values_.reset(new (std::nothrow) std::byte[bytes]);
    if (values_ == nullptr)
      throw Error{
          resource_exhausted,
          "caching {} samples takes {} bytes of memory, which this process doesn't get (ulimit -v?); set data.pipeline.cache = \"disk\" or "
          "\"none\"",
          source.size(), bytes};
  }

  void put(std::size_t index, std::span<const std::byte> sample) override { std::ranges::copy(sample, values_.get() + index * extent_); }
  void get(std::size_t index, std::span<std::byte> sample) const override {
    std::copy_n(values_.get() + index * extent_, extent_, sample.begin());
  }

 private:
  std::size_t extent_;
  std::unique_ptr<std::byte[]> values_;  // not a vector, which would touch every page now
};

class FileStore final : public Store {
 public:
  FileStore(const Source& source, const std::filesystem::path& directory) : extent_(source.format().sample_bytes()) {
    std::error_code ignored;  // mkstemp says it better
    std::filesystem::create_directories(directory, ignored);
    path_ = (directory / "trireme-cache-XXXXXX").string();
    file_ = Descriptor(::mkostemp(path_.data(), O_CLOEXEC));
    if (!file_.is_open()) fail(unavailable, "cannot create the cache", errno);
    ::unlink(path_.c_str());
    reserve(bytes_of(source));
  }
  FileStore(const FileStore&) = delete;
  FileStore& operator=(const FileStore&) = delete;

  void put(std::size_t index, std::span<const std::byte> sample) override {
    for (std::size_t done = 0; done < sample.size();) {
      const ssize_t written = ::pwrite(file_.get(), sample.data() + done, sample.size() - done, place(index, done));
      if (written < 0 && errno != EINTR) fail(unavailable, "cannot write the cache", errno);
      if (written > 0) done += static_cast<std::size_t>(written);
    }
  }
  void get(std::size_t index, std::span<std::byte> sample) const override {
    for (std::size_t done = 0; done < sample.size();) {
      const ssize_t read = ::pread(file_.get(), sample.data() + done, sample.size() - done, place(index, done));
      if (read < 0 && errno != EINTR) fail(unavailable, "cannot read the cache", errno);
      if (read == 0) throw Error{data_loss, "{}: the cache ends at sample {}; it was truncated", path_, index};
      if (read > 0) done += static_cast<std::size_t>(read);
    }
  }

 private:
  // Free space is looked at first, so that a set far too large doesn't fill the disk for the others before it is refused.
  void reserve(std::size_t bytes) {
    const auto refuse = [&](int reason) {
      throw Error{resource_exhausted,
                  "{}: cannot reserve {} bytes for data.pipeline.cache = \"disk\": {}; choose another directory or \"none\"", path_, bytes,
                  std::strerror(reason)};
    };
    if (bytes > static_cast<std::size_t>(std::numeric_limits<off_t>::max())) refuse(EFBIG);
    struct statvfs disk {};
    if (::fstatvfs(file_.get(), &disk) == 0 && bytes / disk.f_frsize > disk.f_bavail) refuse(ENOSPC);
    const int failed = bytes == 0 ? 0 : ::posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes));
    if (failed != 0) refuse(failed);
  }

  [[noreturn]] void fail(ErrorCode code, std::string_view what, int reason) const {
    throw SystemError{code, "{}: {}: {}", path_, what, std::strerror(reason)};
  }
  off_t place(std::size_t index, std::size_t offset) const { return static_cast<off_t>(index * extent_ + offset); }

  std::size_t extent_;
  std::string path_;
  Descriptor file_;
};

std::unique_ptr<Store> make_store(const Source& source, CacheKind kind, const std::filesystem::path& directory, MemoryBudget& memory) {
  if (kind == CacheKind::memory) return std::make_unique<MemoryStore>(source, memory);
  return std::make_unique<FileStore>(source, directory);
}

enum class Kept : std::uint8_t { no, being_written, yes };

class CachedSource final : public Source {
 public:
  CachedSource(std::shared_ptr<const Source> base, CacheKind kind, const std::filesystem::path& directory, MemoryBudget& memory)
      : base_(std::move(base)),
        kind_(kind),
        store_(make_store(*base_, kind, directory, memory)),
        kept_(std::make_unique<std::atomic<Kept>[]>(static_cast<std::size_t>(base_->size()))) {}

  const SampleFormat& format() const override { return base_->format(); }
  std::int64_t size() const override { return base_->size(); }
  std::int32_t label(std::int64_t index) const override { return base_->label(index); }
  std::span<const float> target(std::int64_t index) const override { return base_->target(index); }
  std::vector<std::int64_t> file_starts() const override { return base_->file_starts(); }
  std::string sample_name(std::int64_t index) const override { return base_->sample_name(index); }
  std::vector<std::string> warnings() const override { return base_->warnings(); }
  bool in_memory() const override { return kind_ == CacheKind::memory; }

  void read(std::int64_t index, std::span<std::byte> sample) const override {
    ensure(index >= 0 && index < size() && sample.size() == format().sample_bytes(), "a read inside the set");
    const auto at = static_cast<std::size_t>(index);
    if (kept_[at].load(std::memory_order_acquire) == Kept::yes) return store_->get(at, sample);
    base_->read(index, sample);
    // Who comes second has decoded for itself and goes on; waiting would cost more than the copy.
    Kept expected = Kept::no;
    if (!kept_[at].compare_exchange_strong(expected, Kept::being_written, std::memory_order_relaxed)) return;
    store_->put(at, sample);
    kept_[at].store(Kept::yes, std::memory_order_release);
  }

 private:
  std::shared_ptr<const Source> base_;
  CacheKind kind_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<std::atomic<Kept>[]> kept_;
};

}  // namespace

std::shared_ptr<const Source> cached(std::shared_ptr<const Source> base, CacheKind kind, const std::filesystem::path& directory,
                                     MemoryBudget& memory) {
  if (kind == CacheKind::none || base->in_memory()) return base;
  return std::make_shared<CachedSource>(std::move(base), kind, directory, memory);
}

std::shared_ptr<const Source> cached(std::shared_ptr<const Source> base, CacheKind kind, const std::filesystem::path& directory) {
  MemoryBudget memory(memory_share(1));
  return cached(std::move(base), kind, directory, memory);
}

}  // namespace trireme::data
