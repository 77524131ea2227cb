// SPDX-License-Identifier: Apache-2.0
// Images a second of the input pipeline alone, or, with --train, how long a training network waits for it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>

#include "trireme/base/clock.h"
#include "trireme/base/config.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/parallel.h"
#include "trireme/base/random.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/data/pipeline/cache.h"
#include "trireme/data/synthetic/synthetic_options.h"
#include "trireme/engine/executor.h"
#include "trireme/graph/model_file.h"
#include "trireme/optim/optimizer.h"

namespace {

using namespace trireme;

struct Settings {
  std::string cifar, images, make_images, train, algorithm_cache;
  std::string cache = "none";
  std::int64_t count = 2000, height = 224, width = 224;
  std::int64_t batch = 128, threads = 1, engine_threads = 2;
  double seconds = 3;
};

std::shared_ptr<const data::Source> open_reader(std::string_view name, const Config& options, std::vector<std::filesystem::path> files) {
  const data::ReaderEntry& reader = data::find_reader(name);
  std::any typed = reader.options.defaults();
  OptionReader visitor(options, std::string(name));
  reader.options.visit(typed, visitor);
  visitor.finish();
  return reader.open({.files = std::move(files), .options = typed});
}

std::shared_ptr<const data::Source> noise() {
  const data::SampleFormat format{.shape = {3, 32, 32}, .classes = 10};
  return data::make_source(format, 50000, [](std::int64_t index, std::span<std::byte> sample) {
    RandomStream random(static_cast<std::uint64_t>(index));
    for (std::byte& value : sample) value = static_cast<std::byte>(random.below(256));
    return static_cast<std::int32_t>(index % 10);
  });
}

std::shared_ptr<const data::Source> open_source(const Settings& settings) {
  if (settings.images.empty() && settings.cifar.empty()) return noise();
  if (settings.images.empty()) {
    std::vector<std::filesystem::path> files;
    for (int i = 1; i <= 5; ++i) files.emplace_back(fmt::format("{}/data_batch_{}.bin", settings.cifar, i));
    return open_reader("cifar", {}, files);
  }
  const Config options =
      Config::parse_toml(fmt::format("height = {}\nwidth = {}\nchannels = 3", settings.height, settings.width), "input_throughput");
  const std::map<std::string, data::CacheKind> kinds{{"memory", data::CacheKind::memory}, {"disk", data::CacheKind::disk}};
  const auto kind = kinds.find(settings.cache);
  return data::cached(open_reader("image_folder", options, {settings.images}), kind == kinds.end() ? data::CacheKind::none : kind->second,
                      std::filesystem::temp_directory_path());
}

std::unique_ptr<data::BatchStream> open_stream(const Settings& settings, const Clock& clock) {
  const auto source = open_source(settings);
  const data::AugmentOptions augment{.flip = true, .pad = settings.images.empty() ? 4 : 0};
  const data::Transform transform(source->format(), data::measure_normalization(*source, "standard"), augment);
  return std::make_unique<data::BatchStream>(
      source, transform, data::StreamOptions{.batch_size = settings.batch, .threads = settings.threads, .prefetch = 4}, clock);
}

struct Rates {
  double a_second = 0;
  double a_core_second = 0;  // of CPU time of all threads: hardly moved by other load on the machine
};

// The best of several blocks, long enough that what was made ahead hardly counts.
Rates best_rates(data::BatchStream& stream, double seconds) {
  const SteadyClock clock;
  constexpr double kBlock = 0.5;
  constexpr int kBatches = 12;
  for (int i = 0; i < 8; ++i) stream.next();
  Rates best;
  const Seconds end = clock.now() + Seconds(seconds);
  for (int blocks = 0; clock.now() < end || blocks < 2; ++blocks) {
    const Seconds start = clock.now();
    const std::clock_t start_cpu = std::clock();
    double images = 0;
    for (int batches = 0; batches < kBatches || (clock.now() - start).count() < kBlock; ++batches)
      images += static_cast<double>(stream.next()->size);
    best.a_second = std::max(best.a_second, images / (clock.now() - start).count());
    best.a_core_second = std::max(best.a_core_second, images * CLOCKS_PER_SEC / static_cast<double>(std::clock() - start_cpu));
  }
  return best;
}

// Smooth waves with a little noise: about as large in bytes as photographs.
data::Image made_up_image(std::int64_t height, std::int64_t width, std::uint64_t key) {
  data::Image image{.height = height, .width = width, .channels = 3};
  RandomStream random(key);
  std::array<double, 12> waves{};
  for (double& wave : waves) wave = random.uniform(0.01, 0.15);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        const double u = static_cast<double>(x) * waves[c] + static_cast<double>(y) * waves[c + 3];
        const double v = static_cast<double>(x) * waves[c + 6] - static_cast<double>(y) * waves[c + 9];
        const double value = 127 + 60 * std::sin(u) + 50 * std::sin(v) + 15 * random.uniform(-1, 1);
        image.pixels.push_back(static_cast<std::uint8_t>(value));
      }
    }
  }
  return image;
}

int make_images(const Settings& settings) {
  std::size_t bytes = 0;
  constexpr std::int64_t kDifferent = 50;  // the same files again after these: making them costs more than reading them
  for (std::int64_t i = 0; i < kDifferent; ++i) {
    const std::string jpeg = data::encode_jpeg(made_up_image(settings.height, settings.width, static_cast<std::uint64_t>(i)), 90);
    bytes += jpeg.size();
    for (std::int64_t copy = i; copy < settings.count; copy += kDifferent)
      write_file_atomically(fmt::format("{}/class{}/{:05}.jpg", settings.make_images, copy % 10, copy), jpeg);
  }
  fmt::print("{} images of {}x{}, {:.0f} KB each\n", settings.count, settings.width, settings.height,
             static_cast<double>(bytes) / kDifferent / 1e3);
  return 0;
}

int measure_pipeline(const Settings& settings) {
  const SteadyClock clock;
  const Seconds start = clock.now();
  const auto stream = open_stream(settings, clock);
  const double opened = (clock.now() - start).count();
  const Rates rates = best_rates(*stream, settings.seconds);
  fmt::print("threads {} batch {} open {:.2f} s best {:.0f} img/s cpu {:.0f} img/s\n", settings.threads, settings.batch, opened,
             rates.a_second, rates.a_core_second);
  return 0;
}

class Trainer {
 public:
  explicit Trainer(const Settings& settings)
      : threads_(static_cast<int>(settings.engine_threads)),
        graph_(graph::graph_from_config(Config::parse_toml(fmt::format("name = '{}'\ndepth = 20", settings.train), "--train"))),
        executor_(graph_, {.batch_size = settings.batch, .threads = threads_, .algorithm_cache = settings.algorithm_cache}),
        optimizer_(optim::Optimizer::from_config(Config::parse_toml("name = 'sgd'\nlearning_rate = 0.1\nmomentum = 0.9", "bench"),
                                                 graph_.parameters())),
        parameters_(static_cast<std::size_t>(graph_.parameters().size())),
        gradients_(parameters_.size()),
        velocity_(parameters_.size()),
        states_(static_cast<std::size_t>(graph_.states().size())) {
    graph_.initialize_parameters(parameters_, 1);
    graph_.initialize_states(states_);
  }

  double step(const data::Batch& batch) {
    const engine::BatchView view{.size = batch.size, .inputs = {batch.values}, .labels = batch.labels, .sample_keys = batch.keys};
    const engine::Outcome outcome = executor_.train_step(view, {parameters_, states_, gradients_});
    const ThreadScope scope(threads_);
    optimizer_.update(0,
                      {.parameters = parameters_, .gradients = gradients_, .slots = {velocity_}, .learning_rate = 0.1, .step = ++steps_});
    return outcome.loss;
  }

 private:
  int threads_;
  graph::Graph graph_;
  engine::Executor executor_;
  optim::Optimizer optimizer_;
  std::vector<float> parameters_, gradients_, velocity_, states_;
  std::int64_t steps_ = 0;
};

int measure_starvation(const Settings& settings) {
  const SteadyClock clock;
  Trainer trainer(settings);
  const auto stream = open_stream(settings, clock);
  for (int i = 0; i < 3; ++i) trainer.step(*stream->next());
  const data::StreamTimes before = stream->times();
  const Seconds start = clock.now();
  std::int64_t steps = 0, images = 0;
  double loss = 0;
  for (; (clock.now() - start).count() < settings.seconds; ++steps) {
    const data::Batch& batch = *stream->next();
    loss = trainer.step(batch);
    images += batch.size;
  }
  const double all = (clock.now() - start).count();
  const data::StreamTimes after = stream->times();
  fmt::print("{} threads {} + {} batch {} steps {} loss {:.2f} rate {:.0f} img/s step {:.1f} ms wait {:.4f} % background {:.3f} %\n",
             settings.train, settings.engine_threads, settings.threads, settings.batch, steps, loss, static_cast<double>(images) / all,
             1e3 * all / static_cast<double>(steps), 100 * (after.wait_seconds - before.wait_seconds) / all,
             100 * (after.background_seconds - before.background_seconds) / all);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Throughput of the input pipeline: decode, augment, normalise, batch"};
  app.add_option("--cifar", settings.cifar, "folder of CIFAR-10's binary files; without it and --images: noise of the same size");
  app.add_option("--images", settings.images, "folder of images by class, resized to --height x --width");
  app.add_option("--cache", settings.cache, "of decoded images")->check(CLI::IsMember({"none", "memory", "disk"}));
  app.add_option("--make-images", settings.make_images, "only write --count JPEGs of --height x --width into this folder");
  app.add_option("--count", settings.count, "see --make-images");
  app.add_option("--height", settings.height, "of images");
  app.add_option("--width", settings.width, "of images");
  app.add_option("--train", settings.train, "train this network of the zoo (depth 20) and say how long it waits for batches");
  app.add_option("--engine-threads", settings.engine_threads, "see --train");
  app.add_option("--algorithm-cache", settings.algorithm_cache, "see --train: where the engine's choices are remembered");
  app.add_option("--batch", settings.batch, "samples a batch");
  app.add_option("--threads", settings.threads, "in the background");
  app.add_option("--seconds", settings.seconds, "how long to measure");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!settings.make_images.empty()) return make_images(settings);
    return settings.train.empty() ? measure_pipeline(settings) : measure_starvation(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "input_throughput: {}\n", error.what());
    return 2;
  }
}
