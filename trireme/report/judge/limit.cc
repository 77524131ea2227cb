// SPDX-License-Identifier: Apache-2.0
// The largest part of a step, and what is behind it.
#include "trireme/report/judge/limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "trireme/report/document/words.h"

namespace trireme::report {
namespace {

constexpr double kFewSteps = 10;
constexpr double kSlow = 1.3;           // times the median: below that, machines are alike
constexpr double kNoticeable = 0.15;    // of a step
constexpr double kStandsOut = 0.4;      // the largest part below this is not what limits
constexpr double kSmallMessage = 64e3;  // bytes that a link of 1 Gbit/s carries in about half a millisecond
constexpr double kServersLate = 0.25;   // of the workers' time, as the servers themselves judge
constexpr double kFewSeconds = 5;       // of telemetry say little about other programs
constexpr double kForeign = 0.25;       // of all cores, busy for other programs
constexpr double kLongStart = 0.5;      // of all time

struct Part {
  const char* kind;
  const char* name;
  double seconds;
};

std::string share_text(const StepFacts& f, double seconds) {
  return fmt::format("{} of a step ({} of {})", percent(f.share(seconds)), duration(seconds), duration(f.step));
}

std::string exchange_cause(const StepFacts& f) {
  if (f.shares_cores())
    return fmt::format(
        "; all nodes are on one machine whose cores are {} busy, so this is waiting for processor time rather than for a network",
        percent(f.cluster_cpu));
  if (!std::isfinite(f.bytes_per_step) || !(f.exchange > 0))
    return "; bytes were not measured, so bandwidth and latency can't be distinguished";
  const bool is_ring = !f.strategy.uses_servers();
  const double rounds = is_ring ? 2 * (f.workers - 1) * f.buckets : 2;
  const double message = f.bytes_per_step / std::max(1.0, rounds);
  return fmt::format("; {} a step went at {} from submission to end, in messages of about {}: {}", bytes(f.bytes_per_step),
                     rate(f.bytes_per_step / f.exchange), bytes(message),
                     message < kSmallMessage ? "so small that latency counts more than bandwidth" : "bandwidth counts more than latency");
}

std::string input_cause(const StepFacts& f) {
  const double work = f.read + f.decode;
  if (!(work > 0)) return "; more data.pipeline.threads, or cache = \"memory\", would help if reading or decoding is slow";
  return fmt::format(
      "; reading and decoding a batch is {} of work in the background. More data.pipeline.threads, or cache = \"memory\", would help",
      duration(work));
}

Limit straggler(const StepFacts& f) {
  const double waited = f.exposed - f.exposed_least;
  return {
      "straggler",
      fmt::format("A straggler: {} takes {:.1f} times as long for a sample as the median worker, and a mean worker waits {} for others.",
                  f.slowest, f.slowness, share_text(f, waited))};
}

Limit servers(const StepFacts& f) {
  std::string advice = fmt::format("{} servers would keep up", f.servers_needed);
  if (f.servers_needed > f.workers + f.servers) advice = "steps are too short for parameter servers; take a larger batch, or allreduce";
  return {"servers",
          fmt::format("The parameter servers: workers wait {} of their time for them; {}.", percent(f.server_wait_share), advice)};
}

std::string next_text(const StepFacts& f, const Part& next) {
  return f.share(next.seconds) < kNoticeable ? "" : fmt::format(" Next is {} with {}.", next.name, percent(f.share(next.seconds)));
}

Limit largest(const StepFacts& f, const Part& most, const Part& next) {
  const std::string kind = most.kind;
  std::string sentence = fmt::format("{} {} {}", most.name, kind == "exchange" ? "takes" : "is", share_text(f, most.seconds));
  sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
  if (kind == "exchange") sentence += exchange_cause(f);
  if (kind == "input") sentence += input_cause(f);
  if (kind == "compute")
    sentence += fmt::format("; with everything else free it would be at most {:.2f} times as fast", f.step / most.seconds);
  return {kind == "idle" ? "unknown" : kind, sentence + "." + next_text(f, next)};
}

Limit limit_of_step(const StepFacts& f) {
  if (!(f.steps >= kFewSteps) || !(f.step > 0) || !std::isfinite(f.compute))
    return {"unknown", fmt::format("Only {} steps were measured: too few to say what limited them.", f.steps)};
  if (f.startup_seconds > kLongStart * (f.startup_seconds + f.elapsed_seconds))
    return {"startup", fmt::format("Start-up: {} passed before the first step and {} after it.", duration(f.startup_seconds),
                                   duration(f.elapsed_seconds))};
  if (f.slowness >= kSlow && f.share(f.exposed - f.exposed_least) >= kNoticeable) return straggler(f);
  if (f.server_wait_share >= kServersLate && f.servers_needed > 0) return servers(f);
  std::array<Part, 5> parts{{{"compute", "computing (forward and backward)", f.compute},
                             {"exchange", "waiting for the exchange after backward", f.exposed},
                             {"input", "waiting for input", f.input_wait},
                             {"optimizer", "the optimizer's update", f.optimizer},
                             {"idle", "time between steps that no part claims", f.idle}}};
  std::ranges::stable_sort(parts, std::greater<>(), &Part::seconds);
  if (f.share(parts[0].seconds) < kStandsOut)
    return {"unknown",
            fmt::format("Nothing stands out: the largest parts are {} with {} and {} with {} of a step of {}.", parts[0].name,
                        percent(f.share(parts[0].seconds)), parts[1].name, percent(f.share(parts[1].seconds)), duration(f.step))};
  Limit limit = largest(f, parts[0], parts[1]);
  if (f.is_mixed) limit.sentence += " The steps of several strategies are mixed in these numbers.";
  return limit;
}

}  // namespace

Limit limit_of(const StepFacts& f) {
  Limit limit = limit_of_step(f);
  if (f.foreign_cores > kForeign * f.cores && f.elapsed_seconds >= kFewSeconds)
    limit.sentence += fmt::format(" Other programs kept {:.1f} of the {} cores busy meanwhile, so all times are longer than they need be.",
                                  f.foreign_cores, f.cores);
  return limit;
}

}  // namespace trireme::report
