// SPDX-License-Identifier: Apache-2.0
// A comparison as a table for people, on the terminal or in Markdown, and its curves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "trireme/base/table.h"
#include "trireme/experiment/comparison.h"

namespace trireme::experiment {
namespace {

struct Question {
  std::string_view metric;
  Best best;
  std::string_view title;
  std::string_view sign;  // between the better and the worse
};
constexpr Question kQuestions[] = {{"accuracy", Best::most, "accuracy, best first", ">"},
                                   {"seconds", Best::least, "time, fastest first", "<"}};

std::string value_text(double value, Metric::Unit unit) {
  switch (unit) {
    case Metric::Unit::share:
      return fmt::format("{:.2f} %", 100 * value);
    case Metric::Unit::number:
      return fmt::format("{:.4f}", value);
    case Metric::Unit::duration:
      return in_hours(value);
    case Metric::Unit::bytes:
      return human_bytes(value);
    case Metric::Unit::byte_rate:
      return human_bytes(value) + "/s";
    case Metric::Unit::sample_rate:
      return fmt::format("{:.0f}", value);
  }
  return "";
}

std::string spread_text(double sd, Metric::Unit unit) {
  if (unit == Metric::Unit::share) return fmt::format("{:.2f}", 100 * sd);
  if (unit == Metric::Unit::duration && sd >= 1) return fmt::format("{:.1f} s", sd);
  return value_text(sd, unit);
}

std::string cell_text(const VariantRuns& runs, const Metric& metric) {
  const Sample sample = sample_of(runs, metric);
  if (sample.size() == 0) return runs.finished() > 0 ? "–" : runs.failed() > 0 ? "failed" : "missing";
  std::string text = value_text(sample.mean(), metric.unit);
  if (sample.size() > 1) text += " ± " + spread_text(sample.sd(), metric.unit);
  if (sample.size() < static_cast<int>(runs.cells.size())) text += fmt::format(" ({} of {})", sample.size(), runs.cells.size());
  return text;
}

double published_of(const VariantRuns& runs, std::string_view metric) {
  const auto found = runs.variant.published.find(std::string(metric));
  return found == runs.variant.published.end() ? kUnknown : found->second;
}

constexpr std::size_t kMaxColumns = 6;  // variants side by side; more of them stand below one another
constexpr std::size_t kMaxPairs = 15;   // listed one by one

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::vector<VariantRuns>& runs) {
  Rows rows;
  for (const Metric& metric : metrics()) {
    std::vector<std::string> found{std::string(metric.title)};
    std::vector<std::string> published{"  published"};
    bool is_known = metric.name == "accuracy";
    bool is_published = false;
    for (const VariantRuns& variant : runs) {
      found.push_back(cell_text(variant, metric));
      is_known = is_known || sample_of(variant, metric).size() > 0;
      const double other = published_of(variant, metric.name);
      published.push_back(std::isfinite(other) ? value_text(other, metric.unit) : "–");
      is_published = is_published || std::isfinite(other);
    }
    if (is_known || is_published) rows.push_back(std::move(found));
    if (is_published) rows.push_back(std::move(published));
  }
  return rows;
}

// Rows become columns, with what was published beside what was found.
std::string tall_table_text(const std::vector<VariantRuns>& runs, TableStyle style) {
  std::vector<std::string> titles{"variant"};
  std::vector<std::vector<std::string>> lines;
  for (const VariantRuns& variant : runs) lines.push_back({variant.variant.label});
  for (const std::vector<std::string>& row : rows_of(runs)) {
    const bool is_detail = row.front().starts_with("  ") && row.front() != "  published";
    if (is_detail) continue;
    titles.push_back(row.front() == "  published" ? "published" : row.front());
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i].push_back(row[i + 1]);
  }
  if (style == TableStyle::markdown) {
    std::string text = fmt::format("| {} |\n|---|", fmt::join(titles, " | "));
    for (std::size_t i = 1; i < titles.size(); ++i) text += "---:|";
    for (const auto& line : lines) text += fmt::format("\n| {} |", fmt::join(line, " | "));
    return text + "\n";
  }
  std::vector<TextTable::Column> columns;
  for (const std::string& title : titles) columns.push_back({title, columns.empty() ? TextTable::Align::left : TextTable::Align::right});
  TextTable table(std::move(columns));
  for (const auto& line : lines) table.add_row(line);
  return table.to_string();
}

std::string table_text(const std::vector<VariantRuns>& runs, TableStyle style) {
  if (runs.size() > kMaxColumns) return tall_table_text(runs, style);
  const Rows rows = rows_of(runs);
  if (style == TableStyle::text) {
    std::vector<TextTable::Column> columns{{""}};
    for (const VariantRuns& variant : runs) columns.push_back({variant.variant.label, TextTable::Align::right});
    TextTable table(std::move(columns));
    for (const auto& row : rows) table.add_row(row);
    return table.to_string();
  }
  std::string text = "| |";
  for (const VariantRuns& variant : runs) text += fmt::format(" {} |", variant.variant.label);
  text += "\n|---|";
  for (std::size_t i = 0; i < runs.size(); ++i) text += "---:|";
  for (const auto& row : rows) {
    const auto indented = row.front().starts_with("  ");
    text += fmt::format("\n| {}{}", indented ? "– " : "", row.front().substr(indented ? 2 : 0));
    for (std::size_t i = 1; i < row.size(); ++i) text += " | " + row[i];
    text += " |";
  }
  return text + "\n";
}

std::vector<Sample> samples_of(const Comparison& comparison, std::string_view name) {
  std::vector<Sample> samples;
  for (const VariantRuns& runs : comparison.runs) samples.push_back(sample_of(runs, metric(name)));
  return samples;
}

std::string ranking_text(const Comparison& comparison, const Ranking& ranking, std::string_view sign) {
  std::string text;
  for (std::size_t i = 0; i < ranking.order.size(); ++i) {
    if (i > 0) text += ranking.relations[i - 1] == Relation::similar ? " ≈ " : fmt::format(" {} ", sign);
    text += comparison.runs[ranking.order[i]].variant.label;
  }
  return text;
}

std::string pairs_text(const Comparison& comparison, const std::vector<Pair>& pairs, Verdict verdict, std::string_view sign) {
  std::vector<std::string> words;
  for (const Pair& pair : pairs)
    if (pair.verdict == verdict)
      words.push_back(fmt::format("{} {} {}", comparison.runs[pair.better].variant.label, sign, comparison.runs[pair.worse].variant.label));
  if (words.size() > kMaxPairs) return fmt::format("{} of {}", words.size(), pairs.size());
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::string question_text(const Comparison& comparison, const Question& question) {
  const std::vector<Sample> samples = samples_of(comparison, question.metric);
  const Ranking ranking = rank(samples, question.best);
  if (ranking.order.size() < 2) return "";
  const bool once = std::ranges::find(ranking.relations, Relation::better_once) != ranking.relations.end();
  const std::string caution = once ? " (one run each: no spread)" : "";
  std::string text = fmt::format("- {}: {}{}\n", question.title, ranking_text(comparison, ranking, question.sign), caution);
  std::vector<double> published;
  std::vector<Sample> known;
  for (const VariantRuns& runs : comparison.runs) {
    published.push_back(published_of(runs, question.metric));
    known.push_back(std::isfinite(published.back()) ? Sample{{published.back()}} : Sample{});
  }
  const std::vector<Pair> pairs = check_pairs(samples, published, question.best);
  if (pairs.empty()) return text;
  text += fmt::format("  - published: {}\n", ranking_text(comparison, rank(known, question.best), question.sign));
  text += fmt::format("  - pairs that agree{}: {}\n", caution, pairs_text(comparison, pairs, Verdict::agrees, question.sign));
  text += fmt::format("  - pairs that disagree{}: {}\n", caution, pairs_text(comparison, pairs, Verdict::disagrees, question.sign));
  return text + fmt::format("  - pairs that can't be told: {}\n", pairs_text(comparison, pairs, Verdict::unclear, question.sign));
}

std::string mix_text(const Comparison& comparison, const Mix& mix) {
  const auto label = [&](std::size_t i) { return comparison.runs[i].variant.label; };
  return fmt::format("- {}: {}; {:.4g} · {} + {:.4g} · {} = {} ({:+.1f} %)\n", label(mix.variant), in_hours(mix.seconds), mix.fraction,
                     label(mix.from), 1 - mix.fraction, label(mix.to), in_hours(mix.expected), 100 * (mix.seconds / mix.expected - 1));
}

std::string failures_text(const Comparison& comparison) {
  std::string text;
  for (const VariantRuns& runs : comparison.runs)
    for (const RunCell& cell : runs.cells)
      if (!cell.failure.empty()) text += fmt::format("- failed: {}, seed {}: {}\n", runs.variant.label, cell.seed, cell.failure);
  return text;
}

std::string footer(const Comparison& comparison) {
  bool is_private = false;
  for (const VariantRuns& runs : comparison.runs)
    for (const RunCell& cell : runs.cells) is_private = is_private || (cell.run && cell.run->use && !cell.run->use->has_shared_pages);
  return fmt::format(
      "Seeds {}{}. Orders: ≈ means that Welch's t test sees no difference at {:.0f} %. Validation is the final test where the\n"
      "job has one. Elapsed time runs from the first step to the end of the last epoch, with validation, checkpoints and switches.\n"
      "CPU, memory and network are of this machine only: CPU is the share of all its cores, from start to exit; memory is the sum of {}\n"
      "over all processes of the training, every two seconds; network is what the whole machine moved, loopback traffic counted once.\n",
      fmt::join(comparison.experiment.seeds, ", "), comparison.experiment.seeds.size() > 1 ? ": mean ± standard deviation" : "",
      100 * kComparisonConfidence, is_private ? "private memory" : "PSS");
}

}  // namespace

std::string to_text(const Comparison& comparison, TableStyle style) {
  const std::string_view mark = style == TableStyle::markdown ? "### " : "";
  std::string text = fmt::format("{}{}\n\n{}\n", mark, comparison.experiment.title, table_text(comparison.runs, style));
  for (const Question& question : kQuestions) text += question_text(comparison, question);
  for (const Mix& mix : mixes(comparison.runs)) text += mix_text(comparison, mix);
  return text + failures_text(comparison) + "\n" + footer(comparison);
}

std::string to_curves(const Comparison& comparison) {
  std::string text = "variant,seed,epoch,training_loss,training_accuracy,validation_loss,validation_accuracy,seconds\n";
  const auto number = [](double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; };
  for (const VariantRuns& runs : comparison.runs) {
    std::string label = runs.variant.label;
    std::replace(label.begin(), label.end(), '"', '\'');
    for (const RunCell& cell : runs.cells) {
      if (!cell.run) continue;
      for (const EpochSummary& e : cell.run->summary.epochs)
        text += fmt::format("\"{}\",{},{},{},{},{},{},{}\n", label, cell.seed, e.epoch, number(e.training_loss),
                            number(e.training_accuracy), number(e.loss), number(e.accuracy), number(e.seconds));
    }
  }
  return text;
}

}  // namespace trireme::experiment
