// SPDX-License-Identifier: Apache-2.0
// A regression model for few points: extremely randomised trees (Geurts, Ernst, Wehenkel,
// "Extremely randomized trees", Machine Learning 63, 2006).
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace kopt {

class Trees {
public:
  struct Prediction {
    double mean = 0, deviation = 0;
  };

  /// `rows` has one row of `width` features for each target.
  Trees(std::span<const float> rows, std::size_t width, std::span<const double> targets,
        std::mt19937_64 &random);

  Prediction predict(const float *row) const;

private:
  struct Node {
    int feature = -1; ///< -1: a leaf
    float limit = 0;  ///< the first branch has less
    std::uint32_t less = 0, more = 0;
    double mean = 0, variance = 0; ///< of a leaf
  };
  std::uint32_t grow(std::span<const float> rows, std::size_t width,
                     std::span<const double> targets, std::span<std::uint32_t> samples,
                     std::mt19937_64 &random);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> roots_;
};

} // namespace kopt
