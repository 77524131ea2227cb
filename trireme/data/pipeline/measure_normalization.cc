// SPDX-License-Identifier: Apache-2.0
// Mean and deviation of each channel, merged in the order of the samples, so that threads change nothing.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>

#include "trireme/base/error.h"
#include "trireme/data/pipeline/transform.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kMaxSamples = 10000;
constexpr std::int64_t kSamplesABlock = 100;

// Chan, Golub and LeVeque's way of merging: no difference of large sums, which would lose the deviation of data far from 0.
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;  // sum of (value - mean)^2

  void merge(const Moments& other) {
    if (other.count == 0) return;
    const double together = count + other.count;
    const double difference = other.mean - mean;
    squares += other.squares + difference * difference * count * other.count / together;
    mean += difference * other.count / together;
    count = together;
  }
};

template <class Stored>
Moments moments_of(std::span<const Stored> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const Stored value : values) sum += static_cast<double>(value);
  Moments moments{.count = count, .mean = sum / count};
  for (const Stored value : values)
    moments.squares += (static_cast<double>(value) - moments.mean) * (static_cast<double>(value) - moments.mean);
  return moments;
}

class Measurement {
 public:
  explicit Measurement(const Source& source)
      : source_(source),
        samples_(std::min(source.size(), kMaxSamples)),
        channels_(static_cast<std::size_t>(source.format().shape[0])),
        extent_(static_cast<std::size_t>(source.format().shape.count()) / channels_) {}

  std::vector<Moments> run() const {
    std::vector<std::vector<Moments>> blocks(static_cast<std::size_t>((samples_ + kSamplesABlock - 1) / kSamplesABlock));
    measure_all(blocks);
    std::vector<Moments> all(channels_);
    for (const auto& block : blocks)
      for (std::size_t channel = 0; channel < channels_; ++channel) all[channel].merge(block[channel]);
    return all;
  }

 private:
  // Samples take unlike times to decode, so threads fetch blocks one by one.
  void measure_all(std::vector<std::vector<Moments>>& blocks) const {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t block = next++; block < blocks.size(); block = next++)
        blocks[block] = measure_block(static_cast<std::int64_t>(block));
    };
    std::vector<std::future<void>> threads;
    for (int i = 1; i < omp_get_max_threads(); ++i) threads.push_back(std::async(std::launch::async, work));
    work();
    for (auto& thread : threads) thread.get();
  }

  std::vector<Moments> measure_block(std::int64_t block) const {
    std::vector<Moments> moments(channels_);
    std::vector<std::byte> sample(source_.format().sample_bytes());
    const std::int64_t end = std::min(samples_, (block + 1) * kSamplesABlock);
    for (std::int64_t i = block * kSamplesABlock; i < end; ++i) {
      source_.read(i * source_.size() / samples_, sample);
      if (source_.format().element == Element::u8) {
        merge_sample(reinterpret_cast<const std::uint8_t*>(sample.data()), moments);
      } else {
        merge_sample(reinterpret_cast<const float*>(sample.data()), moments);
      }
    }
    return moments;
  }

  template <class Stored>
  void merge_sample(const Stored* values, std::vector<Moments>& moments) const {
    for (std::size_t channel = 0; channel < channels_; ++channel)
      moments[channel].merge(moments_of(std::span(values + channel * extent_, extent_)));
  }

  const Source& source_;
  std::int64_t samples_;
  std::size_t channels_, extent_;  // for rank 1 each value is a channel of its own
};

}  // namespace

Normalization measure_normalization(const Source& source, const std::string& kind) {
  Normalization result{.kind = kind};
  if (kind == "none" || kind == "per_sample") return result;
  if (kind != "mean" && kind != "standard")
    throw Error{invalid_argument, "unknown normalisation \"{}\"; there are none, mean, standard and per_sample", kind};
  if (source.size() == 0 || source.format().shape.rank() == 0)
    throw Error{invalid_argument, "normalisation \"{}\" is measured on samples, and there are none", kind};
  const double unit = source.format().element == Element::u8 ? 255 : 1;
  for (const Moments& channel : Measurement(source).run()) {
    if (!std::isfinite(channel.mean) || !std::isfinite(channel.squares))
      throw Error{data_loss, "channel {} has values that are not finite numbers; clean the data or set the normalisation to \"none\"",
                  result.mean.size()};
    const double deviation = kind == "standard" ? std::sqrt(channel.squares / channel.count) / unit : 1;
    result.mean.push_back(static_cast<float>(channel.mean / unit));
    result.scale.push_back(deviation > 0 ? static_cast<float>(1 / deviation) : 1.0F);
  }
  return result;
}

}  // namespace trireme::data
