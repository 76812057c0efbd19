// SPDX-License-Identifier: Apache-2.0
#include "driver/search/space/GaussianProcess.h"

#include <algorithm>
#include <cmath>

namespace kopt {
namespace {

constexpr double kUsualNoise = 0.01, kLeastNoise = 1e-4;

double square(double x) { return x * x; }

} // namespace

double GaussianProcess::likeness(const double *one, const double *other) const {
  double sum = 0;
  for (std::size_t i = 0; i < width_; ++i)
    sum += square((one[i] - other[i]) * scales_[i]);
  const double r = std::sqrt(5 * sum);
  return (1 + r + r * r / 3) * std::exp(-r);
}

void GaussianProcess::factorise() {
  factor_.resize(count_ * count_);
  for (std::size_t i = 0; i < count_; ++i)
    for (std::size_t j = i; j < count_; ++j)
      factor(i)[j] = likeness(&rows_[i * width_], &rows_[j * width_]) + (i == j ? noise_ : 0);
  // Row after row, so that the innermost loop runs along rows.
  for (std::size_t k = 0; k < count_; ++k) {
    double *const row = factor(k);
    const double diagonal = std::sqrt(std::max(row[k], kLeastNoise / 10));
    for (std::size_t j = k; j < count_; ++j)
      row[j] /= diagonal;
    row[k] = diagonal;
    for (std::size_t i = k + 1; i < count_; ++i) {
      double *const below = factor(i);
      const double scale = row[i];
      for (std::size_t j = i; j < count_; ++j)
        below[j] -= scale * row[j];
    }
  }
}

double GaussianProcess::unlikeliness() {
  factorise();
  weights_ = targets_;
  double determinant = 0, fit = 0;
  for (std::size_t k = 0; k < count_; ++k) {
    const double *const row = factor(k);
    weights_[k] /= row[k];
    for (std::size_t j = k + 1; j < count_; ++j)
      weights_[j] -= row[j] * weights_[k];
    determinant += std::log(row[k]);
    fit += square(weights_[k]);
  }
  for (std::size_t k = count_; k-- > 0;) {
    const double *const row = factor(k);
    for (std::size_t j = k + 1; j < count_; ++j)
      weights_[k] -= row[j] * weights_[j];
    weights_[k] /= row[k];
  }
  // The variance that makes the targets most likely. Scales are log-normal around 1, the noise is
  // around kUsualNoise: what few points say is not believed at once.
  variance_ = std::max(fit / double(count_), 1e-12);
  double prior = square(std::log(noise_ / kUsualNoise)) / 8;
  for (const double scale : scales_)
    prior += square(std::log(scale)) / 2;
  return double(count_) / 2 * std::log(variance_) + determinant + prior;
}

void GaussianProcess::fit(std::vector<double> rows, const std::vector<double> &targets, int steps,
                          std::mt19937_64 &random) {
  rows_ = std::move(rows);
  targets_ = targets;
  count_ = targets.size();
  mean_ = unit_ = 0;
  for (const double target : targets)
    mean_ += target / double(count_);
  for (const double target : targets)
    unit_ += square(target - mean_) / double(count_);
  unit_ = std::sqrt(unit_) + 1e-9;
  for (double &target : targets_)
    target = (target - mean_) / unit_;

  std::normal_distribution<double> normal;
  double best = unlikeliness();
  for (int step = 0; step < steps; ++step) {
    const std::vector<double> scales = scales_;
    const double noise = noise_;
    if (normal(random) < 0)
      for (double &scale : scales_)
        scale *= std::exp(0.3 * normal(random));
    else if (const auto one = std::uniform_int_distribution<std::size_t>(0, width_)(random);
             one < width_)
      scales_[one] *= std::exp(0.7 * normal(random));
    else
      noise_ = std::clamp(noise_ * std::exp(0.8 * normal(random)), kLeastNoise, 1.0);
    if (const double now = unlikeliness(); now < best) {
      best = now;
    } else {
      scales_ = scales;
      noise_ = noise;
    }
  }
  unlikeliness();
}

void GaussianProcess::suppose(const std::vector<double> &rows) {
  std::vector<double> expected; // of all, as none changes what is expected of another
  for (std::size_t at = 0; at < rows.size(); at += width_)
    expected.push_back((predict(std::span(rows).subspan(at, width_)).mean - mean_) / unit_);
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  targets_.insert(targets_.end(), expected.begin(), expected.end());
  count_ = targets_.size();
  unlikeliness();
}

GaussianProcess::Prediction GaussianProcess::predict(std::span<const double> row) const {
  std::vector<double> alike(count_);
  double mean = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    alike[i] = likeness(row.data(), &rows_[i * width_]);
    mean += alike[i] * weights_[i];
  }
  double known = 0;
  for (std::size_t k = 0; k < count_; ++k) {
    const double *const upper = factor(k);
    const double solved = alike[k] / upper[k];
    known += square(solved);
    for (std::size_t j = k + 1; j < count_; ++j)
      alike[j] -= upper[j] * solved;
  }
  return {mean_ + unit_ * mean, unit_ * std::sqrt(std::max(1 + noise_ - known, 1e-9) * variance_)};
}

} // namespace kopt
