// SPDX-License-Identifier: Apache-2.0
// Maps values to positions on a chart.
#pragma once

#include <string>
#include <vector>

namespace kopt::html {

class Scale {
public:
  /// A linear scale with round ends around [low, high] and about `ticks` marks.
  static Scale linear(double low, double high, double from, double to, int ticks = 5);
  /// A logarithmic scale with marks at powers of ten, and between them if there are few. Both ends
  /// must be above zero.
  static Scale logarithmic(double low, double high, double from, double to);
  /// A scale for ratios: linear, or logarithmic if the range is wide.
  static Scale ofRatios(double low, double high, double from, double to, int ticks = 5);

  /// The position of a value; values beyond an end are placed at the end.
  double at(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  const std::vector<double> &ticks() const { return ticks_; }

private:
  double low_ = 0, high_ = 1, from_ = 0, to_ = 1;
  bool logarithmic_ = false;
  std::vector<double> ticks_;
};

/// "1.5", "20k", "4.4T": a short form for the marks of an axis.
std::string tickLabel(double value);

} // namespace kopt::html
