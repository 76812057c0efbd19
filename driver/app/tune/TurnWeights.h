// SPDX-License-Identifier: Apache-2.0
// What the kernels of a session can still gain, by which its time is divided.
#pragma once

#include <optional>
#include <vector>

namespace kopt {

class TurnWeights {
public:
  /// Of the program's kernel time, of each kernel in the order of the turns; nothing: not known.
  explicit TurnWeights(const std::vector<std::optional<double>> &shares);

  /// Diagnosis::headroom of a kernel. 0 is not known, and changes nothing.
  void learn(std::size_t kernel, double headroom);
  bool isKnown(std::size_t kernel) const { return headrooms_.at(kernel) > 0; }
  /// The share of the time that a kernel could be freed of: share * (1 - 1 / headroom).
  double of(std::size_t kernel) const;
  double from(std::size_t kernel) const; ///< of this kernel and all that follow

private:
  std::vector<double> shares_, headrooms_;
};

} // namespace kopt
