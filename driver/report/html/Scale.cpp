// SPDX-License-Identifier: Apache-2.0
#include "driver/report/html/Scale.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace kopt::html {
namespace {

/// Rounds up to 1, 2 or 5 times a power of ten.
double roundStep(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (step <= factor * power * 1.0001)
      return factor * power;
  return 10 * power;
}

} // namespace

Scale Scale::linear(double low, double high, double from, double to, int ticks) {
  Scale scale;
  if (!(high > low))
    high = low + (low == 0 ? 1 : std::abs(low) * 0.1);
  const double step = roundStep((high - low) / ticks);
  scale.low_ = std::floor(low / step + 1e-9) * step;
  scale.high_ = std::ceil(high / step - 1e-9) * step;
  scale.from_ = from;
  scale.to_ = to;
  const int count = int(std::lround((scale.high_ - scale.low_) / step));
  for (int i = 0; i <= count; ++i)
    scale.ticks_.push_back(scale.low_ + i * step);
  return scale;
}

Scale Scale::logarithmic(double low, double high, double from, double to) {
  Scale scale;
  scale.logarithmic_ = true;
  scale.low_ = low;
  scale.high_ = std::max(high, low * 1.01);
  scale.from_ = from;
  scale.to_ = to;
  const double decades = std::log10(scale.high_ / scale.low_);
  const std::initializer_list<double> all = {1, 2, 5}, tens = {1};
  const int every = decades > 8 ? 2 : 1;
  for (int power = int(std::floor(std::log10(low))); power <= int(std::ceil(std::log10(high)));
       power += every)
    for (const double factor : decades < 2.5 ? all : tens)
      if (const double tick = factor * std::pow(10, power);
          tick >= scale.low_ * 0.999 && tick <= scale.high_ * 1.001)
        scale.ticks_.push_back(tick);
  return scale;
}

Scale Scale::ofRatios(double low, double high, double from, double to, int ticks) {
  constexpr double kWide = 8;
  if (low > 0 && high / low > kWide)
    return logarithmic(low / 1.1, high * 1.1, from, to);
  return linear(low, high, from, to, ticks);
}

double Scale::at(double value) const {
  if (std::isnan(value))
    return from_;
  const double inside = std::clamp(value, low_, high_);
  const double share = logarithmic_ ? std::log(inside / low_) / std::log(high_ / low_)
                                    : (inside - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

std::string tickLabel(double value) {
  static constexpr std::pair<double, const char *> kSuffixes[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto &[unit, suffix] : kSuffixes)
    if (std::abs(value) >= unit * 0.9999)
      return fmt::format("{:.3g}{}", value / unit, suffix);
  return fmt::format("{:.3g}", std::abs(value) < 1e-12 ? 0 : value);
}

} // namespace kopt::html
