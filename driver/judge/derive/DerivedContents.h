// SPDX-License-Identifier: Apache-2.0
// The kinds of other contents that a launch is tried with, and how inputs are drawn for each.
#pragma once

#include "driver/judge/derive/DerivedLaunch.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// A kind of contents for all inputs of a launch. Floating-point numbers get other magnitudes and
/// integers other orders, both at the same time, as neither hides the effect of the other. If a
/// function returns nothing for a buffer, its contents stay as they are.
struct OtherContents {
  using Change = std::function<std::optional<Fill>(const Buffer &)>;

  const char *name;
  Change floating, integer;
  ContentTraits traits{};
  bool inEachMode = false;     ///< also tried in each mode of the kernel
  const char *alone = nullptr; ///< also of one buffer alone, whose name follows these words
};

std::optional<Fill> asItIs(const Buffer &buffer);
/// All integers as great as the greatest one of their buffer, except those that may be indices.
const OtherContents &greatIntegers();
/// Of inputs that are drawn from a range.
const std::vector<OtherContents> &otherContents();

/// What the inputs of a launch hold: what their fills declare, or what was captured. Keeps a
/// reference to the launch.
class Inputs {
public:
  /// The range of the user's `fill` clause takes precedence over the captured one; if it gives
  /// none, captured contents stay as they are.
  Inputs(const DerivationSource &source, const Launch &launch);

  /// The most telling first. Captured integers keep their range, as they may be indices (characters
  /// do not).
  const std::vector<OtherContents> &kinds() const { return kinds_; }
  /// Why captured contents are unknown, and stay.
  const std::vector<std::string> &unknown() const { return unknown_; }

  /// `launch`, the same or one with other numbers, with other contents of its inputs, or of only
  /// one of its buffers. Nothing if they stay.
  std::optional<Launch> with(Launch launch, const OtherContents &wanted,
                             std::optional<std::size_t> only = std::nullopt) const;

private:
  std::optional<Fill> like(const DerivationSource &source, std::size_t buffer);

  const Launch &launch_;
  std::vector<std::optional<Fill>> like_; ///< by buffer; nothing: its contents stay
  std::vector<std::string> unknown_;
  std::vector<OtherContents> kinds_;
};

} // namespace kopt
