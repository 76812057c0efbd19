// SPDX-License-Identifier: Apache-2.0
// A regression model for few points: a Gaussian process with a Matern 5/2 kernel that has a scale
// for each feature (Rasmussen and Williams, "Gaussian Processes for Machine Learning", MIT Press
// 2006, equations 2.25, 2.26 and 4.17).
#pragma once

#include <random>
#include <span>
#include <vector>

namespace kopt {

class GaussianProcess {
public:
  struct Prediction {
    double mean = 0, deviation = 0;
  };

  /// Features are numbers from 0 to 1.
  explicit GaussianProcess(std::size_t width) : width_(width), scales_(width, 1.0) {}

  /// Learns one target for each of the `rows`, of which there are two or more, each `width` long.
  /// The scales and the noise begin as they are, and take so many random steps towards a greater
  /// likelihood; that takes steps * n^3 / 3 multiplications for n rows.
  void fit(std::vector<double> rows, const std::vector<double> &targets, int steps,
           std::mt19937_64 &random);
  /// Adds rows whose targets are not known yet as if they were what is predicted.
  void suppose(const std::vector<double> &rows);

  Prediction predict(std::span<const double> row) const;

private:
  /// How alike two rows are, from 0 to 1.
  double likeness(const double *one, const double *other) const;
  double *factor(std::size_t row) { return factor_.data() + row * count_; }
  const double *factor(std::size_t row) const { return factor_.data() + row * count_; }
  void factorise();
  /// The negative logarithm of the likelihood of targets and scales.
  double unlikeliness();

  std::size_t width_, count_ = 0;
  std::vector<double> rows_, targets_; ///< targets_: less their mean, by their deviation
  std::vector<double> scales_;         ///< of each feature, as 1 / length
  double noise_ = 0.01;                ///< its variance, as a share of the targets'
  std::vector<double> factor_;         ///< upper triangle U; the covariance is U^T U
  std::vector<double> weights_;        ///< of the rows: covariance^-1 * targets
  double mean_ = 0, unit_ = 1, variance_ = 1;
};

} // namespace kopt
