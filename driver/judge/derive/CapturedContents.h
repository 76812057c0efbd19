// SPDX-License-Identifier: Apache-2.0
// Summarizes captured contents, to make contents of the same kind to try a kernel on.
#pragma once

#include "driver/model/Workload.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// Describes the numbers of a captured buffer.
struct ContentsSummary {
  std::uint64_t count = 0;
  double low = 0, high = 0;   ///< range of the finite numbers, without a few distant outliers
  bool isConstant = false;    ///< all finite numbers equal `low`
  bool isWhole = false;       ///< floating-point numbers without fractions
  bool isSorted = false;      ///< none is less than the one before it
  bool isPermutation = false; ///< integers: each of 0 to count - 1 once
};

/// Collects a summary of elements of one scalar type ("f32"), piece by piece.
class ContentsReader {
public:
  /// `total`: how many elements will be added; `isComplete`: they are all of the buffer's elements,
  /// in order.
  ContentsReader(std::string scalar, std::uint64_t total, bool isComplete);
  /// Adds the next elements; an incomplete last one is ignored.
  void add(std::string_view bytes);
  ContentsSummary summary() const;

private:
  void add(double value);

  std::string scalar_;
  std::uint64_t total_, every_;
  std::uint64_t count_ = 0, finite_ = 0;
  double least_ = 0, most_ = 0, last_ = 0;
  bool isWhole_ = true, isSorted_ = true;
  std::vector<double> sample_;
  std::vector<bool> seen_; ///< integers seen, from 0 on; empty: not a permutation
};

/// A fill with numbers of the same kind and range as the captured contents of a buffer: constant
/// ones, integers that are permuted or sorted, floating-point numbers without fractions, or others
/// between the smallest and the largest. `range`, if it is not null, has other bounds. Reads all of
/// them, or a quarter of a GiB in pieces spread over the buffer. The text says why nothing is
/// known: the element type is unknown, the buffer holds addresses of buffers of `launch`, or the
/// file cannot be read.
tl::expected<Fill, std::string> likeContents(const Launch &launch, std::size_t buffer,
                                             const Fill *range = nullptr);

} // namespace kopt
