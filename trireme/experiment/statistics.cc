// SPDX-License-Identifier: Apache-2.0
// Means, Student's distribution, and Welch's test.
#include "trireme/experiment/statistics.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace trireme::experiment {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The continued fraction of the incomplete beta function, after Lentz.
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-14) break;
  }
  return fraction;
}

// lgamma writes a global; these arguments are positive, so its sign is not needed.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_probability(double t, double freedom) {
  const double tail = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
  return t > 0 ? 1 - tail : tail;
}

}  // namespace

double Sample::mean() const {
  return values.empty() ? kNone : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Sample::sd() const {
  if (values.size() < 2) return kNone;
  const double middle = mean();
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double student_quantile(double probability, double freedom) {
  if (probability < 0.5) return -student_quantile(1 - probability, freedom);
  double low = 0;
  double high = 1;
  while (student_probability(high, freedom) < probability && high < 1e12) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (student_probability(middle, freedom) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

Order welch_order(const Sample& a, const Sample& b, double confidence) {
  if (a.size() < 2 || b.size() < 2) return Order::unclear;
  const double difference = a.mean() - b.mean();
  const double of_a = a.sd() * a.sd() / a.size();
  const double of_b = b.sd() * b.sd() / b.size();
  const double variance = of_a + of_b;
  if (!std::isfinite(difference) || difference == 0) return Order::unclear;
  if (variance > 0) {
    const double freedom = variance * variance / (of_a * of_a / (a.size() - 1) + of_b * of_b / (b.size() - 1));
    if (std::abs(difference) / std::sqrt(variance) <= student_quantile((1 + confidence) / 2, freedom)) return Order::unclear;
  }
  return difference < 0 ? Order::less : Order::greater;
}

Bounds mean_bounds(const Sample& sample, double confidence) {
  constexpr double far = std::numeric_limits<double>::infinity();
  if (sample.size() < 2) return {-far, far};
  const double reach = student_quantile(confidence, sample.size() - 1) * sample.sd() / std::sqrt(sample.size());
  return {sample.mean() - reach, sample.mean() + reach};
}

}  // namespace trireme::experiment
