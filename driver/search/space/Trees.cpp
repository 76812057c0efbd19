// SPDX-License-Identifier: Apache-2.0
#include "driver/search/space/Trees.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kopt {

constexpr int kTrees = 40;

Trees::Trees(std::span<const float> rows, std::size_t width, std::span<const double> targets,
             std::mt19937_64 &random) {
  std::vector<std::uint32_t> samples(targets.size());
  for (int tree = 0; tree < kTrees; ++tree) {
    std::iota(samples.begin(), samples.end(), 0);
    roots_.push_back(grow(rows, width, targets, samples, random));
  }
}

std::uint32_t Trees::grow(std::span<const float> rows, std::size_t width,
                          std::span<const double> targets, std::span<std::uint32_t> samples,
                          std::mt19937_64 &random) {
  const auto index = std::uint32_t(nodes_.size());
  nodes_.emplace_back();
  double sum = 0, squares = 0;
  for (const std::uint32_t sample : samples) {
    sum += targets[sample];
    squares += targets[sample] * targets[sample];
  }
  const double count = double(samples.size()), mean = sum / count,
               variance = std::max(0.0, squares / count - mean * mean);
  int feature = -1;
  float limit = 0;
  double least = variance * count;
  if (samples.size() > 1 && variance > 1e-12)
    for (std::size_t f = 0; f < width; ++f) {
      float low = rows[samples[0] * width + f], high = low;
      for (const std::uint32_t sample : samples) {
        low = std::min(low, rows[sample * width + f]);
        high = std::max(high, rows[sample * width + f]);
      }
      if (!(low < high))
        continue;
      float cut = std::uniform_real_distribution<float>(low, high)(random);
      if (cut <= low)
        cut = high;
      double less = 0, sumLess = 0;
      for (const std::uint32_t sample : samples)
        if (rows[sample * width + f] < cut) {
          less += 1;
          sumLess += targets[sample];
        }
      const double more = count - less, sumMore = sum - sumLess;
      const double spread = squares - sumLess * sumLess / less - sumMore * sumMore / more;
      if (feature < 0 || spread < least) {
        feature = int(f);
        limit = cut;
        least = spread;
      }
    }
  if (feature < 0) {
    nodes_[index].mean = mean;
    nodes_[index].variance = variance;
    return index;
  }
  const auto middle = std::partition(samples.begin(), samples.end(), [&](std::uint32_t sample) {
    return rows[sample * width + std::size_t(feature)] < limit;
  });
  const std::size_t less = std::size_t(middle - samples.begin());
  const std::uint32_t first = grow(rows, width, targets, samples.first(less), random);
  const std::uint32_t second = grow(rows, width, targets, samples.subspan(less), random);
  nodes_[index].feature = feature;
  nodes_[index].limit = limit;
  nodes_[index].less = first;
  nodes_[index].more = second;
  return index;
}

Trees::Prediction Trees::predict(const float *row) const {
  double sum = 0, squares = 0;
  for (std::uint32_t node : roots_) {
    while (nodes_[node].feature >= 0)
      node = row[nodes_[node].feature] < nodes_[node].limit ? nodes_[node].less : nodes_[node].more;
    sum += nodes_[node].mean;
    squares += nodes_[node].mean * nodes_[node].mean + nodes_[node].variance;
  }
  const double trees = double(roots_.size()), mean = sum / trees;
  return {mean, std::sqrt(std::max(0.0, squares / trees - mean * mean))};
}

} // namespace kopt
