// SPDX-License-Identifier: Apache-2.0
// From values to places on a chart.
#pragma once

#include <string>
#include <vector>

namespace kopt::html {

class Scale {
public:
  /// Round ends around [low, high], about `ticks` marks between them.
  static Scale linear(double low, double high, double from, double to, int ticks = 5);
  /// Marks at powers of ten, and between them where there are few. Both ends above zero.
  static Scale logarithmic(double low, double high, double from, double to);
  /// For ratios: linear, or logarithmic where the range is wide.
  static Scale ofRatios(double low, double high, double from, double to, int ticks = 5);

  /// Where the value lies; values beyond the ends lie at the ends.
  double at(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  double from() const { return from_; }
  double to() const { return to_; }
  const std::vector<double> &ticks() const { return ticks_; }
  bool isLogarithmic() const { return logarithmic_; }

private:
  double low_ = 0, high_ = 1, from_ = 0, to_ = 1;
  bool logarithmic_ = false;
  std::vector<double> ticks_;
};

/// "1.5", "20k", "4.4T": short, for the marks of an axis.
std::string tickLabel(double value);

} // namespace kopt::html
