// SPDX-License-Identifier: Apache-2.0
// Sharding policies, and distributions as cuts of an order of all samples.
#include "trireme/data/source/sharding.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/data/source/permutation.h"

namespace trireme::data {
namespace {

using Indices = std::vector<std::int64_t>;

Indices ascending(std::int64_t begin, std::int64_t end) {
  Indices indices(static_cast<std::size_t>(end - begin));
  std::iota(indices.begin(), indices.end(), begin);
  return indices;
}

Indices every_nth(std::int64_t samples, const Worker& worker) {
  Indices indices;
  for (std::int64_t i = worker.rank; i < samples; i += worker.count) indices.push_back(i);
  return indices;
}

Indices whole_files(const Source& source, const Worker& worker) {
  Indices starts = source.file_starts();
  const std::size_t files = starts.size();
  if (static_cast<std::int64_t>(files) < worker.count)
    throw Error{
        invalid_argument,
        "sharding by file needs a file a worker, but there {} {} file{} for {} workers; use sharding \"data\" or \"auto\", or more files",
        files == 1 ? "is" : "are",
        files,
        files == 1 ? "" : "s",
        worker.count};
  starts.push_back(source.size());
  Indices indices;
  for (auto file = static_cast<std::size_t>(worker.rank); file < files; file += static_cast<std::size_t>(worker.count))
    for (std::int64_t i = starts[file]; i < starts[file + 1]; ++i) indices.push_back(i);
  return indices;
}

// Whole numbers in the ratio of `weights` that sum up to `total`: rounded down, the rest to the largest remainders.
Indices in_proportion(std::int64_t total, const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  Indices parts;
  std::vector<double> remainders;
  std::int64_t left = total;
  for (const double weight : weights) {
    const double quota = static_cast<double>(total) * weight / sum;
    parts.push_back(std::min(left, static_cast<std::int64_t>(std::floor(quota))));
    remainders.push_back(quota - std::floor(quota));
    left -= parts.back();
  }
  std::vector<std::size_t> by_remainder(parts.size());
  std::iota(by_remainder.begin(), by_remainder.end(), std::size_t{0});
  std::ranges::stable_sort(by_remainder, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; left > 0; i = (i + 1) % parts.size(), --left) ++parts[by_remainder[i]];
  return parts;
}

Indices sizes_of_parts(std::int64_t samples, std::int64_t workers, const std::vector<double>& shares) {
  if (!shares.empty() && static_cast<std::int64_t>(shares.size()) != workers)
    throw Error{invalid_argument, "shares has {} numbers for {} workers; give one a worker, or none for equal parts", shares.size(),
                workers};
  for (const double share : shares)
    if (!std::isfinite(share) || share <= 0) throw Error{invalid_argument, "a share is {}; each must be above 0", share};
  Indices sizes = in_proportion(samples, shares.empty() ? std::vector<double>(static_cast<std::size_t>(workers), 1) : shares);
  const auto nothing = std::ranges::find(sizes, 0);
  if (nothing != sizes.end())
    throw Error{invalid_argument, "{} samples are too few: worker {} of {} would get none", samples, nothing - sizes.begin(), workers};
  return sizes;
}

std::vector<Indices> cut(std::span<const std::int64_t> order, const Indices& sizes) {
  std::vector<Indices> parts;
  for (const std::int64_t size : sizes) {
    const auto part = order.first(static_cast<std::size_t>(size));
    parts.emplace_back(part.begin(), part.end());
    order = order.subspan(part.size());
  }
  return parts;
}

Indices shuffled(std::int64_t count, std::int64_t seed, std::string_view purpose) {
  return epoch_permutation(count, combine(static_cast<std::uint64_t>(seed), hash_text(purpose)), 0);
}

// A random share of the samples is sorted by label and cut; the rest fills the parts up.
std::vector<Indices> cut_by_class(const Source& source, const Indices& sizes, const DistributionOptions& o) {
  if (source.format().classes == 0) throw Error{invalid_argument, "distribution \"by_class\" needs samples with classes; use \"shuffled\""};
  Indices order = shuffled(source.size(), o.seed, "distribution");
  const auto sorted = static_cast<std::int64_t>(std::llround(o.degree * static_cast<double>(source.size())));
  std::stable_sort(order.begin(), order.begin() + sorted,
                   [&](std::int64_t a, std::int64_t b) { return source.label(a) < source.label(b); });
  const Indices sorted_sizes = in_proportion(sorted, {sizes.begin(), sizes.end()});
  Indices other_sizes;
  std::ranges::transform(sizes, sorted_sizes, std::back_inserter(other_sizes), std::minus<>{});

  const auto [of_class, others] =
      std::pair(std::span(order).first(static_cast<std::size_t>(sorted)), std::span(order).subspan(static_cast<std::size_t>(sorted)));
  std::vector<Indices> parts = cut(of_class, sorted_sizes);
  const std::vector<Indices> fill = cut(others, other_sizes);
  for (std::size_t worker = 0; worker < parts.size(); ++worker)
    parts[worker].insert(parts[worker].end(), fill[worker].begin(), fill[worker].end());
  return parts;
}

// The last of each part goes to the next worker as well.
void add_overlap(std::vector<Indices>& parts, const DistributionOptions& o) {
  if (parts.size() < 2) return;
  std::vector<Indices> added(parts.size());
  for (std::size_t worker = 0; worker < parts.size(); ++worker) {
    const Indices& part = parts[worker];
    const auto count = static_cast<std::int64_t>(part.size());
    const auto shared = static_cast<std::int64_t>(std::llround(o.overlap * static_cast<double>(count)));
    const Indices pick = o.kind == "contiguous" ? ascending(0, count) : shuffled(count, o.seed, fmt::format("overlap {}", worker));
    for (std::int64_t i = count - shared; i < count; ++i)
      added[(worker + 1) % parts.size()].push_back(part[static_cast<std::size_t>(pick[static_cast<std::size_t>(i)])]);
  }
  for (std::size_t worker = 0; worker < parts.size(); ++worker)
    parts[worker].insert(parts[worker].end(), added[worker].begin(), added[worker].end());
}

void check_share(std::string_view name, double value) {
  if (!(value >= 0 && value <= 1)) throw Error{invalid_argument, "{} = {} is not between 0 and 1", name, value};
}

}  // namespace

std::vector<std::int64_t> shard(const Source& source, Sharding policy, const Worker& worker) {
  ensure(worker.count > 0 && worker.rank >= 0 && worker.rank < worker.count, "a worker is one of its count");
  if (policy == Sharding::automatic)
    policy = static_cast<std::int64_t>(source.file_starts().size()) >= worker.count ? Sharding::file : Sharding::data;
  if (policy == Sharding::off) return ascending(0, source.size());
  return policy == Sharding::data ? every_nth(source.size(), worker) : whole_files(source, worker);
}

void describe(DistributionOptions& o, OptionVisitor& visit) {
  visit("kind", o.kind, "how samples are given to workers", {"shuffled", "contiguous", "by_class"});
  visit("degree", o.degree, "by_class: share of the samples dealt out by class, the rest at random", 0.0, 1.0);
  visit("overlap", o.overlap, "share of a worker's samples that the next worker gets too", 0.0, 1.0);
  visit("shares", o.shares, "relative sizes of the workers' parts; empty: equal");
  visit("seed", o.seed, "of the random choices", 0);
}

std::vector<std::vector<std::int64_t>> distribute(const Source& source, std::int64_t workers, const DistributionOptions& options) {
  ensure(workers > 0, "there is a worker");
  check_share("degree", options.degree);
  check_share("overlap", options.overlap);
  const Indices sizes = sizes_of_parts(source.size(), workers, options.shares);
  std::vector<Indices> parts;
  if (options.kind == "shuffled") {
    parts = cut(shuffled(source.size(), options.seed, "distribution"), sizes);
  } else if (options.kind == "contiguous") {
    parts = cut(ascending(0, source.size()), sizes);
  } else if (options.kind == "by_class") {
    parts = cut_by_class(source, sizes, options);
  } else {
    throw Error{invalid_argument, "unknown distribution \"{}\"; there are shuffled, contiguous and by_class", options.kind};
  }
  add_overlap(parts, options);
  for (Indices& part : parts) std::ranges::sort(part);
  return parts;
}

}  // namespace trireme::data
