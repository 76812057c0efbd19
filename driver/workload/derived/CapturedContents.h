// SPDX-License-Identifier: Apache-2.0
// What captured contents are like, and contents of the same kind to try a kernel on.
#pragma once

#include "driver/workload/WorkloadBuilder.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kopt {

/// Of the numbers of a captured buffer.
struct ContentsSummary {
  std::uint64_t count = 0;
  double low = 0, high = 0;   ///< of the finite ones, without a few far outliers
  double zeros = 0;           ///< share of them that are 0
  bool isConstant = false;    ///< all of them are `low`
  bool isWhole = false;       ///< floating-point numbers without fractions
  bool isSorted = false;      ///< none is less than the one before it
  bool isPermutation = false; ///< integers: each of 0 to count - 1 once
  bool isAllZero() const { return isConstant && low == 0; }
};

/// Collects a summary of elements of one scalar type ("f32"), piece by piece.
class ContentsReader {
public:
  /// `total`: elements that will come; `isWhole`: all of the buffer's, in order.
  ContentsReader(std::string scalar, std::uint64_t total, bool isComplete);
  /// Elements that follow those before; of a buffer's end less than one is ignored.
  void add(std::string_view bytes);
  ContentsSummary summary() const;

private:
  std::string scalar_;
  std::uint64_t width_, total_, every_;
  std::uint64_t count_ = 0, zeros_ = 0, finite_ = 0;
  double least_ = 0, most_ = 0, last_ = 0;
  bool isWhole_ = true, isSorted_ = true;
  std::vector<double> sample_;
  std::vector<bool> seen_; ///< integers from 0 on; empty: it is no permutation
};

/// Reads what was captured: all of it, or a quarter of a GiB in pieces all over it. Elements that
/// are addresses within `launch` are none to be drawn. The text says why nothing is known: it is of
/// no known type, it holds addresses, it cannot be read.
tl::expected<ContentsSummary, std::string> summarize(const Launch &launch, std::size_t buffer);

/// Numbers of the same kind and range: integers as permuted or sorted as they were, floating-point
/// numbers anywhere between the least and the largest. Nothing for what is constant.
std::optional<Fill> drawnLike(const Buffer &buffer, const ContentsSummary &summary);

/// Floating-point numbers in place of ones that were all the same, so that what is multiplied by 1
/// or added to 0 counts. `typical`: the magnitude of the launch's other numbers, which 0 is
/// replaced with; 0: 1. Nothing for others.
std::optional<Fill> drawnForConstant(const Buffer &buffer, const ContentsSummary &summary,
                                     double typical);

} // namespace kopt
